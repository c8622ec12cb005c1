package main

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/train"
)

// quadratics are random problems whose agents differ by a share.
type quadratics struct {
	n, p, q   int     // agents, and the lengths of x and y
	low, high float64 // eigenvalues of A
	coupling  float64 // deviation of the entries of B
	differ    float64 // 0: all agents alike; 1: each drawn for itself
	noise     float64 // deviation of the rows that minibatches add to c and t
	seed      uint64  // of all draws
}

// noiseRows is the number of rows of noise of an agent.
const noiseRows = 200

// agents returns the agents' problems: M_i = (1−differ) M_0 + differ M'_i for each array M.
func (c quadratics) agents() []models.Quadratic {
	r := rand.New(rand.NewPCG(c.seed, 1))
	common := c.draw(r)
	ms := make([]models.Quadratic, c.n)
	for i := range ms {
		ms[i] = c.draw(r)
		for _, a := range [][2][]float64{{ms[i].A, common.A}, {ms[i].B, common.B}, {ms[i].C, common.C},
			{ms[i].D, common.D}, {ms[i].T, common.T}, {ms[i].E, common.E}, {ms[i].LinearTerm, common.LinearTerm}} {
			linalg.Comb(a[0], c.differ, a[0], 1-c.differ, a[1])
		}
	}
	return ms
}

func (c quadratics) draw(r *rand.Rand) models.Quadratic {
	return models.Quadratic{P: c.p, Q: c.q,
		A: spectrum(r, c.q, c.low, c.high), B: normal(r, c.q*c.p, c.coupling), C: normal(r, c.q, 1),
		D: spectrum(r, c.q, 0.5, 1), T: normal(r, c.q, 1), E: spectrum(r, c.p, 0.1, 0.2), LinearTerm: normal(r, c.p, 1)}
}

// problem gives the agents their noise, the same for all seeds of the draws.
func (c quadratics) problem(draws uint64) train.Problem {
	r := rand.New(rand.NewPCG(c.seed, 2))
	var p train.Problem
	for _, m := range c.agents() {
		addAgent(&p, m, draws, c.noise > 0, func() []float64 { return normal(r, noiseRows*c.q, c.noise) })
	}
	return p
}

// addAgent adds an agent. If it is noisy, its minibatches are one of the rows of noise of its own,
// which rows makes for training and for validation.
func addAgent(p *train.Problem, m models.Model, draws uint64, noisy bool, rows func() []float64) {
	var s data.Shard
	cfg := models.Config{Agent: len(p.Oracles), Seed: draws}
	if noisy {
		cfg.Batch = 1
		for _, e := range []*data.Examples{&s.Train, &s.Val} {
			v := rows()
			e.X = testkit.Get(ad.FloatTable(noiseRows, len(v)/noiseRows, v))
			e.Target = testkit.Get(ad.FloatTable(noiseRows, 1, make([]float64, noiseRows)))
		}
	}
	o := testkit.Get(models.NewOracle(m, s, cfg))
	p.Oracles, p.Evaluate = append(p.Oracles, o), append(p.Evaluate, o)
}

// normal draws n normal numbers.
func normal(r *rand.Rand, n int, deviation float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = deviation * r.NormFloat64()
	}
	return v
}

// spectrum draws a symmetric matrix with eigenvalues evenly from low to high, in a random basis.
func spectrum(r *rand.Rand, n int, low, high float64) []float64 {
	var qr mat.QR
	qr.Factorize(mat.NewDense(n, n, normal(r, n*n, 1)))
	var basis, m mat.Dense
	qr.QTo(&basis)
	d := mat.NewDiagDense(n, nil)
	for i := range n {
		d.SetDiag(i, low+(high-low)*float64(i)/float64(max(n-1, 1)))
	}
	m.Product(&basis, d, basis.T())
	for i := range n { // exactly symmetric
		for j := range i {
			m.Set(i, j, m.At(j, i))
		}
	}
	return m.RawMatrix().Data
}

// logistic is the paper's synthetic task with mean losses, and an upper loss that is weighed
// against a prior on x,
//
//	f_i(x, y) = weight · (mean of ψ over validation examples) + ½ prior ‖x‖²
//
// weight 1 and prior 0 are the paper's f_i, up to its sum.
type logistic struct {
	n, p, examples, batch int
	rate                  float64
	weight, prior         float64
	seed                  uint64
}

func (c logistic) problem(draws uint64) train.Problem {
	t := testkit.Get(data.Synthetic{Agents: c.n, Features: c.p, Train: c.examples, Val: c.examples, Test: 1,
		Rate: c.rate, Seed: c.seed}.Task())
	m := weighed{models.Logistic{Features: c.p, Mean: true}, c.weight, c.prior}
	return testkit.Get(train.NewProblem(t, m, models.Config{Seed: draws, Batch: c.batch}))
}

// weighed is a logistic model with the upper loss of logistic.
type weighed struct {
	models.Logistic
	weight, prior float64
}

// Upper implements models.Model.
func (m weighed) Upper(x, y *ad.Node, b models.Batch) *ad.Node {
	loss := ad.Scale(m.weight, m.Logistic.Upper(x, y, b))
	if m.prior == 0 {
		return loss
	}
	return ad.Add(loss, ad.Scale(m.prior/2, ad.Dot(x, x)))
}
