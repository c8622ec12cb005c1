package algo

import (
	"math"

	"dsbo"
	"dsbo/internal/linalg"
)

// LancBiO is LancBiO (Yang, Gao, Yuan, "LancBiO: Dynamic Lanczos-aided Bilevel Optimization via
// Krylov Subspace", ICLR 2025), for one agent. A space of up to m Lanczos vectors, with Q and a
// tridiagonal S, grows by one an iteration while x and y move:
//
//	T times y −= β ∇_y g(x, y)
//	k mod m = 0, a restart:  z̄ = z, w = Hz̄, q = (b − w)/‖b − w‖, q₋ = 0, δ = 0, Q and S empty
//	v = Hq − δq₋, a = q'v;  Q gets q, S gets a and, beside it, δ
//	s = v − aq, δ = ‖s‖, q₋ = q, q = s/δ
//	z = z̄ + Q S⁻¹ Q'(b − w);  u = ∇_x f − J z;  x −= α u
//
// With Fre > 0, m = min(⌈m·Inc⌉, Max) before each iteration k with (k+1) mod Fre = 0.
//
// The lines are certain, from the authors' program of their synthetic problem. Ours are z = 0 at
// the start, where theirs runs without z̄ for a while, and that a space gets no vector more once
// nothing is left of it. At a fixed point it is exact. While H moves S is not Q'HQ, and with draws
// less so: it is for all examples. Draws: {Lower, k, t}, {Upper, k, 0}, and one {Curvature, k, 0}
// for J and all products.
type LancBiO struct {
	Alpha Schedule `json:"alpha,omitzero" default:"0.1"`       // α, step of x
	Beta  Schedule `json:"beta,omitzero" default:"0.1"`        // β, step of y
	T     int      `json:"T,omitzero" default:"10"`            // steps of y
	Dim   int      `json:"dim,omitzero" default:"3"`           // m, iterations from restart to restart
	Fre   int      `json:"dim_fre,omitzero" must:"at least 0"` // iterations after which m grows; 0: it stays
	Inc   float64  `json:"dim_inc,omitzero" default:"1"`       // what m is multiplied by
	Max   int      `json:"dim_max,omitzero" default:"50"`      // the largest m that it grows to

	soloState
	base, hb       []float64 // z̄, w
	v, before      []float64 // q, 0 where the space ends, and q₋
	basis          []float64 // Q, column after column
	diagonal, off  []float64 // of S
	count          []float64 // two numbers: how many columns Q has, and δ
	r, h, work, xi []float64 // scratch: b − w; Hq; of a solve; S⁻¹ Q'(b − w)
}

// Init implements [Method].
func (a *LancBiO) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(*checker) {
		a.z = a.carried("z", q)
		a.base, a.hb, a.v, a.before = a.carried("base", q), a.carried("base_product", q), a.carried("lanczos", q),
			a.carried("lanczos_before", q)
		most := a.longest(K)
		a.basis, a.diagonal, a.off = a.carried("basis", most*q), a.carried("diagonal", most), a.carried("off", most)
		a.count = a.carried("count", 2)
		a.scratch(q, &a.r, &a.h)
		a.scratch(most, &a.xi)
		a.scratch(3*most, &a.work)
	})
}

// dimension returns m in iteration k: Dim, grown (k+1)/Fre times.
func (a *LancBiO) dimension(k int) int {
	m := a.Dim
	if a.Fre == 0 {
		return m
	}
	for range (k + 1) / a.Fre {
		next := int(min(math.Ceil(float64(m)*a.Inc), float64(a.Max)))
		if next == m { // it has stopped growing
			break
		}
		m = next
	}
	return m
}

// restarts reports whether a space begins in iteration k.
func (a *LancBiO) restarts(k int) bool { return k%a.dimension(k) == 0 }

// longest returns the largest number of iterations from one restart to the next in a run of K, and
// so the largest number of columns of Q, which gets at most one in each.
func (a *LancBiO) longest(K int) int {
	if a.Fre == 0 {
		return min(a.Dim, K)
	}
	most, n := 0, 0
	for k := range K {
		if a.restarts(k) {
			n = 0
		}
		n++
		most = max(most, n)
	}
	return most
}

// Cost of an iteration: nothing is sent; T gradients of g, one of f, one Jacobian-vector product
// and one Hessian-vector product, two at a restart: one too many where the space cannot grow.
func (a *LancBiO) Cost(k int) Cost {
	cost := Cost{Calls: implicitCalls(a.T, 1)}
	if a.restarts(k) {
		cost.HVP++
	}
	return cost
}

// step is one outer iteration.
func (a *LancBiO) step(w *Turn, k int) {
	a.descendY(w, a.T)
	if a.restarts(k) {
		a.restart(w)
	}
	linalg.Sub(a.r, a.b, a.hb) // the present b minus w of the last restart
	hasRoom := int(a.count[0]) < len(a.diagonal)
	if hasRoom && linalg.Norm(a.v) > 0 { // grow sets q to 0 when the space cannot grow any more
		a.grow(w)
	}
	if w.err == nil {
		a.solve()
	}
	a.descendX(w)
}

// restart begins a space at z.
func (a *LancBiO) restart(w *Turn) {
	copy(a.base, a.z)
	w.HVP(a.hb, a.x, a.y, a.base, w.Draw(dsbo.Curvature, 0))
	linalg.Sub(a.v, a.b, a.hb)
	if n := linalg.Norm(a.v); n > 0 {
		linalg.Scale(a.v, 1/n, a.v)
	}
	clear(a.before)
	clear(a.count)
}

// grow adds q to the space and computes the next q by a step of Lanczos. If the remainder s of Hq
// is only rounding error, Hq is in the space and there is no next vector: q becomes 0.
func (a *LancBiO) grow(w *Turn) {
	q, s := a.v, a.h
	w.HVP(s, a.x, a.y, q, w.Draw(dsbo.Curvature, 0))
	n, delta, size := int(a.count[0]), a.count[1], linalg.Norm(s)
	linalg.Axpy(s, -delta, a.before) // v = Hq − δ q₋
	a.diagonal[n], a.off[n] = linalg.Dot(q, s), delta
	copy(a.basis[n*len(q):], q)
	linalg.Axpy(s, -a.diagonal[n], q) // s = v − a q
	delta = linalg.Norm(s)
	a.count[0], a.count[1] = float64(n+1), delta
	copy(a.before, q)
	if clear(q); delta > vanished*size {
		linalg.Scale(q, 1/delta, s)
	}
}

// solve sets z = z̄ + Q S⁻¹ Q'(b − w).
func (a *LancBiO) solve() {
	copy(a.z, a.base)
	n, q := int(a.count[0]), len(a.z) // off[0] is the δ = 0 of a restart; S has off[1:n] beside its diagonal
	for i := range n {
		a.xi[i] = linalg.Dot(a.basis[i*q:(i+1)*q], a.r)
	}
	if n > 0 {
		linalg.SolveTridiagonal(a.xi[:n], a.diagonal, a.off[1:n], a.work)
	}
	for i := range n {
		linalg.Axpy(a.z, a.xi[i], a.basis[i*q:(i+1)*q])
	}
}
