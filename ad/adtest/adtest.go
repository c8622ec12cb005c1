// Package adtest checks the derivatives of a loss against finite differences. It is meant for authors of
// models and of ops:
//
//	d, err := ad.Differentiate(loss)
//	...
//	adtest.Check(t, d, x, y)
//
// says which derivative is off, in which entry, and by how much. [Compare] compares one loss with another one
// that should be the same, such as float32 against float64.
package adtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// A Loss is a scalar function of x and y with its derivatives. *ad.Derivs is one.
type Loss interface {
	Value(x, y []float64) (float64, error)
	Grad(dx, dy, x, y []float64) error
	HVP(dst, x, y, v []float64) error
	JVP(dst, x, y, v []float64) error
}

// An Item is one comparison: of its numbers, the one that is furthest off in relation to what is allowed.
type Item struct {
	Name      string
	Entry     int     // its index in the derivative, -1 for a scalar
	Got, Want float64 // the loss's own number, and the one that it is compared with
	Allowed   float64 // largest |Got-Want| that rounding and truncation explain
	Scale     float64 // largest entry of the derivative
	// Vague says that Want is so uncertain, against Scale, that the comparison says nothing.
	Vague bool
}

// vague is the part of a derivative's scale up to which differences may be uncertain.
const vague = 1e-4

// Err returns an error that says what is wrong with the item, or nil.
func (i Item) Err() error {
	name := i.Name
	if i.Entry >= 0 {
		name = fmt.Sprintf("%s, entry %d", name, i.Entry)
	}
	off := math.Abs(i.Got - i.Want)
	switch {
	case math.IsNaN(off) || math.IsInf(off, 0):
		return fmt.Errorf("%s: %g should be %.10g", name, i.Got, i.Want)
	case off > i.Allowed:
		return fmt.Errorf("%s: %.10g should be %.10g: off by %.2g, which is %.1e of the derivative's scale; allowed is %.2g",
			name, i.Got, i.Want, off, off/i.Scale, i.Allowed)
	case i.Vague:
		return fmt.Errorf("%s: differences are uncertain by %.2g where the derivative's scale is %.2g: the loss has a kink at this point, or is lost in rounding",
			name, i.Allowed, i.Scale)
	}
	return nil
}

// A Report is the outcome of all comparisons.
type Report []Item

// Err returns the first item's error, or nil if all derivatives are right.
func (r Report) Err() error {
	for _, i := range r {
		if err := i.Err(); err != nil {
			return err
		}
	}
	return nil
}

// String returns a table with one line per comparison, the wrong ones marked.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "   %-38s %6s %17s %17s %8s %8s\n", "derivative", "entry", "got", "want", "off", "allowed")
	for _, i := range r {
		mark := "ok"
		if i.Err() != nil {
			mark = "✗ "
		}
		fmt.Fprintf(&b, "%s %-38s %6d %17.9g %17.9g %8.1e %8.1e\n", mark, i.Name, i.Entry, i.Got, i.Want, math.Abs(i.Got-i.Want), i.Allowed)
	}
	return b.String()
}

// Check measures l's derivatives at (x, y) and fails t with the table of all if one is off.
// l computes in float64; hold a float32 loss against it with [Compare].
func Check(t testing.TB, l Loss, x, y []float64) {
	t.Helper()
	r, err := Measure(l, x, y)
	if err == nil {
		err = r.Err()
	}
	if err != nil {
		t.Errorf("adtest: %v\n%v", err, r)
	}
}

// Measure compares, along a few directions that are always the same,
//
//   - ∇_x and ∇_y with differences of values,
//   - (∇²_yy)v with differences of ∇_y along v, and (∇²_xy)v with those of ∇_x,
//   - u·(∇²_yy)v with v·(∇²_yy)u, and u·(∇²_xy)v with v·(differences of ∇_y in x along u).
//
// Differences are central and extrapolated (Richardson); what is allowed is the uncertainty that their
// own table shows plus rounding. Cost: about 500 values and 200 gradients. The error is the loss's own.
func Measure(l Loss, x, y []float64) (Report, error) {
	m := &measure{l: l, x: x, y: y, rng: rand.New(rand.NewPCG(1, 2))}
	for range 2 {
		m.gradient("∇_x", x, func(p []float64) (float64, error) { return l.Value(p, y) },
			func(dst []float64) error { return l.Grad(dst, nil, x, y) })
		m.gradient("∇_y", y, func(p []float64) (float64, error) { return l.Value(x, p) },
			func(dst []float64) error { return l.Grad(nil, dst, x, y) })
		m.products(m.direction(len(x)), m.direction(len(y)), m.direction(len(y)))
	}
	return m.report, m.err
}

// measure collects items until the loss reports an error.
type measure struct {
	l      Loss
	x, y   []float64
	rng    *rand.Rand
	report Report
	err    error
}

// direction draws entries between -1 and 1.
func (m *measure) direction(n int) []float64 {
	d := make([]float64, n)
	for i := range d {
		d[i] = 2*m.rng.Float64() - 1
	}
	return d
}

// noteError notes the first error of the loss.
func (m *measure) noteError(err error) {
	if m.err == nil {
		m.err = err
	}
}

// gradient compares a gradient with differences of values: along a random direction, and, so that the
// entry can be named, along the axes of a few entries.
func (m *measure) gradient(name string, at []float64, value func(p []float64) (float64, error), grad func(dst []float64) error) {
	g := make([]float64, len(at))
	m.noteError(grad(g))
	scalar := func(dst, p []float64) error {
		var err error
		dst[0], err = value(p)
		return err
	}
	d := m.direction(len(at))
	m.compare(name+" along a direction", []float64{dot(g, d)}, m.differences(scalar, 1, at, d).ofScale(absDot(g, d)), -1)
	for _, i := range m.rng.Perm(len(at))[:min(len(at), 3)] {
		axis := make([]float64, len(at))
		axis[i] = 1
		m.compare(name, g[i:i+1], m.differences(scalar, 1, at, axis).ofScale(norm(g)), i)
	}
}

// products compares HVP and JVP along v with differences of gradients, and their symmetries.
func (m *measure) products(u, v, w []float64) {
	l, p, q := m.l, len(m.x), len(m.y)
	hv, hw, jv := make([]float64, q), make([]float64, q), make([]float64, p)
	m.noteError(l.HVP(hv, m.x, m.y, v))
	m.noteError(l.HVP(hw, m.x, m.y, w))
	m.noteError(l.JVP(jv, m.x, m.y, v))

	yy := m.differences(func(dst, p []float64) error { return l.Grad(nil, dst, m.x, p) }, q, m.y, v)
	m.compare("HVP (∇²_yy)v", hv, yy, 0)
	xy := m.differences(func(dst, p []float64) error { return l.Grad(dst, nil, m.x, p) }, p, m.y, v)
	m.compare("JVP (∇²_xy)v", jv, xy, 0)
	yx := m.differences(func(dst, p []float64) error { return l.Grad(nil, dst, p, m.y) }, q, m.x, u)
	m.compare("adjoint u·(∇²_xy)v = v·(∇²_yx)u", []float64{dot(u, jv)}, yx.dotWith(v).ofScale(absDot(u, jv)), -1)

	// Two sums of q products of numbers that are each a sum: 1e-10 of the terms is far above their rounding.
	terms := absDot(w, hv) + absDot(v, hw)
	m.report = append(m.report, Item{Name: "symmetry w·(∇²_yy)v = v·(∇²_yy)w", Entry: -1, Got: dot(w, hv), Want: dot(v, hw),
		Allowed: 1e-10 * terms, Scale: terms})
}

// compare reports the entry of got that is furthest off for what is allowed, or the first one for which
// nothing can be said. first is the index of got[0], or -1 for a scalar.
func (m *measure) compare(name string, got []float64, want estimate, first int) {
	if m.err != nil {
		return
	}
	scale := max(want.scale, norm(got))
	worst, most := 0, -1.
	for i := range got {
		if r := rank(math.Abs(got[i]-want.value[i]), want.allowed[i], scale); r > most {
			worst, most = i, r
		}
	}
	entry := -1
	if first >= 0 {
		entry = first + worst
	}
	m.report = append(m.report, Item{Name: name, Entry: entry, Got: got[worst], Want: want.value[worst],
		Allowed: want.allowed[worst], Scale: scale, Vague: isVague(want.allowed[worst], scale)})
}

// rank orders entries: those that are wrong by how much, then those that are vague, then the others.
func rank(off, allowed, scale float64) float64 {
	switch {
	case math.IsNaN(off) || math.IsInf(off, 0):
		return math.Inf(1)
	case off > allowed:
		return 2 + off/scale
	case isVague(allowed, scale):
		return 1.5
	}
	return off / allowed
}

func isVague(allowed, scale float64) bool { return allowed > vague*scale && scale > 0 }

func dot(a, b []float64) float64 {
	s := 0.
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}

func absDot(a, b []float64) float64 {
	s := 0.
	for i := range a {
		s += math.Abs(a[i] * b[i])
	}
	return s
}

// norm is the largest absolute entry.
func norm(a []float64) float64 {
	n := 0.
	for _, v := range a {
		n = max(n, math.Abs(v))
	}
	return n
}
