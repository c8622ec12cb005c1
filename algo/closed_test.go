package algo_test

import (
	"gonum.org/v1/gonum/mat"

	"dsbo/algo/algotest"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
)

// Where the methods that are biased end, in closed form.

// penaltySolution returns x_λ, where P_x of an order vanishes at the minimizers y and z, f and g
// averaged: it is linear in x, and so its columns are its values at unit vectors.
func penaltySolution(qs []*algotest.Quadratic, lambda float64, order int) []float64 {
	q, n := qs[0].Q, 0.0 // n: 1 where z is of λg − f, 0 where it is of λg
	if order == 2 {
		n = 1
	}
	ofY, ofZ := mat.NewDense(q, q, nil), mat.NewDense(q, q, nil) // Hessians of f + λg, and of λg − nf
	for _, o := range qs {
		a, d := scaled(lambda, mat.NewDense(q, q, o.A)), mat.NewDense(q, q, o.D)
		ofY.Add(ofY, a)
		ofY.Add(ofY, d)
		ofZ.Add(ofZ, a)
		ofZ.Add(ofZ, scaled(-n, d))
	}
	return rootOf(qs, func(x []float64) []float64 {
		forY, forZ, sum := make([]float64, q), make([]float64, q), make([]float64, len(x))
		for _, o := range qs {
			for i := range q {
				ofG, ofF := lambda*(o.C[i]+dot(o.B[i*len(x):(i+1)*len(x)], x)), dot(o.D[i*q:(i+1)*q], o.T)
				forY[i] += ofG + ofF
				forZ[i] += ofG - n*ofF
			}
		}
		z, y := solved(ofZ, forZ), solved(ofY, forY)
		axpy(z, -1, y)
		for _, o := range qs {
			upperGradient(o, sum, x)
			axpy(sum, lambda/float64(order), timesB(o, z))
		}
		return sum
	})
}

// upperGradient adds ∇_x f.
func upperGradient(o *algotest.Quadratic, sum, x []float64) {
	for j := range x {
		sum[j] += dot(o.E[j*len(x):(j+1)*len(x)], x) + o.LinearTerm[j]
	}
}

// timesB returns B'v.
func timesB(o *algotest.Quadratic, v []float64) []float64 {
	sum := make([]float64, o.P)
	for i := range v {
		axpy(sum, v[i], o.B[i*o.P:(i+1)*o.P])
	}
	return sum
}

func solved(m *mat.Dense, v []float64) []float64 {
	var x mat.VecDense
	testkit.OK(x.SolveVec(m, mat.NewVecDense(len(v), v)))
	return x.RawVector().Data
}

// rootOf returns the x at which a linear function of x vanishes.
func rootOf(qs []*algotest.Quadratic, gradient func(x []float64) []float64) []float64 {
	p := qs[0].P
	at0 := gradient(make([]float64, p))
	slope := mat.NewDense(p, p, nil)
	for j := range p {
		unit := make([]float64, p)
		unit[j] = 1
		column := gradient(unit)
		axpy(column, -1, at0)
		slope.SetCol(j, column)
	}
	x := solved(slope, at0)
	linalg.Scale(x, -1, x)
	return x
}

// envelopeSolution returns the x at which Ψ of sundsbo is stationary: y − z is e∇_y g(x, z), and so
// y is the minimum of μf + g less the part of it that z takes.
func envelopeSolution(qs []*algotest.Quadratic, mu, env float64) []float64 {
	q := qs[0].Q
	m := mat.NewDense(2*q, 2*q, nil) // of D_y and D_z in y and z
	for _, o := range qs {
		for i := range q {
			for j := range q {
				a, e := o.A[i*q+j], 0.0
				if i == j {
					e = 1 / env
				}
				for at, v := range map[[2]int]float64{{i, j}: mu*o.D[i*q+j] + a - e, {i, q + j}: e,
					{q + i, j}: -e, {q + i, q + j}: a + e} {
					m.Set(at[0], at[1], m.At(at[0], at[1])+v)
				}
			}
		}
	}
	return rootOf(qs, func(x []float64) []float64 {
		right, sum := make([]float64, 2*q), make([]float64, len(x))
		for _, o := range qs {
			for i := range q {
				ofG := o.C[i] + dot(o.B[i*len(x):(i+1)*len(x)], x)
				right[i] += ofG + mu*dot(o.D[i*q:(i+1)*q], o.T)
				right[q+i] += ofG
			}
		}
		yz := solved(m, right)
		z := yz[q:]
		axpy(z, -1, yz[:q])
		for _, o := range qs {
			upperGradient(o, sum, x)
			axpy(sum, 1/mu, timesB(o, z)) // −B'y + B'z, over μ
		}
		return sum
	})
}

func scaled(a float64, m *mat.Dense) *mat.Dense {
	var s mat.Dense
	s.Scale(a, m)
	return &s
}
