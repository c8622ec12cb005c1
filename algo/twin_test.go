package algo_test

import (
	"fmt"
	"slices"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/testkit"
)

// A dumb twin: Algorithms 1-3 for all agents at once, as printed, with T + 2N + 1 exchanges, each
// vector by itself, and s_N and d_N computed. The bits must be the method's.
func TestLiteralTwin(t *testing.T) {
	for _, c := range []struct{ n, T, N int }{{1, 1, 1}, {2, 1, 3}, {4, 3, 4}, {5, 2, 1}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			p := steps
			p.T, p.N, p.Alpha, p.Beta = c.T, c.N, "0.5/sqrt(k+1)", "0.2,0.1,0.15"
			w := newCrew(t, c.n, p)
			twin := newTwin(w)
			for k := range 5 {
				w.step(t, k)
				twin.step(t, k, p)
				for i, a := range w.agents {
					got := [][]float64{a.X(), a.R(), a.Y(), algo.TraitsOf(a).Z, algo.TraitsOf(a).U}
					want := [][]float64{twin.x[i], twin.r[i], twin.y[i], twin.z[i], twin.u[i]}
					if !slices.EqualFunc(got, want, slices.Equal) {
						t.Fatalf("iteration %d, agent %d: x, r, y, z, u = %v\nthe literal algorithm has %v",
							k, i, got, want)
					}
				}
			}
		})
	}
}

type twin struct {
	os            []dsbo.Oracle
	W             [][]float64
	x, r, y, z, u [][]float64
}

func newTwin(w crew) *twin {
	n := len(w.os)
	return &twin{os: w.os, W: w.W, x: matrix(n, 3), r: matrix(n, 3), y: matrix(n, 4), z: matrix(n, 4), u: matrix(n, 3)}
}

func matrix(n, m int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, m)
	}
	return rows
}

// mix is Σ_j w_ij v_j over agent i and its neighbours, in order, each product rounded.
func mix(W, v [][]float64) [][]float64 {
	out := matrix(len(v), len(v[0]))
	for i := range v {
		for j, w := range W[i] {
			if w != 0 {
				for e := range out[i] {
					out[i][e] += float64(w * v[j][e])
				}
			}
		}
	}
	return out
}

// each asks all agents and stacks the answers.
func (tw *twin) each(m int, ask func(i int, o dsbo.Oracle, dst []float64)) [][]float64 {
	out := matrix(len(tw.os), m)
	for i, o := range tw.os {
		ask(i, o, out[i])
	}
	return out
}

// linear is a + c·b, the product rounded.
func linear(a [][]float64, c float64, b [][]float64) [][]float64 {
	out := matrix(len(a), len(a[0]))
	for i := range a {
		for e := range a[i] {
			out[i][e] = a[i][e] + float64(c*b[i][e])
		}
	}
	return out
}

func (tw *twin) step(t *testing.T, k int, c algo.MADSBO) {
	alpha, beta, gamma := number(t, c.Alpha, k), number(t, c.Beta, k), number(t, c.Gamma, k)
	at := func(set dsbo.Set, t int) dsbo.Sample { return dsbo.Sample{Set: set, K: k, T: t} }
	// lines 3-6: from where the last iteration left y, at the old x, each step with a draw of
	// its own
	for t := range c.T {
		v := tw.each(4, func(i int, o dsbo.Oracle, dst []float64) {
			o.LowerGrad(dst, tw.x[i], tw.y[i], at(dsbo.Lower, t))
		})
		tw.y = linear(mix(tw.W, tw.y), -beta, v)
	}
	b := func(t int) [][]float64 {
		return tw.each(4, func(i int, o dsbo.Oracle, dst []float64) {
			o.UpperGrad(nil, dst, tw.x[i], tw.y[i], at(dsbo.Upper, t))
		})
	}
	zero := matrix(len(tw.os), 4)
	// Algorithm 1: z starts at 0 and d at −b_0
	z, s := zero, linear(zero, -1, b(0))
	d := s
	for t := range c.N {
		z = linear(mix(tw.W, z), -gamma, d)
		hz := tw.each(4, func(i int, o dsbo.Oracle, dst []float64) {
			o.HVP(dst, tw.x[i], tw.y[i], z[i], at(dsbo.Curvature, t+1))
		})
		s1 := linear(hz, -1, b(t+1))
		d = linear(linear(mix(tw.W, d), 1, s1), -1, s)
		s = s1
	}
	tw.z = z
	// Algorithm 2, lines 6 and 7: ∇_x f with φ_0, the Jacobian with ξ_0
	fx := tw.each(3, func(i int, o dsbo.Oracle, dst []float64) {
		o.UpperGrad(dst, nil, tw.x[i], tw.y[i], at(dsbo.Upper, 0))
	})
	jz := tw.each(3, func(i int, o dsbo.Oracle, dst []float64) {
		o.JVP(dst, tw.x[i], tw.y[i], z[i], at(dsbo.Curvature, 0))
	})
	tw.u = linear(fx, -1, jz)
	// Algorithm 3, lines 11 and 12: x moves by the old r, and r averages the new u
	x := linear(mix(tw.W, tw.x), -alpha, tw.r)
	tw.r = linear(linear(matrix(len(tw.os), 3), 1-alpha, tw.r), alpha, tw.u)
	tw.x = x
}

// number returns a schedule's number at iteration k.
func number(t *testing.T, s algo.Schedule, k int) float64 {
	t.Helper()
	at := testkit.Get(s.For(100))
	return at(k)
}
