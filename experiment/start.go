package experiment

import (
	"context"
	"fmt"
	"slices"

	"dsbo"
	"dsbo/algo"
	"dsbo/experiment/candidates"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train"
)

// startsAtBest reports whether x starts at the best constant.
func (s *Settings) startsAtBest(p *problem) bool {
	return s.X0Best && !s.given["x0"] && p.penalties && p.startX == nil
}

// findStart makes x start at the constant of least Φ, and y at its solution, if -best-start asks
// for it and x is penalties without a start of its own; X0Best becomes false otherwise. The result,
// with its cost, is kept in the setup, so that a resumed run has it. It becomes Settings.X0.
func (r *run) findStart(ctx context.Context, p problem) (problem, error) {
	if r.settings.X0Best && p.guard != nil {
		return p, dsbo.ConfigErrorf(
			"-best-start and -dp-epsilon are mutually exclusive: exact solutions have no bound")
	}
	if r.settings.X0Best = r.settings.startsAtBest(&p); !r.settings.X0Best {
		return p, nil
	}
	if err := r.resumeSetup(&p); err != nil {
		return p, err
	}
	start, err := p.ofMembers(p.epoch)
	if err != nil {
		return p, err
	}
	_, q, err := start.Dims()
	if err != nil {
		return p, err
	}
	const at = runs.UsageLen // place of the constant in the found numbers, between usage and
	// solution
	found, err := p.setup.foundBy(at+1+q, func() (runs.Found, error) {
		var spent runs.Usage
		prob, calls, err := start.Counted()
		if err != nil {
			return runs.Found{}, err
		}
		// A fixed wire and matrix, so that λ does not depend on the method's.
		prob.Of, prob.Sent = ", start", &spent.Traffic
		prob.Average, prob.Matrix = network.AverageOptions{}, dsbo.Hessian
		length, _ := p.model.Dims()
		best, err := candidates.New(prob, p.meaning.Symbol, length, prob.Solver(), nil, nil).ConstantNear(ctx, 0)
		if err != nil {
			return runs.Found{}, err
		}
		p.setup.Sent.Add(spent.Traffic)
		spent.Add(runs.Total(slices.Repeat([]runs.Usage{{Calls: *calls}}, len(prob.Oracles)))) // all are asked alike
		return runs.Found{Sum: append(append(spent.Pack(), float64(best.Lambda)), best.Y...)}, nil
	})
	if err != nil {
		return p, err
	}
	r.settings.X0, p.startY, p.searched = found.Sum[at], found.Sum[at+1:], runs.UnpackUsage(found.Sum)
	r.view.Log("%s starts at %g, the constant of the least Φ, and y at its solution", p.meaning.Symbol, r.settings.X0)
	return p, nil
}

// excludingBox returns the box of c's method, [least, most] of an entry of x, where it excludes the
// best constant, at which x starts; else nil.
func (s *Settings) excludingBox(c train.Config) []float64 {
	if !s.X0Best {
		return nil
	}
	if box := c.Box(); box != nil && (s.X0 < box[0] || s.X0 > box[1]) {
		return box
	}
	return nil
}

// widenBox has the box of c's method, if it is a preset's, contain the best constant where x
// starts, and returns a note on it. A box of -set clip stays, and validateStart refuses it.
func (s *Settings) widenBox(c train.Config) (notes []string) {
	box := s.excludingBox(c)
	if box == nil || s.Set["clip"] != nil {
		return nil
	}
	wide := []float64{min(box[0], s.X0), max(box[1], s.X0)}
	algo.Set(c.Method, "clip", wide)
	return []string{fmt.Sprintf("clip is %v in place of %v, so that it contains the start", wide, box)}
}

// validateStart returns an error for settings that cannot work, such as a method whose box excludes
// the start of all methods.
func (s *Settings) validateStart(c train.Config) error {
	if box := s.excludingBox(c); box != nil {
		return dsbo.ConfigErrorf("clip must contain %g, the best constant, where x starts; it is %v", s.X0, box)
	}
	return c.Validate()
}
