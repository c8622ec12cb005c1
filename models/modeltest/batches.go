package modeltest

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// copies compares the gradient g of a loss on some examples with g₂ and g₃, where each example
// occurs twice and three times. For a mean over the examples plus terms without them, the three are
// equal; for a sum they are equally spaced. In both cases g₃ - 2g₂ + g is 0. For an average over
// pairs of unlike examples, or the variance with one degree of freedom less, the gradients differ
// by about 1/rows, and g₃ - 2g₂ + g is a third of that. A loss that is divided once too often by
// the rows has g/3, and one multiplied by them 2g.
func (s *subject) copies() error {
	for _, l := range s.sides() {
		rows := (l.on.Len() + 1) / 2 // half of them, as they occur up to three times
		if rows < 4 {                // 1/rows would allow too much
			continue
		}
		x, y, _ := s.point()
		dx, dy, scaleX, scaleY := make([]float64, s.p), make([]float64, s.q), 0., 0.
		gx, gy := make([]float64, s.p), make([]float64, s.q)
		for k, weight := range []float64{1, -2, 1} {
			list := make([]int, (k+1)*rows)
			for i := range list {
				list[i] = i % rows
			}
			testkit.OK(s.differentiate(l, pickRows(l.on, list), false).Grad(gx, gy, x, y))
			linalg.Axpy(dx, weight, gx)
			linalg.Axpy(dy, weight, gy)
			scaleX, scaleY = max(scaleX, linalg.Norm(gx)), max(scaleY, linalg.Norm(gy))
		}
		for _, g := range []struct {
			name        string
			off, allows float64
		}{{"∇_x", linalg.Norm(dx), scaleX / float64(rows)}, {"∇_y", linalg.Norm(dy), scaleY / float64(rows)}} {
			if g.off > g.allows {
				return fmt.Errorf(
					"the %s is neither a mean nor a sum over its examples: with each once, twice and three times, "+
						"%[2]s − 2%[2]s₂ + %[2]s₃ has norm %.3[3]g; allowed is %.3[4]g", l.name, g.name,
					g.off, g.allows)
			}
		}
	}
	return nil
}

// leaks returns an error if a loss is neither a sum nor a mean of terms of single examples, and the
// model is not marked as [models.Batched] or joint: an example has leaked into another example's
// loss, such as through attention over the batch in place of a sequence.
func (s *subject) leaks() error {
	if _, ok := s.m.(models.Batched); ok || s.joint() {
		return nil
	}
	x, y, _ := s.point()
	for _, l := range s.sides() {
		if !s.separates(l, x, y) {
			return fmt.Errorf(
				"the %s of an example depends on the others of its batch: where that is meant, as with statistics of "+
					"the batch, "+
					"the model must be a models.Batched", l.name)
		}
	}
	return nil
}

// joint reports whether the model has a loss of all examples together, by its own word.
func (s *subject) joint() bool {
	joint, ok := s.m.(models.Joint)
	return ok && joint.Joint()
}

// separates reports whether a loss is a sum or a mean of terms of single examples. It compares the
// values on a third of the examples joined with either of the other thirds, and on these alone.
// Differences between two y cancel terms without examples, and terms without y.
func (s *subject) separates(l side, x, y []float64) bool {
	third, size := l.on.Len()/3, 0.0
	if third == 0 {
		return true
	}
	_, other, _ := s.point()
	value := func(parts ...int) float64 {
		var rows []int
		for _, part := range parts {
			for i := range third {
				rows = append(rows, part*third+i)
			}
		}
		d := s.differentiate(l, pickRows(l.on, rows), false)
		at, elsewhere := testkit.Get(d.Value(x, y)), testkit.Get(d.Value(x, other))
		size = max(size, math.Abs(at), math.Abs(elsewhere))
		return at - elsewhere
	}
	beside, alone := value(0, 1)-value(0, 2), value(1)-value(2)
	return min(math.Abs(beside-alone), math.Abs(beside-alone/2)) <= 1e-10*size
}

// bounded follows the lower loss along rays: along two random directions, of its steepest descent
// and, where q is small, of its least curvature. A loss that falls for ever at least in proportion
// to the way has no minimum. Ways are 1 to 10⁷ long: of such a loss the last tenfold way falls ten
// times as much as the one before, of which half is required, by more than the loss at the start.
// All directions are as long as a random one, √q.
func (s *subject) bounded() error {
	o := s.oracle(models.Config{})
	x, y, v := s.point()
	w, down := s.normal(s.q, 1), make([]float64, s.q)
	testkit.OK(o.LowerGrad(down, x, y, whole))
	linalg.Scale(down, -math.Sqrt(float64(s.q))/max(linalg.Norm(down), 1e-300), down)
	type ray struct {
		name string
		dir  []float64
	}
	rays := []ray{{"a random direction", v}, {"a random direction", w}, {"its steepest descent", down}}
	if s.q <= denseLimit {
		least, opposite := s.leastCurved(o, x, y), make([]float64, s.q)
		linalg.Scale(opposite, -1, least)
		rays = append(rays, ray{"its least curvature", least}, ray{"its least curvature", opposite})
	}
	at := make([]float64, s.q)
	for _, ray := range rays {
		var values []float64
		for far := 1.; far <= 1e7; far *= 10 {
			linalg.Comb(at, 1, y, far, ray.dir)
			_, lower := testkit.Get2(o.Values(x, at, whole))
			values = append(values, lower)
		}
		n := len(values)
		fall, next := values[n-3]-values[n-2], values[n-2]-values[n-1]
		isInProportion := fall > 0 && next > 5*fall && !math.IsInf(next, 0)
		if isInProportion && fall > math.Abs(values[0]) && slices.Min(values) == values[n-1] {
			return fmt.Errorf(
				"the lower loss falls without bound along %s: it is %.3g, %.3g, %.3g after 10⁵, 10⁶, 10⁷ steps",
				ray.name, values[n-3], values[n-2], values[n-1])
		}
	}
	return nil
}

// leastCurved returns the eigenvector of the lower loss's smallest curvature, scaled to a random
// vector's length.
func (s *subject) leastCurved(o *models.Oracle, x, y []float64) []float64 {
	var vectors mat.Dense
	eigen(s, o, x, y, whole, true).VectorsTo(&vectors)
	dir := mat.Col(nil, 0, &vectors)
	linalg.Scale(dir, math.Sqrt(float64(s.q)), dir)
	return dir
}
