// This file solves a sequence of nearby symmetric systems (D + diag(e)) s = r by conjugate
// gradients. The preconditioner is made of earlier solves' products: a Nyström approximation of D
// from the last pairs (v, D v), and D's diagonal.
//
// D is known by its products alone. They are the cost: a product over many agents is an exchange.
// All else is arithmetic on vectors equal on all agents. Its order of additions depends on sizes
// alone, so agents on one kernel path (package kernel) get the same bits.

package linalg

import (
	"cmp"
	"fmt"
	"math"

	"dsbo/internal/kernel"
)

// MostPairs is the most pairs that a memory can have: with more, finding eigenvectors takes longer
// than a product with few examples.
const MostPairs = 120

// A Memory is the last pairs (v, D v) with ‖v‖ = 1, and the preconditioner last made from them by
// [Memory.Prepare]. It belongs to one goroutine at a time. It has 3·q numbers a pair, allocated as
// pairs arrive, up to its largest number of pairs.
type Memory struct {
	// Relative scales pairs by the diagonal dg of D when they were added, as (√dg v, D v/√dg) with
	// the first of norm 1, and scales them back by the present diagonal. They stay exact if D
	// becomes R D R with a diagonal R, since the diagonal determines R. Without it pairs are left
	// as they were, and age.
	Relative bool

	floor, cut float64   // see [NewMemory]
	q, most    int       // length of a vector; pairs kept
	s, t       []float64 // a row a pair: v and D v, most×q; when all rows are taken, the next pair replaces the oldest
	gram       []float64 // (S T' + T S')/2, most×most
	counts     []float64 // the rows taken, and the row of the next pair

	u, w     []float64 // eigenvectors of gram, a row each; its eigenvalues, ascending
	work     []float64 // scratch for them
	f        []float64 // F' diag(A)^(−1/2), r×q; it grows with the pairs
	r        int       // columns of f
	root     []float64 // A^(−1/2), length q
	unit     []float64 // √|dg| of the last Prepare if pairs are relative, else 1
	chol     []float64 // the Cholesky factor of I + F' A⁻¹ F, r×r
	small    []float64 // length most
	d, hd, z []float64 // of a solve: direction, its product with the whole matrix, preconditioned residual
	dd       []float64 // D d
	before   []float64 // the residual before the last step
}

// NewMemory returns an empty memory for at most a number of pairs, between 1 and [MostPairs], of
// vectors of length q. floor is the least remainder of the diagonal after the approximation is
// taken off, as a share of it; eigenvalues up to cut times the largest are left out.
func NewMemory(q, most int, floor, cut float64) *Memory {
	if q < 1 || most < 1 || most > MostPairs {
		panic(fmt.Sprintf("linalg: q must be at least 1 and the pairs between 1 and %d; they are %d and %d",
			MostPairs, q, most))
	}
	m := &Memory{floor: floor, cut: cut, q: q, most: most}
	allocate := func(n int, vectors ...*[]float64) {
		for _, v := range vectors {
			*v = make([]float64, n)
		}
	}
	allocate(most*q, &m.s, &m.t) // the system allocates pages when they are written
	allocate(most*most, &m.gram, &m.u, &m.chol)
	allocate(Work(most), &m.work)
	allocate(2, &m.counts)
	allocate(most, &m.w, &m.small)
	allocate(q, &m.root, &m.unit, &m.d, &m.hd, &m.z, &m.dd, &m.before)
	Fill(m.unit, 1)
	return m
}

// State returns views of the memory's state, always of the same lengths: the vectors v and D v
// (most×q each), their inner products (most×most) and two counts. Copying values into them restores
// the memory to the bit.
func (m *Memory) State() (s, t, gram, counts []float64) { return m.s, m.t, m.gram, m.counts }

// Pairs returns the number of pairs.
func (m *Memory) Pairs() int { return int(m.counts[0]) }

// Add keeps the pair (d, dd) with dd = D d, scaled to ‖d‖ = 1; d must not be zero. Relative
// pairs are scaled by the diagonal of the last Prepare before that. The oldest pair goes when there
// are too many. The preconditioner stays as it is until the next [Memory.Prepare], which must come
// before relative pairs.
func (m *Memory) Add(d, dd []float64) {
	q, row := m.q, int(m.counts[1])
	v, t := m.s[row*q:][:q], m.t[row*q:][:q]
	for i, unit := range m.unit {
		v[i], t[i] = d[i]*unit, 0
		if unit > 0 {
			t[i] = dd[i] / unit
		}
	}
	norm := Norm(v)
	if norm == 0 { // relative to a diagonal of zeros
		return
	}
	for i := range v {
		v[i], t[i] = v[i]/norm, t[i]/norm
	}
	m.addNewest(row)
}

// CopyFrom replaces the pairs by the newest pairs of from, whose vectors have the same length. Both
// memories must have the same Relative.
func (m *Memory) CopyFrom(from *Memory) {
	m.counts[0], m.counts[1] = 0, 0
	n, q := from.Pairs(), m.q
	oldest := 0
	if n == from.most {
		oldest = int(from.counts[1])
	}
	for k := max(0, n-m.most); k < n; k++ {
		row, source := int(m.counts[1]), (oldest+k)%n
		copy(m.s[row*q:][:q], from.s[source*q:])
		copy(m.t[row*q:][:q], from.t[source*q:])
		m.addNewest(row)
	}
}

// addNewest makes the pair of a row, which is written, the newest: the next pair takes the row
// after it, which past the last one is row 0, where the oldest pair is. It computes the row and the
// column of gram: means of v_i·Dv and Dv_i·v, which differ by the rounding of products.
func (m *Memory) addNewest(row int) {
	q := m.q
	v, t := m.s[row*q:][:q], m.t[row*q:][:q]
	m.counts[0] = max(m.counts[0], float64(row+1))
	m.counts[1] = float64((row + 1) % m.most)
	n := m.Pairs()
	kernel.GemmNT(n, 1, q, m.small, 1, m.s, q, t, q, false) // v_i·Dv
	kernel.GemmNT(n, 1, q, m.w, 1, m.t, q, v, q, false)     // Dv_i·v
	for i := range n {
		g := (m.small[i] + m.w[i]) / 2
		m.gram[i*m.most+row], m.gram[row*m.most+i] = g, g
	}
}

// Prepare makes the preconditioner M = diag(A) + F F' of D + diag(e) from the pairs and dg, the
// diagonal of D; e must not be negative. F F' is the approximation of D by the pairs; where A would
// be 0 it is 1.
func (m *Memory) Prepare(e, dg []float64) {
	q := m.q
	if m.Relative {
		for i, d := range dg {
			m.unit[i] = math.Sqrt(math.Abs(d))
		}
	}
	m.factor()
	Fill(m.root, 0)
	for l := range m.r {
		row := m.f[l*q:][:q]
		if m.Relative {
			kernel.MulTo(row, row, m.unit)
		}
		for i, f := range row {
			m.root[i] += float64(f * f) // the diagonal of F F', for now
		}
	}
	for i, ff := range m.root {
		d := math.Abs(dg[i])
		a := e[i] + max(d-ff, float64(m.floor*d)) // products are rounded: ff may be more than d
		m.root[i] = 1 / math.Sqrt(cmp.Or(a, 1))
	}
	for l := range m.r {
		row := m.f[l*q:][:q]
		kernel.MulTo(row, row, m.root)
	}
	r := m.r
	kernel.GemmNT(r, r, q, m.chol, r, m.f, q, m.f, q, false)
	for l := range r {
		m.chol[l*r+l]++
	}
	Cholesky(r, m.chol)
}

// factor sets the rows of f to F' = diag(w)^(−1/2) U' T', from the eigenvalues w of the pairs'
// inner products that are kept, and r to their number.
func (m *Memory) factor() {
	n, q := m.Pairs(), m.q
	m.r = 0
	if n == 0 {
		return
	}
	for i := range n {
		copy(m.u[i*n:][:n], m.gram[i*m.most:])
	}
	if !Eigen(n, m.u[:n*n], m.w[:n], m.work) {
		return
	}
	first := n // eigenvalues ascend; of negative ones there is no root
	for most := m.w[n-1]; first > 0 && m.w[first-1] > 0 && m.w[first-1] > m.cut*most; {
		first--
	}
	m.r = n - first
	for l := first; l < n; l++ {
		row := m.u[l*n:][:n]
		Scale(row, 1/math.Sqrt(m.w[l]), row)
	}
	if m.r > 0 {
		if len(m.f) < m.r*q { // twice what is needed: it grows with every pair at first
			m.f = make([]float64, min(2*n, m.most)*q)
		}
		kernel.GemmNN(m.r, q, n, m.f, q, m.u[first*n:], n, m.t, q, false)
	}
}

// Precondition sets dst = M⁻¹ src for the M of the last [Memory.Prepare]. dst must not be src.
func (m *Memory) Precondition(dst, src []float64) {
	kernel.MulTo(dst, src, m.root)
	// M⁻¹ = A^(−1/2) (I − F̃ (I + F̃'F̃)⁻¹ F̃') A^(−1/2) with F̃ = A^(−1/2) F
	if r, q := m.r, m.q; r > 0 {
		kernel.GemmNT(r, 1, q, m.small, 1, m.f, q, dst, q, false)
		Solve(r, m.chol, m.small)
		for l := range r {
			m.small[l] = -m.small[l]
		}
		kernel.GemmNN(1, q, r, dst, q, m.small, r, m.f, q, true)
	}
	kernel.MulTo(dst, dst, m.root)
}
