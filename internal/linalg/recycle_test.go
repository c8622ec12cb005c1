package linalg_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo/internal/linalg"
)

// A matrix is symmetric and dense, row by row.
type matrix struct {
	q       int
	entries []float64
}

// random is a matrix with the eigenvalues 10^(−decay·i/q), i = 0..q−1, some of which may be
// turned negative.
func random(q int, decay float64, negative int) matrix {
	rng := rand.New(rand.NewPCG(7, 8))
	m := matrix{q, make([]float64, q*q)}
	var basis [][]float64
	for i := range q {
		v := make([]float64, q)
		for j := range v {
			v[j] = rng.NormFloat64()
		}
		for range 2 { // twice is enough
			for _, b := range basis {
				linalg.Axpy(v, -linalg.Dot(b, v), b)
			}
		}
		linalg.Scale(v, 1/linalg.Norm(v), v)
		basis = append(basis, v)
		w := math.Pow(10, -decay*float64(i)/float64(q))
		if i < negative {
			w = -w
		}
		for j := range q {
			linalg.Axpy(m.entries[j*q:][:q], w*v[j], v)
		}
	}
	return m
}

func (m matrix) product(dst, v []float64) {
	for i := range dst {
		dst[i] = linalg.Dot(m.entries[i*m.q:][:m.q], v)
	}
}

func (m matrix) diagonal() []float64 {
	d := make([]float64, m.q)
	for i := range d {
		d[i] = m.entries[i*m.q+i]
	}
	return d
}

func filled(q int, a float64) []float64 { return slices.Repeat([]float64{a}, q) }

// system is m + e I.
func (m matrix) system(e float64) linalg.System {
	return linalg.System{E: filled(m.q, e), Diagonal: m.diagonal()}
}

// solve takes at most a number of products, or all of them with ends nil.
func (m matrix) solve(by *linalg.Memory, s, r []float64, of linalg.System, products int,
	ends func() bool) (asked int, positive bool) {
	c := by.Begin(s, r, of)
	for c.Asked < products && (ends == nil || c.Positive && !ends()) {
		m.product(c.Next())
		c.Advance()
	}
	return c.Asked, c.Positive
}

// residual returns ‖b − (m + e I) s‖ / ‖b‖.
func (m matrix) residual(e float64, s, b []float64) float64 {
	r := make([]float64, m.q)
	m.product(r, s)
	linalg.Axpy(r, e, s)
	linalg.Sub(r, b, r)
	return linalg.Norm(r) / linalg.Norm(b)
}

// Conjugate gradients end after q products whatever the preconditioner, and later solves need
// far fewer.
func TestRecyclingSavesProducts(t *testing.T) {
	const q, e = 40, 1e-3
	d, memory := random(q, 3, 0), linalg.NewMemory(q, 60, 1e-9, 1e-6)
	rng := rand.New(rand.NewPCG(1, 2))
	var asked []int
	for range 3 {
		s, b := make([]float64, q), make([]float64, q)
		for i := range b {
			b[i] = rng.NormFloat64()
		}
		r := slices.Clone(b)
		n, positive := d.solve(memory, s, r, d.system(e), 3*q,
			func() bool { return linalg.Norm(r) <= 1e-8*linalg.Norm(b) })
		if !positive {
			t.Fatal("a direction without positive curvature")
		}
		if left := d.residual(e, s, b); left > 1e-7 {
			t.Errorf("after %d products the residual is %g", n, left)
		}
		asked = append(asked, n)
	}
	if asked[0] > 2*q || asked[1] > 3 || asked[2] > 3 {
		t.Errorf("products of solves: %v; the first must need at most 80, the others 3", asked)
	}
}

// The pairs of q independent directions are all of D: then the preconditioner is the inverse but
// for the floor of the diagonal.
func TestAllPairsAreTheMatrix(t *testing.T) {
	const q, e = 12, 0.5
	d, memory := random(q, 1, 0), linalg.NewMemory(q, q, 1e-14, 1e-12)
	dd := make([]float64, q)
	for i := range q {
		v := make([]float64, q)
		v[i] = 3 // of another length than 1
		d.product(dd, v)
		memory.Add(v, dd)
	}
	memory.Prepare(filled(q, e), d.diagonal())
	b, s := filled(q, 1), make([]float64, q)
	memory.Precondition(s, b)
	if left := d.residual(e, s, b); left > 1e-10 {
		t.Errorf("the residual of M⁻¹ b is %g", left)
	}
}

// Relative pairs are pairs of R D R, given its diagonal.
func TestRelativePairsFollowTheDiagonal(t *testing.T) {
	const q, e = 12, 0.5
	d := random(q, 1, 0)
	changed := matrix{q, slices.Clone(d.entries)}
	for i := range changed.entries {
		changed.entries[i] *= float64(1+i/q) * float64(1+i%q)
	}
	for _, relative := range []bool{false, true} {
		memory, dd := linalg.NewMemory(q, q, 1e-14, 1e-12), make([]float64, q)
		memory.Relative = relative
		memory.Prepare(filled(q, e), d.diagonal())
		for i := range q {
			v := make([]float64, q)
			v[i] = 1
			d.product(dd, v)
			memory.Add(v, dd)
		}
		memory.Prepare(filled(q, e), changed.diagonal())
		b, s := filled(q, 1), make([]float64, q)
		memory.Precondition(s, b)
		if left := changed.residual(e, s, b); (left < 1e-9) != relative {
			t.Errorf("relative %v: the residual of M⁻¹ b is %g", relative, left)
		}
	}
}

func TestWithoutPairsTheDiagonalAlone(t *testing.T) {
	memory := linalg.NewMemory(3, 5, 0.02, 1e-6)
	memory.Prepare([]float64{1, 0, 0}, []float64{1, -4, 0})
	got := make([]float64, 3)
	memory.Precondition(got, []float64{2, 2, 2})
	if want := []float64{1, 0.5, 2}; linalg.Dist2(got, want) > 1e-30 {
		t.Errorf("M⁻¹ (2, 2, 2) = %v, want %v", got, want)
	}
}

// A solve of a fixed count asks for all its products, and takes nothing from those after a
// direction of negative curvature.
func TestFixedCount(t *testing.T) {
	const q = 10
	for _, c := range []struct {
		name     string
		d        matrix
		b        []float64
		positive bool
	}{
		{"positive", random(q, 1, 0), filled(q, 1), true},
		{"negative", random(q, 1, q), filled(q, 1), false},
		{"no right-hand side", random(q, 1, 0), filled(q, 0), false},
	} {
		memory, s, r := linalg.NewMemory(q, 20, 0.02, 1e-6), make([]float64, q), slices.Clone(c.b)
		sys := c.d.system(0)
		asked, positive := c.d.solve(memory, s, r, sys, 4, nil)
		if asked != 4 || positive != c.positive {
			t.Errorf("%s: %d products, positive %v", c.name, asked, positive)
		}
		if want := map[bool]int{true: 4}[c.positive]; memory.Pairs() != want || (linalg.Norm(s) != 0) != c.positive {
			t.Errorf("%s: %d pairs, want %d; s = %v", c.name, memory.Pairs(), want, s)
		}
		if asked, _ := c.d.solve(memory, s, slices.Clone(c.b), sys, 4, func() bool { return false }); !c.positive &&
			asked != 1 {
			t.Errorf("%s: a solve that may end asked for %d products", c.name, asked)
		}
	}
}

// A memory restored from its state continues with the same bits, its oldest pairs gone; and a solve
// allocates nothing.
func TestStateRestores(t *testing.T) {
	const q = 70
	d := random(q, 2, 0)
	a, b := linalg.NewMemory(q, 7, 0.02, 1e-6), linalg.NewMemory(q, 7, 0.02, 1e-6)
	a.Relative, b.Relative = true, true
	sys, s, r := d.system(0.01), make([]float64, q), filled(q, 1)
	solve := func(m *linalg.Memory) []float64 {
		linalg.Fill(s, 0)
		linalg.Fill(r, 1)
		d.solve(m, s, r, sys, 5, nil)
		return s
	}
	for range 3 {
		solve(a)
	}
	views := func(m *linalg.Memory) [][]float64 {
		s, t, gram, counts := m.State()
		return [][]float64{s, t, gram, counts}
	}
	for i, v := range views(b) {
		copy(v, views(a)[i])
	}
	if a.Pairs() != 7 {
		t.Errorf("%d pairs, want 7", a.Pairs())
	}
	for range 3 {
		if want := slices.Clone(solve(a)); !slices.Equal(want, solve(b)) {
			t.Fatal("a restored memory gives other bits")
		}
	}
	if n := testing.AllocsPerRun(5, func() { solve(a) }); n != 0 {
		t.Errorf("a solve allocates %v times", n)
	}
}

// A copy of a memory has its newest pairs, the oldest first, and preconditions as it does.
func TestCopyFrom(t *testing.T) {
	const q = 30
	d := random(q, 2, 0)
	a, all, few := linalg.NewMemory(q, 7, 0.02, 1e-6), linalg.NewMemory(q, 9, 0.02, 1e-6),
		linalg.NewMemory(q, 3, 0.02, 1e-6)
	for range 2 { // ten pairs, of which three are gone
		d.solve(a, make([]float64, q), filled(q, 1), d.system(0.01), 5, nil)
	}
	all.CopyFrom(a)
	few.CopyFrom(a)
	if all.Pairs() != 7 || few.Pairs() != 3 {
		t.Fatalf("%d and %d pairs, want 7 and 3", all.Pairs(), few.Pairs())
	}
	newest, _, _, _ := a.State()
	oldest, _, _, _ := few.State()
	if !slices.Equal(oldest[2*q:], newest[2*q:3*q]) { // the tenth pair is in row 9 mod 7
		t.Error("the newest pair is not the last")
	}
	sys, want, got := d.system(0.01), make([]float64, q), make([]float64, q)
	a.Prepare(sys.E, sys.Diagonal)
	a.Precondition(want, filled(q, 1))
	all.Prepare(sys.E, sys.Diagonal)
	all.Precondition(got, filled(q, 1))
	if linalg.Dist2(got, want) > 1e-16*linalg.Dot(want, want) {
		t.Error("a copy preconditions otherwise")
	}
}

// TestDescend: at directions without positive curvature a step down goes on, so that the quadratic
// ½ s'Hs − r's is lower than where the solve would have ended, and is never 0.
func TestDescend(t *testing.T) {
	const q = 12
	for _, negative := range []int{1, 6, q} {
		m := random(q, 2, negative)
		value := func(s, r []float64) float64 {
			hs := make([]float64, q)
			m.product(hs, s)
			return linalg.Dot(s, hs)/2 - linalg.Dot(r, s)
		}
		solve := func(descend bool) float64 {
			s, r, rhs := make([]float64, q), make([]float64, q), make([]float64, q)
			for i := range r {
				r[i] = math.Cos(float64(i))
			}
			copy(rhs, r)
			ones := slices.Repeat([]float64{1}, q)
			memory := linalg.NewMemory(q, 4, 0.02, 1e-6)
			_, positive := m.solve(memory, s, r,
				linalg.System{E: make([]float64, q), Diagonal: ones, Descend: descend}, 2*q, nil)
			if positive {
				t.Fatalf("%d negative eigenvalues: no direction was without positive curvature", negative)
			}
			return value(s, rhs)
		}
		if with, without := solve(true), solve(false); !(with < 0 && with < without) {
			t.Errorf("%d negative eigenvalues: the quadratic falls to %g, without going on to %g",
				negative, with, without)
		}
	}
}

// TestPreconditioner: by the pairs of a diagonal D the preconditioner is diag(A) + FF', where FF'
// has the eigenvalues that are above Cut times the largest, and A what is left of the diagonal, but
// at least the share Floor of it.
func TestPreconditioner(t *testing.T) {
	const floor, cut = 0.02, 0.125
	for _, c := range []struct {
		d, e, want []float64 // D, what is added, and M
	}{
		{[]float64{1, 0.2}, []float64{0, 0}, []float64{1 + floor, 0.2 * (1 + floor)}},
		{[]float64{1, cut}, []float64{0, 0}, []float64{1 + floor, cut}}, // not above the cut
		{[]float64{1, 0.2}, []float64{3, 5}, []float64{1 + floor + 3, 0.2*(1+floor) + 5}},
		{[]float64{1, -0.5}, []float64{0, 0}, []float64{1 + floor, 0.5}}, // |dg|
		{[]float64{1, 0}, []float64{0, 0}, []float64{1 + floor, 1}},      // in place of 0
	} {
		m := linalg.NewMemory(2, 2, floor, cut)
		for j := range c.d {
			v, dv := make([]float64, 2), make([]float64, 2)
			v[j], dv[j] = 2, 2*c.d[j] // scaled to 1 without rounding
			m.Add(v, dv)
		}
		m.Prepare(c.e, c.d)
		got := make([]float64, 2)
		m.Precondition(got, []float64{1, 1})
		for j, want := range c.want {
			if !(math.Abs(got[j]*want-1) <= 1e-12) {
				t.Errorf("D = diag%v and %v: M is diag(%g, %g), want diag%v", c.d, c.e, 1/got[0], 1/got[1], c.want)
			}
		}
	}
}

// TestRelativePairsOfZeros: relative to a diagonal that is 0 somewhere a pair leaves that entry
// out, and one that is 0 everywhere leaves no pair.
func TestRelativePairsOfZeros(t *testing.T) {
	m := linalg.NewMemory(2, 2, 0.02, 1e-6)
	m.Relative = true
	got := make([]float64, 2)
	for _, c := range []struct {
		diagonal []float64
		pairs    int
	}{{[]float64{0, 0}, 0}, {[]float64{4, 0}, 1}} {
		m.Prepare([]float64{0, 1}, c.diagonal)
		m.Add([]float64{1, 1}, []float64{4, 0})
		m.Prepare([]float64{0, 1}, []float64{4, 0})
		if m.Precondition(got, []float64{1, 1}); m.Pairs() != c.pairs || !linalg.AllFinite(got) {
			t.Errorf("by a diagonal of %v there are %d pairs, want %d, and M⁻¹(1, 1) is %v", c.diagonal, m.Pairs(),
				c.pairs, got)
		}
	}
}

// TestBFGS: on a quadratic of q numbers with exact steps along its directions, q changes tell the
// Hessian, and the next solution is exact; changes against the curvature are not remembered, and of
// more than Most the oldest are forgotten.
func TestBFGS(t *testing.T) {
	h := []float64{1, 3, 10, 0.5}
	q := len(h)
	gradient := func(y []float64) []float64 {
		g := make([]float64, q)
		for j := range g {
			g[j] = h[j] * y[j]
		}
		return g
	}
	b := linalg.BFGS{Most: q}
	y, d := []float64{1, -2, 0.5, 3}, make([]float64, q)
	for range q {
		g := gradient(y)
		b.Solve(d, g)
		hd := gradient(d)
		next := make([]float64, q)
		linalg.Comb(next, 1, y, -linalg.Dot(g, d)/linalg.Dot(d, hd), d)
		b.Add(next, gradient(next), y, g)
		y = next
	}
	if left := linalg.Norm(y); left > 1e-12 { // as conjugate gradients, which end after q steps
		t.Errorf("%d steps leave %g of the way", q, left)
	}
	v := []float64{1, 1, 1, 1}
	if b.Solve(d, gradient(v)); !(math.Abs(linalg.Dot(d, v)/float64(q)-1) <= 1e-9) {
		t.Errorf("H⁻¹Hv is %v, want %v", d, v)
	}
	saddle := linalg.BFGS{Most: 1}
	if saddle.Add([]float64{1}, []float64{-1}, []float64{0}, []float64{0}); saddle.Known() {
		t.Error("a change of negative curvature is remembered")
	}
	for _, curvature := range []float64{2, 4} {
		saddle.Add([]float64{1}, []float64{curvature}, []float64{0}, []float64{0})
	}
	one := []float64{8}
	if saddle.Solve(one, one); one[0] != 2 {
		t.Errorf("by the newest of the changes H⁻¹g is %g, want 2", one[0])
	}
	if saddle.Forget(); saddle.Known() {
		t.Error("forgotten changes are known")
	}
}
