package train

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/vec"
)

// Curvature returns L_max of each agent: the largest eigenvalue of ∇²_yy g_i(x, y) on all the agent's
// examples, by power iteration on products, to about one percent (from below, as power iteration goes). x and y
// are not changed. The cost is at most 100 products an agent; agents are asked in parallel.
func (p Problem) Curvature(ctx context.Context, x, y []float64) ([]float64, error) {
	g, err := p.group()
	if err != nil {
		return nil, err
	}
	l := make([]float64, g.n)
	rows := make([][]float64, g.n)
	for i := range rows {
		rows[i] = l[i : i+1]
	}
	err = g.each(ctx, func(i int) (err error) {
		l[i], err = curvature(ctx, p.Oracles[i], x, y)
		if err != nil {
			err = fmt.Errorf("curvature of agent %d: %w", i, err)
		}
		return err
	})
	if err != nil {
		return l, err
	}
	return l, g.gather(ctx, rows)
}

func curvature(ctx context.Context, o dsbo.Oracle, x, y []float64) (float64, error) {
	v, hv := make([]float64, len(y)), make([]float64, len(y))
	// A start with a share of every direction, the same each time: the fractions of multiples of the golden ratio.
	for i := range v {
		_, f := math.Modf(float64(i+1) * math.Phi)
		v[i] = f - 0.5
	}
	vec.Scale(v, 1/vec.Norm(v), v)
	l := 0.0
	for range 100 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if err := o.HVP(hv, x, y, v, allExamples); err != nil {
			return 0, err
		}
		before := l
		l = vec.Norm(hv)
		switch {
		case math.IsNaN(l) || math.IsInf(l, 0):
			return 0, errNotFinite
		case l == 0, math.Abs(l-before) <= 1e-3*l:
			return l, nil
		}
		vec.Scale(v, 1/l, hv)
	}
	return l, nil
}

// Stable returns the largest step γ of z that is stable where no agent's curvature is above lmax, and the
// bound that the step β of y has to stay below.
func Stable(lmax float64) (gamma, beta float64) { return 0.8 / lmax, 2 / lmax }

// StepWarnings says which steps of c.Method are not stable at iteration k where the agents' largest curvatures are
// lmax, one line each; none if all are.
func StepWarnings(c Config, lmax []float64, k int) []string {
	var warnings []string
	agent, l := worst(lmax)
	gamma, beta := Stable(l)
	if b, ok := c.step("beta", k); ok && b >= beta {
		warnings = append(warnings, fmt.Sprintf("beta = %.3g, the step of y, is not below 2/L_max = %.3g (agent %d, L_max = %.3g): y may diverge", b, beta, agent, l))
	}
	if g, ok := c.step("gamma", k); ok && g > gamma {
		warnings = append(warnings, fmt.Sprintf("gamma = %.3g, the step of z, is above 0.8/L_max = %.3g (agent %d, L_max = %.3g): z may diverge", g, gamma, agent, l))
	}
	return warnings
}

// stepAdvice says which steps would be stable for a run that diverged at iteration k.
func stepAdvice(c Config, lmax []float64, k int) string {
	_, l := worst(lmax)
	gamma, beta := Stable(l)
	var right []string
	if _, ok := c.step("beta", k); ok {
		right = append(right, fmt.Sprintf("beta below %.3g", beta))
	}
	if _, ok := c.step("gamma", k); ok {
		right = append(right, fmt.Sprintf("gamma up to %.3g", gamma))
	}
	if len(right) == 0 {
		return "a smaller alpha is safer"
	}
	s := "stable with L_max = " + fmt.Sprintf("%.3g", l) + ": " + strings.Join(right, ", ")
	if len(StepWarnings(c, lmax, k)) == 0 {
		s += ", as they are: alpha, the step of x, is to be smaller"
	}
	return s
}

// step returns the step of that name which the method takes at iteration k, its default where none is given; false if the
// method has no such parameter.
func (c Config) step(name string, k int) (float64, bool) {
	c = c.WithDefaults()
	m := algo.Clone(c.Method)
	if m.Init(1, 1, c.K) != nil {
		return 0, false
	}
	text, err := json.Marshal(m)
	if err != nil {
		return 0, false
	}
	var all map[string]json.RawMessage
	var s algo.Schedule
	if json.Unmarshal(text, &all) != nil || json.Unmarshal(all[name], &s) != nil {
		return 0, false
	}
	at, err := s.For(c.K)
	if err != nil {
		return 0, false
	}
	return at(k), true
}

// worst returns the agent of the largest curvature, and that.
func worst(lmax []float64) (agent int, l float64) {
	for i, v := range lmax {
		if v > l {
			agent, l = i, v
		}
	}
	return agent, l
}
