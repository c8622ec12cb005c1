package adtest

import (
	"math"
	"math/rand/v2"
)

// measure asks a loss at one point.
type measure struct {
	l          Loss
	x, y       []float64
	rng        *rand.Rand
	dx, dy, at []float64 // scratch
}

func newMeasure(l Loss, x, y []float64) *measure {
	return &measure{l: l, x: x, y: y, rng: rand.New(rand.NewPCG(1, 2)),
		dx: make([]float64, len(x)), dy: make([]float64, len(y)), at: make([]float64, max(len(x), len(y)))}
}

// direction draws entries between -1 and 1.
func (m *measure) direction(n int) []float64 {
	d := make([]float64, n)
	for i := range d {
		d[i] = 2*m.rng.Float64() - 1
	}
	return d
}

// What a round compares, in the order of its report.
const (
	value     = "value" // of comparisons of two losses
	gradientX = "∇_x"
	gradientY = "∇_y"
	hvp       = "HVP (∇²_yy)v"
	jvp       = "JVP (∇²_xy)v"
	adjoint   = "adjoint u·(∇²_xy)v = v·(∇²_yx)u"
	symmetry  = "symmetry w·(∇²_yy)v = v·(∇²_yy)w"
)

// directions draws one of x and two of y.
func (m *measure) directions() (u, v, w []float64) {
	return m.direction(len(m.x)), m.direction(len(m.y)), m.direction(len(m.y))
}

// round compares all derivatives along directions u of x and v of y, products weighted by w and u.
func (m *measure) round(u, v, w []float64) (Report, error) {
	if err := m.l.Grad(m.dx, m.dy, m.x, m.y); err != nil {
		return nil, err
	}
	gx, gy := weighted(m.dx, u), weighted(m.dy, v)
	if err := m.l.HVP(m.dy, m.x, m.y, w); err != nil {
		return nil, err
	}
	vhw := weighted(m.dy, v)
	if err := m.l.HVP(m.dy, m.x, m.y, v); err != nil {
		return nil, err
	}
	if err := m.l.JVP(m.dx, m.x, m.y, v); err != nil {
		return nil, err
	}
	whv, ujv := weighted(m.dy, w), weighted(m.dx, u)

	alongY, err := m.slopes(func(h float64) (x, y []float64) { return m.x, shifted(m.at[:len(m.y)], m.y, h, v) },
		norm(m.y), u, w, []float64{gy.size, max(whv.size, vhw.size), ujv.size})
	if err != nil {
		return nil, err
	}
	alongX, err := m.slopes(func(h float64) (x, y []float64) { return shifted(m.at[:len(m.x)], m.x, h, u), m.y },
		norm(m.x), nil, v, []float64{gx.size, ujv.size, 0})
	if err != nil {
		return nil, err
	}
	product := alongY[1].judge(hvp, whv.value, whv.size)
	return Report{
		alongX[0].judge(gradientX, gx.value, gx.size),
		alongY[0].judge(gradientY, gy.value, gy.size),
		product,
		alongY[2].judge(jvp, ujv.value, ujv.size),
		alongX[1].judge(adjoint, ujv.value, ujv.size),
		symmetric(whv, vhw, product.Vague),
	}, nil
}

// symmetric compares two sums of numbers that are each a sum: 1e-9 of what the terms come to is far
// above their rounding, unless they are nothing but rounding.
func symmetric(whv, vhw reading, vague bool) Item {
	scale := max(whv.size, vhw.size)
	return Item{Name: symmetry, Entry: -1, Got: whv.value, Want: vhw.value, Allowed: 1e-9 * scale, Scale: scale,
		Vague: vague || math.IsNaN(scale)}
}

// slopes returns the slopes of the value, of byY·∇_y and of byX·∇_x as the point moves from here
// through the points that moved gives, whose entries that move have a size of far.
func (m *measure) slopes(moved func(h float64) (x, y []float64), far float64,
	byX, byY, scales []float64) ([]slope, error) {
	return slopes(scales, far, func(dst []reading, h float64) (err error) {
		x, y := moved(h)
		if dst[0], err = m.value(x, y); err != nil {
			return err
		}
		err = m.l.Grad(m.dx, m.dy, x, y)
		dst[1], dst[2] = weighted(m.dy, byY), weighted(m.dx, byX)
		return err
	})
}

func (m *measure) value(x, y []float64) (reading, error) {
	v, err := m.l.Value(x, y)
	return reading{v, math.Abs(v)}, err
}

// weighted returns a·weights, whose size is that of its terms as if they were independent, which
// their rounding errors are.
func weighted(a, weights []float64) reading {
	var r reading
	for i, w := range weights {
		if w == 0 { // also of what is not finite
			continue
		}
		t := a[i] * w
		r.value += t
		r.size += t * t
	}
	r.size = math.Sqrt(r.size)
	return r
}

// norm is the largest absolute entry.
func norm(a []float64) float64 {
	n := 0.
	for _, v := range a {
		n = max(n, math.Abs(v))
	}
	return n
}
