// Package adtest checks the derivatives of a loss against finite differences. It is meant for
// authors of models and of ops:
//
//	d, err := ad.Differentiate(loss)
//	...
//	adtest.Check(t, d, x, y)
//
// reports each wrong derivative with its entry and error, for a loss of any size. [Compare]
// compares two losses that should be equal, such as float32 against float64.
package adtest

import (
	"fmt"
	"math"
	"slices"
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

// An Item is one comparison of two numbers: of a derivative along directions or, where that is off,
// of its entry.
type Item struct {
	Name      string
	Entry     int     // its index in the derivative, -1 for a scalar
	Got, Want float64 // the loss's own number, and its reference
	Allowed   float64 // largest |Got-Want| that rounding and truncation explain
	// what the derivative's entries come to as independent terms: the root of the sum of
	// their squares
	Scale float64
	// Vague is true if Want is so uncertain, against Scale, that the comparison is inconclusive.
	Vague bool
	// Kink is true if the loss has a kink at this very point, and Got is the derivative of one
	// side, or between the two.
	Kink bool
}

// vague is the part of a derivative's scale up to which differences may be uncertain.
const vague = 1e-4

// Err returns an error that describes the item's fault, or nil.
func (i Item) Err() error {
	name := i.Name
	if i.Entry >= 0 {
		name = fmt.Sprintf("%s, entry %d", name, i.Entry)
	}
	off := math.Abs(i.Got - i.Want)
	switch {
	case i.Vague:
		return fmt.Errorf("%s: differences are uncertain by %.2g where the derivative's scale is %.2g: "+
			"the loss is not finite around this point, has kinks too close to it, or is lost in rounding", name,
			i.Allowed, i.Scale)
	case math.IsNaN(off) || math.IsInf(off, 0):
		return fmt.Errorf("%s: %g should be %.10g", name, i.Got, i.Want)
	case off > i.Allowed:
		return fmt.Errorf(
			"%s: %.10g should be %.10g: off by %.2g, which is %.1e of the derivative's scale; allowed is %.2g",
			name, i.Got, i.Want, off, off/i.Scale, i.Allowed)
	}
	return nil
}

// wrong reports whether the item is off beyond doubt.
func (i Item) wrong() bool { return !i.Vague && i.Err() != nil }

// A Report is the outcome of all comparisons.
type Report []Item

// Err returns the error of the first item that is wrong, else that of the first that is vague, or
// nil if all derivatives are right.
func (r Report) Err() error {
	var vague error
	for _, i := range r {
		if i.wrong() {
			return i.Err()
		}
		if vague == nil {
			vague = i.Err()
		}
	}
	return vague
}

// Vague reports whether no item is wrong, but some are inconclusive: at another point they may not
// be.
func (r Report) Vague() bool { return r.Err() != nil && !slices.ContainsFunc(r, Item.wrong) }

// String returns a table with one line per comparison, the wrong ones marked.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "   %-38s %6s %17s %17s %8s %8s\n", "derivative", "entry", "got", "want", "off", "allowed")
	for _, i := range r {
		mark, kink := "ok", ""
		if i.Err() != nil {
			mark = "✗ "
		}
		if i.Kink {
			kink = " at a kink"
		}
		fmt.Fprintf(&b, "%s %-38s %6d %17.9g %17.9g %8.1e %8.1e%s\n", mark, i.Name, i.Entry, i.Got, i.Want,
			math.Abs(i.Got-i.Want), i.Allowed, kink)
	}
	return b.String()
}

// failTest fails t, and prints the table, if err is not nil or the table has a derivative that is
// off.
func (r Report) failTest(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		err = r.Err()
	}
	if err != nil {
		t.Errorf("adtest: %v\n%v", err, r)
	}
}

// Check measures l's derivatives at (x, y) and fails t with the table of all if one is off. l
// computes in float64; compare a float32 loss with it by [Compare].
func Check(t testing.TB, l Loss, x, y []float64) {
	t.Helper()
	r, err := Measure(l, x, y)
	r.failTest(t, err)
}

// Measure compares, along random directions u of x and v, w of y that are always the same,
//
//   - u·∇_x and v·∇_y with differences of values along u and v,
//   - w·(∇²_yy)v with differences of w·∇_y along v, and u·(∇²_xy)v with those of u·∇_x,
//   - w·(∇²_yy)v with v·(∇²_yy)w, and u·(∇²_xy)v with differences of v·∇_y along u.
//
// A random direction sees an error in any entry, so the cost does not depend on how many there are:
// 10 to 70 values and gradients, and a few vectors of memory. Differences are central and
// extrapolated (Richardson); what is allowed is the uncertainty that their own table shows, plus
// rounding. Where the loss has kinks, as with ReLU, steps are so small that none is crossed. What
// is off is measured again along other directions, up to three, and wrong if two agree; then its
// worst entry is looked for. The error is the loss's own.
func Measure(l Loss, x, y []float64) (Report, error) {
	m := newMeasure(l, x, y)
	r, err := m.round(m.directions())
	if err != nil || r.Err() == nil {
		return r, err
	}
	rounds := []Report{r}
	for range 2 {
		if r, err = m.round(m.directions()); err != nil {
			return nil, err
		}
		rounds = append(rounds, r)
	}
	r = majority(rounds)
	return r, m.locate(r)
}

// majority returns for each item a right one, unless two are wrong or all are inconclusive.
func majority(rounds []Report) Report {
	r := make(Report, len(rounds[0]))
	for k := range r {
		var right, wrong, silent []Item
		for _, round := range rounds {
			switch i := round[k]; {
			case i.Err() == nil:
				right = append(right, i)
			case i.Vague:
				silent = append(silent, i)
			default:
				wrong = append(wrong, i)
			}
		}
		switch {
		case len(wrong) > 1 || len(wrong) == 1 && len(right) == 0:
			r[k] = wrong[0]
		case len(right) > 0:
			r[k] = right[0]
		default:
			r[k] = silent[0]
		}
	}
	return r
}
