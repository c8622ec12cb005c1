package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"dsbo"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs/report"
	"dsbo/train"
	"dsbo/train/exact"
)

// penaltyMethods are the methods with a penalty, with parameters of λ and the order: of steps with
// which x, y and z stay where they are.
var penaltyMethods = [][2]string{
	{"dbifo", `{"lam":%g,"order":%d,"alpha":1e-99,"beta":1e-99,"gamma":1e-99}`},
	{"fab", `{"lam":%g,"order":%d,"alpha":1e-99,"beta":1e-99,"gamma":1e-99}`},
	{"c2dfb", `{"lam":%g,"order":%d,"alpha":1e-99,"beta":1e-99,"gamma":%[1]ge-99,"T":1}`},
	{"f2sa", `{"lam0":%g,"order":%d,"alpha":1e-99,"beta":1e-99,"gamma":%[1]ge-99,"T":1}`},
}

// A biasProblem is a problem at an x, where y*, ∇Φ and ∇²_yy g are known, the last one averaged and
// factored.
type biasProblem struct {
	name string
	train.Problem
	x      []float64
	exact  exact.Solution
	factor []float64
}

// mean returns the mean over the agents of n numbers.
func (b biasProblem) mean(n int, ask func(o dsbo.ValueOracle, dst []float64) error) []float64 {
	return meanOf(column(b.Evaluate, func(o dsbo.ValueOracle) []float64 {
		dst := make([]float64, n)
		testkit.OK(ask(o, dst))
		return dst
	}))
}

// biasProblems are quadratics, softmax with penalties of about ½‖y‖², and the paper's synthetic
// task with mean losses.
func biasProblems(l *lab) []biasProblem {
	q := quadratics{n: 8, p: 5, q: 8, low: 1, high: 3, coupling: 0.5, differ: 1, seed: l.seed}
	c := logistic{n: 8, p: pick(l, 200, 6), examples: pick(l, 500, 40), rate: 1, weight: 1, seed: l.seed}
	m := models.Softmax{Features: 12, Classes: 10}
	r := rand.New(rand.NewPCG(l.seed, 4))
	var softmax train.Problem
	for range q.n {
		shard := data.Shard{Train: drawnExamples(m, m.Features, r), Val: drawnExamples(m, m.Features, r)}
		o := testkit.Get(models.NewOracle(m, shard, models.Config{}))
		softmax.Oracles, softmax.Evaluate = append(softmax.Oracles, o), append(softmax.Evaluate, o)
	}
	x := normal(r, m.Features, 0.5)
	for i := range x {
		x[i] += math.Log(60)
	}
	return []biasProblem{{name: "quadratics", Problem: q.problem(0), x: normal(r, q.p, 0.5)},
		{name: "softmax", Problem: softmax, x: x},
		{name: "synthetic", Problem: c.problem(0), x: normal(r, c.p, 0.5)}}
}

// minimum returns argmin_y of the averaged g + νf. A step by the Hessian of g at y* leaves about
// |ν| L_f/μ_g of the error.
func (b biasProblem) minimum(nu float64) []float64 {
	y := slices.Clone(b.exact.Y)
	for range 30 {
		step := b.mean(len(y), func(o dsbo.ValueOracle, dst []float64) error {
			f := make([]float64, len(y))
			testkit.OK(o.UpperGrad(nil, f, b.x, y, allExamples))
			err := o.LowerGrad(dst, b.x, y, allExamples)
			linalg.Axpy(dst, nu, f)
			return err
		})
		linalg.Solve(len(y), b.factor, step)
		linalg.Sub(y, y, step)
	}
	return y
}

// bias returns how far from ∇Φ the mean direction is along which a method's agents move x, with y
// and z where they come to.
func (b biasProblem) bias(ctx context.Context, method [2]string, lambda float64, order int) float64 {
	y, z := b.minimum(1/lambda), b.minimum(float64(1-order)/lambda)
	us := make([][]float64, len(b.Oracles))
	onAgents(ctx, b.Oracles, ring(len(us)), func(ctx context.Context, i int, o dsbo.Oracle, m dsbo.Mixer) error {
		a := testkit.Get(algo.New(method[0]))
		testkit.OK(algo.Decode(a, fmt.Appendf(nil, method[1], lambda, order)))
		testkit.OK(a.Init(len(b.x), len(y), 1))
		copy(a.X(), b.x)
		copy(a.Y(), y)
		for _, v := range a.State() {
			if v.Name == "z" {
				copy(v.Value, z)
			}
		}
		err := a.Step(ctx, 0, o, m)
		us[i] = algo.TraitsOf(a).U
		return err
	})
	return math.Sqrt(linalg.Dist2(meanOf(us), b.exact.Gradient))
}

// order2 measures the bias of methods with a penalty over three doublings of λ.
func order2(ctx context.Context, l *lab) {
	figure := report.Figure{Title: "Bias of methods with a penalty", XLabel: "λ", XScale: report.Log,
		YLabel: "distance from the hypergradient", YScale: report.Log}
	lambdas := []float64{20, 40, 80, 160}
	rows := table{{"problem", "order", "method", "λ = 20", "40", "80", "160", "last ratio", "slope"}}
	var off [3][]float64 // by order: how far last ratios are from 2 or 4
	for _, b := range biasProblems(l) {
		solver := exact.Solver{Oracles: b.Evaluate, Tol: 1e-12, AdjointTol: 1e-12}
		b.exact = testkit.Get(solver.Solve(ctx, b.x))
		q := len(b.exact.Y)
		b.factor = b.mean(q*q, func(o dsbo.ValueOracle, dst []float64) error {
			return o.Capabilities().Hessian(dst, b.x, b.exact.Y, allExamples)
		})
		linalg.Cholesky(q, b.factor)
		for order := 1; order <= 2; order++ {
			line := report.Series{Name: fmt.Sprintf("%s, order %d", b.name, order), X: lambdas}
			for _, method := range penaltyMethods {
				line.Y = column(lambdas, func(lambda float64) float64 { return b.bias(ctx, method, lambda, order) })
				ratio := line.Y[2] / line.Y[3]
				rows.add(b.name, order, method[0], line.Y, fmt.Sprintf("%.4f", ratio), slope(lambdas, line.Y))
				off[order] = append(off[order], math.Abs(ratio-float64(2*order)))
			}
			figure.Series = append(figure.Series, line)
		}
	}
	l.table(rows)
	for order := 1; order <= 2; order++ {
		most := slices.Max(off[order])
		l.claim(most <= .1, "order %d: from λ = 80 to 160 the bias falls by a factor of %d, to %.4f", order,
			2*order, most)
	}
	if l.figures != "" {
		testkit.OK(report.Save(&figure, l.figures, "order2-bias"))
	}
}
