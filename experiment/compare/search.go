// A Search looks for the lowest point of a grid: at all of its points, or by a number of steps to
// better neighbours.

package compare

import "slices"

// A Search is one over a grid, whose points are a place on each axis.
type Search struct {
	Lengths []int                     // places on each axis, at least 1
	Start   []int                     // where steps begin
	Most    int                       // points that may be tried; 0: all
	Try     func(points [][]int)      // measures points, as many at once as can be
	Value   func(point []int) float64 // of one that was tried; lower is better, NaN is not comparable

	Tried [][]int // in their order
	Best  []int   // of those that were tried
}

// Run tries all points, or at most a number of points by steps from the start, and finds the best.
func (s *Search) Run() {
	n := 1
	for _, length := range s.Lengths {
		if n *= length; s.Most > 0 && n > s.Most {
			s.climb()
			return
		}
	}
	for i := range n {
		s.Tried = append(s.Tried, s.point(i))
	}
	s.Try(s.Tried)
	s.Best = s.Tried[0]
	for _, p := range s.Tried[1:] {
		if s.better(p) {
			s.Best = p
		}
	}
}

// point returns point i of all; the last axis changes first.
func (s *Search) point(i int) []int {
	p := make([]int, len(s.Lengths))
	for axis := len(p) - 1; axis >= 0; axis-- {
		p[axis], i = i%s.Lengths[axis], i/s.Lengths[axis]
	}
	return p
}

// climb tries the start, and then along each axis in turn the best point's neighbour above and
// below, going on the same way while that is better. It ends when no neighbour of the best point is
// left to try, or after the most points.
func (s *Search) climb() {
	s.Best = s.Start
	s.Tried = [][]int{s.Best}
	s.Try(s.Tried)
	for moved := true; moved; {
		moved = false
		for axis := range s.Lengths {
			for _, way := range []int{1, -1} {
				for s.step(axis, way) {
					moved = true
				}
			}
		}
	}
}

// step tries the best point's neighbour on an axis, and reports whether it is the best one now.
func (s *Search) step(axis, way int) bool {
	next := s.neighbour(axis, way)
	if next == nil || s.isTried(next) || len(s.Tried) == s.Most {
		return false
	}
	s.Tried = append(s.Tried, next)
	s.Try([][]int{next})
	if !s.better(next) {
		return false
	}
	s.Best = next
	return true
}

// better reports whether a point has a lower value than the best one, or the first value at all.
func (s *Search) better(point []int) bool {
	v, best := s.Value(point), s.Value(s.Best)
	return v < best || v == v && best != best
}

// neighbour returns the best point's neighbour on an axis; nil where the axis ends.
func (s *Search) neighbour(axis, way int) []int {
	next := slices.Clone(s.Best)
	next[axis] += way
	if next[axis] < 0 || next[axis] == s.Lengths[axis] {
		return nil
	}
	return next
}

func (s *Search) isTried(point []int) bool {
	return slices.ContainsFunc(s.Tried, func(p []int) bool { return slices.Equal(p, point) })
}

// Open reports whether points may be better than the best one along an axis: where a neighbour was
// not tried, and beyond the axis' least and largest place.
func (s *Search) Open(axis int) bool {
	return slices.ContainsFunc([]int{-1, 1}, func(way int) bool {
		next := s.neighbour(axis, way)
		return next == nil || !s.isTried(next)
	})
}
