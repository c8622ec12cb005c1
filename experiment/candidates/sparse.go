package candidates

import (
	"context"
	"math"
	"slices"

	"dsbo"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/models"
	"dsbo/network"
	"dsbo/train"
)

// A SparseProblem is a linear model, or one of each part of the examples, with the penalty of a
// lasso or an elastic net in place of the lower problem's,
//
//	min_u  mean_e w_e L(o_e, t_e) + λ Σ_j (α |u_j| + (1 − α)/2 u_j²)
//
// where u_j = s_j w_j is the weight of feature j in deviations s_j of the feature, over the
// training examples of the part. Intercepts have no penalty; a feature without a deviation has no
// weight. Of a squared loss the squares count 1/d_t as much, with the deviation d_t of the targets:
// λ is in the unit of these. Two classes have one weight for each feature, of the second class
// against the first; more have one each. So λ and α are glmnet's lambda and alpha, with its
// standardize and, of several classes, its ungrouped.
type SparseProblem struct {
	linalg.L1
	ctx              context.Context    // of the solutions
	agents           *network.Group     // of the problem
	oracles          []dsbo.ValueOracle // of its agents
	of               models.Folds       // one of them has a Count of 1
	x, fixed         []float64          // log-penalties of no account; the curvature that is no loss's
	scales           []float64          // s of each part
	entries          []entry            // of u
	width            int                // entries of a part
	squares          []float64          // of each part, by what the squares of weights count more
	strength, ratio  float64            // λ and α
	largest          float64            // λ from which on all weights are 0 with α = 1
	y, product, part []float64          // scratch of length q
}

// allOf is the draw of all examples of an agent.
var allOf = dsbo.Sample{Set: dsbo.Whole}

// noPenalty is a log-penalty that is none.
const noPenalty = -1000

// NewSparse returns the problem of a model, whose training examples shards have. It starts
// with u = 0 and the best intercepts, found from y on.
func NewSparse(ctx context.Context, p train.Problem, shards []data.Shard, of models.Folds,
	y []float64) (s *SparseProblem, u []float64, err error) {
	p.Of = ", lasso" + p.Of
	solver := newSolver(p)
	if err := solver.Prepare(); err != nil {
		return nil, nil, err
	}
	length, q, err := p.Dims()
	if err != nil {
		return nil, nil, err
	}
	s = &SparseProblem{ctx: ctx, agents: solver.Agents, oracles: solver.Oracles, of: of, x: make([]float64, length),
		fixed: make([]float64, q), y: make([]float64, q), product: make([]float64, q), part: make([]float64, q)}
	s.Blocks, s.Gradient, s.Product = of.Count, s.gradientAt, s.productAt
	linalg.Fill(s.x, noPenalty)
	if of.Count > 1 {
		of.Penalty(s.fixed, s.x)
	} else {
		of.Of.Penalty(s.fixed, s.x)
	}
	if err := s.findScales(shards); err != nil {
		return nil, nil, err
	}
	s.findEntries()
	u = make([]float64, len(s.entries))
	if y == nil {
		y = make([]float64, q)
		of.Start(y)
	}
	s.collapse(u, y)
	s.Thresholds = make([]float64, len(u))
	s.set(math.Inf(1), 1)
	for j, t := range s.Thresholds {
		if t != 0 {
			u[j] = 0
		}
	}
	g, _, err := s.Solve(u, closest)
	for j, v := range g {
		if s.entries[j].weighs() {
			s.largest = max(s.largest, math.Abs(v))
		}
	}
	return s, u, err
}

// leastStrength is a λ beside which no gradient is more than round-off.
const leastStrength = 1e-12

// closest is the tolerance of solutions that are kept, beside the largest gradient without weights;
// models at other strengths have nearby.
const (
	closest = 1e-11
	nearby  = 1e-7
)

// set sets λ and α.
func (s *SparseProblem) set(strength, ratio float64) {
	s.strength, s.ratio = strength, ratio
	for j, e := range s.entries {
		switch {
		case e.weighs():
			s.Thresholds[j] = strength * ratio
		case e.feature >= 0 || s.of.Joint(): // outputs of a joint loss have no level
			s.Thresholds[j] = math.Inf(1)
		default:
			s.Thresholds[j] = 0
		}
	}
}

// findScales finds the deviations of the features, by one sum over all agents.
func (s *SparseProblem) findScales(shards []data.Shard) error {
	d := s.of.Of.Features
	n := s.of.Count * d
	_, squared := s.of.Of.Loss.(models.Squared)
	sums := make([]float64, ScaleNumbers(s.of.Count, d)) // of features, squares; of weights, targets, squares
	err := s.agents.MeanNumbers(s.ctx, "means and squares of features", sums, func(i int, part []float64) error {
		clear(part)
		e := shards[i].Train
		var places []int32
		var values []float64
		for row := range e.Len() {
			places, values = e.X.Nonzero(places[:0], values[:0], row)
			for k := range s.of.Count {
				w := 1 / float64(e.Len())
				if e.Weight != nil {
					w *= e.Weight.At(row, k)
				}
				part[2*n+k] += w
				if squared {
					target := e.Target.At(row, 0)
					part[2*n+s.Blocks+k] += float64(w * target)
					part[2*n+2*s.Blocks+k] += float64(float64(w*target) * target)
				}
				for at, j := range places {
					v := float64(w * values[at])
					part[k*d+int(j)] += v
					part[n+k*d+int(j)] += float64(v * values[at])
				}
			}
		}
		return nil
	})
	s.scales, s.squares = make([]float64, n), slices.Repeat([]float64{1}, s.Blocks)
	for k := range s.squares {
		all, of := sums[2*n+k], sums[2*n+s.Blocks:]
		mean := of[k] / all
		if v := of[s.Blocks+k]/all - float64(mean*mean); squared && v > 0 {
			s.squares[k] = 1 / math.Sqrt(v)
		}
	}
	for j := range s.scales {
		all := sums[2*n+j/d]
		mean, square := sums[j]/all, sums[n+j]/all
		if v := square - float64(mean*mean); v > constantShare*square {
			s.scales[j] = math.Sqrt(v)
		}
	}
	return err
}

// ScaleNumbers is the length of the sum by which the deviations of features are found, of parts.
func ScaleNumbers(parts, features int) int { return parts * (2*features + 3) }

// constantShare is the share of a mean square that a variance is at least, of a feature that is not
// constant: numbers of single precision differ by less.
const constantShare = 1e-10

// An entry is where an entry u_j is in y.
type entry struct {
	own, against int     // its place, and the place of the class which it counts against; −1: none
	feature      int     // −1 of an intercept
	unit         float64 // the weight in y of u_j = 1; 0 of a feature without a deviation
}

// weighs reports whether an entry is a weight of a feature that has a deviation.
func (e entry) weighs() bool { return e.feature >= 0 && e.unit > 0 }

// findEntries finds the entries, part by part: the weights, output by output, then the intercepts.
// Two classes share a weight.
func (s *SparseProblem) findEntries() {
	c, d, outputs := s.of.Of.Outputs, s.of.Of.Features, s.of.Of.Outputs
	pairs := isClasses(s.of.Of) && c == 2
	if pairs {
		outputs = 1
	}
	s.width = outputs * (d + 1)
	add := func(place, step, feature int, unit float64) {
		e := entry{place, -1, feature, unit}
		if pairs {
			e.own, e.against = place+step, place
		}
		s.entries = append(s.entries, e)
	}
	for k := range s.of.Count {
		for o := range outputs {
			for j := range d {
				unit := 0.0
				if scale := s.scales[k*d+j]; scale > 0 {
					unit = 1 / scale
				}
				add((k*c+o)*d+j, d, j, unit)
			}
		}
		for o := range outputs {
			add(s.of.Count*c*d+k*c+o, 1, -1, 1)
		}
	}
}

// expand writes the weights and intercepts of u to y.
func (s *SparseProblem) expand(y, u []float64) {
	for j, e := range s.entries {
		v := float64(u[j] * e.unit)
		if e.against >= 0 {
			v /= 2
			y[e.against] = -v
		}
		y[e.own] = v
	}
}

// reduce writes the derivatives by u to dst, times a factor, of derivatives by y.
func (s *SparseProblem) reduce(dst, y []float64, times float64) {
	for j, e := range s.entries {
		v := y[e.own]
		if e.against >= 0 {
			v = (v - y[e.against]) / 2
		}
		dst[j] = float64(times * v * e.unit)
	}
}

// collapse writes u to dst of which y are the weights and intercepts.
func (s *SparseProblem) collapse(dst, y []float64) {
	for j, e := range s.entries {
		v := y[e.own]
		if e.against >= 0 {
			v -= y[e.against]
		}
		if dst[j] = 0; e.unit > 0 {
			dst[j] = v / e.unit
		}
	}
}

// gradientAt is the problem's Gradient.
func (s *SparseProblem) gradientAt(dst, u []float64) error {
	s.expand(s.y, u)
	err := s.agents.MeanNumbers(s.ctx, "gradients", s.part, func(i int, part []float64) error {
		return s.oracles[i].LowerGrad(part, s.x, s.y, allOf)
	})
	s.finish(dst, u, s.y)
	return err
}

// productAt is the problem's Product.
func (s *SparseProblem) productAt(dst, u, v []float64) error {
	s.expand(s.y, u)
	s.expand(s.product, v)
	err := s.agents.MeanNumbers(s.ctx, "products with the Hessian", s.part, func(i int, part []float64) error {
		return s.oracles[i].HVP(part, s.x, s.y, s.product, allOf)
	})
	s.finish(dst, v, s.product)
	return err
}

// finish makes of an average that is linear in u, or y, the derivative by u: without the lower
// problem's own penalty, with the squares of the elastic net.
func (s *SparseProblem) finish(dst, u, y []float64) {
	for j, c := range s.fixed {
		s.part[j] -= float64(c * y[j])
	}
	s.reduce(dst, s.part, float64(s.of.Count))
	if s.ratio < 1 {
		for j, v := range u {
			if s.entries[j].weighs() {
				dst[j] += float64(s.strength * (1 - s.ratio) * s.squares[j/s.width] * v)
			}
		}
	}
}

// At moves u to the solution at λ and α, and returns its model.
func (s *SparseProblem) At(u []float64, strength, ratio, tol float64) (y []float64, err error) {
	s.set(strength, ratio)
	if _, _, err := s.Solve(u, tol*max(s.largest, leastStrength)); err != nil {
		return nil, err
	}
	y = make([]float64, len(s.y))
	s.expand(y, u)
	return y, nil
}

// Slopes returns the derivatives of the upper loss at the solution u by log λ and by α: v of the
// Hessian's H v = ∇f on the support, times how the subgradient there changes.
func (s *SparseProblem) Slopes(u []float64) (byStrength, byRatio float64, err error) {
	s.expand(s.y, u)
	dx := make([]float64, len(s.x))
	err = s.agents.MeanNumbers(s.ctx, "validation gradients", s.part, func(i int, part []float64) error {
		return s.oracles[i].UpperGrad(make([]float64, len(dx)), part, s.x, s.y, allOf)
	})
	if err != nil {
		return 0, 0, err
	}
	b := make([]float64, len(u))
	s.reduce(b, s.part, 1)
	v, err := s.SolveFree(u, b, nearby)
	for j, at := range u {
		if at != 0 && s.entries[j].weighs() {
			sign, at := math.Copysign(s.strength, at), float64(at*s.squares[j/s.width])
			byStrength -= float64(v[j] * (float64(s.ratio*sign) + float64((1-s.ratio)*s.strength*at)))
			byRatio -= float64(v[j] * (sign - float64(s.strength*at)))
		}
	}
	return byStrength, byRatio, err
}

// Count returns how many features have a weight, as a mean over the parts.
func (s *SparseProblem) Count(u []float64) float64 {
	kept := map[[2]int]bool{}
	for j, v := range u {
		if e := s.entries[j]; v != 0 && e.weighs() {
			kept[[2]int{j / s.width, e.feature}] = true
		}
	}
	return float64(len(kept)) / float64(s.of.Count)
}
