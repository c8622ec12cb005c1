package algo

import (
	"dsbo"
	"dsbo/internal/linalg"
)

// A triple has a vector for each of x, y and z, end to end in one slice, which can be one message.
type triple struct {
	all     []float64
	x, y, z []float64 // views
}

// newTriple makes a triple for x of length p, and y and z of length q, all 0.
func newTriple(p, q int) triple {
	all := make([]float64, p+2*q)
	return triple{all, all[:p:p], all[p : p+q : p+q], all[p+q:]}
}

// descend subtracts alpha, beta and gamma times d's x, y and z.
func (v triple) descend(d triple, alpha, beta, gamma float64) {
	linalg.Axpy(v.x, -alpha, d.x)
	linalg.Axpy(v.y, -beta, d.y)
	linalg.Axpy(v.z, -gamma, d.z)
}

// addDifference adds a − b.
func (v triple) addDifference(a, b triple) {
	linalg.Add(v.all, v.all, a.all)
	linalg.Sub(v.all, v.all, b.all)
}

// A tripleState is the state of a method that moves x, y and z at once.
type tripleState struct {
	methodState
	point triple    // x, y and z
	b, j  []float64 // scratch
}

// prepare calls methodState.prepare, and lays out x, y and z as one triple, point.
func (s *tripleState) prepare(m stepper, p, q, K int, complete func(c *checker)) error {
	return s.methodState.prepare(m, p, q, K, func(c *checker) {
		s.point = newTriple(p, q)
		s.x, s.y, s.z = s.point.x, s.point.y, s.point.z
		s.named = []dsbo.Named{{Name: "x", Value: s.x}, {Name: "y", Value: s.y}, {Name: "z", Value: s.z}}
		s.scratch(q, &s.b)
		s.scratch(p, &s.j)
		complete(c)
	})
}

// newTriple makes a triple for the state's p and q, all 0.
func (s *tripleState) newTriple() triple { return newTriple(len(s.x), len(s.y)) }

// directionTriple makes a triple. Its x becomes u, the estimate of the hypergradient.
func (s *tripleState) directionTriple() triple {
	d := s.newTriple()
	s.u = d.x
	return d
}

// carriedTriple makes a triple and registers its parts in the state.
func (s *tripleState) carriedTriple(name string) triple {
	v := s.newTriple()
	s.named = append(s.named, dsbo.Named{Name: name + "_x", Value: v.x}, dsbo.Named{Name: name + "_y", Value: v.y},
		dsbo.Named{Name: name + "_z", Value: v.z})
	return v
}

// serverTraits are the traits of a method in which a server averages, whose steps of y and z count
// as often as an agent takes them between two averages.
func (s *tripleState) serverTraits(times float64) Traits {
	return s.traits(Traits{ExactAverage: true,
		Bounds: func(c Curvature) Curvature { return Curvature{L: c.L, Y: c.Y / times, Z: c.Z / times} }})
}

// tracksTriple is tracks for each part.
func (s *tripleState) tracksTriple(tracker, quantity triple) {
	s.tracks(tracker.x, quantity.x)
	s.tracks(tracker.y, quantity.y)
	s.tracks(tracker.z, quantity.z)
}

// trackedStep is (x, y, z) ← mix(x, y, z) − (α T_x, β T_y, γ T_z). Before, the tracker t becomes
// mix(t) + now − last, and last becomes now; with tracked false, as in the first iteration, t =
// last = now. message is scratch of two triples.
func (s *tripleState) trackedStep(w *Turn, tracked bool, t, last, now triple, message []float64) {
	if tracked {
		in := w.mixJoined(message, s.point.all, t.all)
		ofPoint := copy(s.point.all, in)
		track(t.all, in[ofPoint:], now.all, last.all)
	} else {
		copy(t.all, now.all)
		copy(last.all, now.all)
		w.Mix(s.point.all, s.point.all)
	}
	s.descend(t, w.k)
}

// descend moves x, y and z along d by the steps of iteration k.
func (s *tripleState) descend(d triple, k int) { s.point.descend(d, s.alpha(k), s.beta(k), s.gamma(k)) }

// directions sets d to the directions (∇_x f − J z, ∇_y g, Hz − b) at v.
func (s *tripleState) directions(w *Turn, d, v triple, on draws) {
	w.LowerGrad(d.y, v.x, v.y, on.lower)
	w.UpperGrad(d.x, s.b, v.x, v.y, on.upper)
	w.HVP(d.z, v.x, v.y, v.z, on.curvature)
	linalg.Sub(d.z, d.z, s.b)
	w.JVP(s.j, v.x, v.y, v.z, on.curvature)
	linalg.Sub(d.x, d.x, s.j)
}

// draws are the draws of a single-loop method: of ∇g, of H and J, and of ∇f.
type draws struct{ lower, curvature, upper dsbo.Sample }

// wholeDraws are no draws: all examples.
var wholeDraws = draws{allExamples, allExamples, allExamples}

// drawsOf returns the first draws of iteration k. They may be asked for at any point.
func drawsOf(k int) draws {
	return draws{dsbo.Sample{Set: dsbo.Lower, K: k}, dsbo.Sample{Set: dsbo.Curvature, K: k},
		dsbo.Sample{Set: dsbo.Upper, K: k}}
}
