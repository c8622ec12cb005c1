package modeltest

import (
	"fmt"
	"math"
	"testing"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// vectors compares answers by vectors of float32 with those by vectors of float64 of the same numbers, which must be the same rounded, of an oracle that
// computes in float32 and of one that computes in float64. The errors must be the same too, and nothing be allocated.
func (s *subject) vectors() error {
	x, y, v := s.point()
	x32, y32, v32 := roundedTo32(x), roundedTo32(y), roundedTo32(v)
	wide, narrow := allQuestions(x, y, v), allQuestions(x32, y32, v32)
	name := dsbo.Sample{Set: dsbo.Curvature, K: 1}
	for _, single := range []bool{true, false} {
		o := s.oracle(models.Config{Batch: s.batch(), Float32: single})
		o32 := o.Float32()
		for i, c := range wide {
			want, got := make([]float64, c.n), make([]float32, c.n)
			err, err32 := c.ask(o, want, name), narrow[i].ask(o32, got, name)
			short, short32 := c.ask(o, want[1:], name), narrow[i].ask(o32, got[1:], name)
			if a, b := fmt.Sprint(err, ", ", short), fmt.Sprint(err32, ", ", short32); a != b {
				return fmt.Errorf("%s: errors by vectors of float64 are %s; by vectors of float32 %s", c.name, a, b)
			}
			for j := range want {
				if a := float32(want[j]); math.Float32bits(a) != math.Float32bits(got[j]) {
					return fmt.Errorf("%s, computed in float32: %v: entry %d is %v by vectors of float32, %v by vectors of float64",
						c.name, single, j, got[j], a)
				}
			}
			again := func() { // AllocsPerRun calls it twice: y is as before then
				y32[0] = -y32[0]
				err32 = narrow[i].ask(o32, got, name)
			}
			if n := testing.AllocsPerRun(1, again); err == nil && n > 0 {
				return fmt.Errorf("%s by vectors of float32 must allocate nothing; it allocates %g times", c.name, n)
			}
		}
	}
	return nil
}

// roundedTo32 rounds v to numbers of float32, and returns them as such.
func roundedTo32(v []float64) []float32 {
	to := make([]float32, len(v))
	linalg.Convert(to, v)
	linalg.Convert(v, to)
	return to
}

// allQuestions returns those of [questions], both gradients at once, and the Gauss-Newton product, which some models do not have.
func allQuestions[V dsbo.Float](x, y, v []V) []call[V] {
	p := len(x)
	return append(questions(x, y, v),
		call[V]{"∇f", p + len(y), func(o dsbo.OracleIn[V], dst []V, n dsbo.Sample) error { return o.UpperGrad(dst[:p], dst[p:], x, y, n) }},
		call[V]{"the Gauss-Newton product", len(y), func(o dsbo.OracleIn[V], dst []V, n dsbo.Sample) error {
			return testkit.Get(dsbo.OracleAs[dsbo.GaussNewtonOracleIn[V]](o, "Gauss-Newton products")).GaussNewton(dst, x, y, v, n)
		}})
}
