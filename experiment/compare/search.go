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
	Value   func(point []int) float64 // of a point tried; lower is better, NaN is not comparable

	Tried [][]int // in their order
	Best  []int   // of those that were tried
}

// Run tries all points, or at most a number of points by steps from the start, and finds the best.
// Steps go along each axis in turn to the best point's neighbour above and below, and on the same
// way while that is better, until no neighbour of the best point is left. Where the start has no
// value, such as where runs diverge, they begin at the nearest point that has one.
func (s *Search) Run() {
	all := [][]int{nil}
	for _, length := range s.Lengths { // the last axis changes first
		var longer [][]int
		for _, p := range all {
			for at := range length {
				longer = append(longer, append(slices.Clip(p), at))
			}
		}
		if all = longer; s.Most > 0 && len(all) > s.Most {
			s.climb()
			return
		}
	}
	s.visit(all...)
}

// climb moves along one axis at a time, as long as a neighbour is better, until no neighbour is.
func (s *Search) climb() {
	for moved := s.begin(); moved; {
		moved = false
		for axis := range s.Lengths {
			for _, way := range []int{1, -1} {
				for {
					if next := s.neighbour(s.Best, axis, way); !s.isNew(next) || !s.visit(next) {
						break
					}
					moved = true
				}
			}
		}
	}
}

// begin tries the start, and around it the points nearest to it until one has a value.
func (s *Search) begin() (known bool) {
	s.visit(s.Start)
	for i := 0; i < len(s.Tried); i++ {
		for axis := range s.Lengths {
			for _, way := range []int{-1, 1} {
				if v := s.Value(s.Best); v == v {
					return true
				}
				if next := s.neighbour(s.Tried[i], axis, way); s.isNew(next) {
					s.visit(next)
				}
			}
		}
	}
	return false
}

// visit tries points, and reports whether one of them is the best one now: it has a lower value, or
// the first value at all. It tries none beyond the most.
func (s *Search) visit(points ...[]int) (moved bool) {
	if s.Most > 0 && len(s.Tried)+len(points) > s.Most {
		return false
	}
	s.Tried = append(s.Tried, points...)
	s.Try(points)
	for _, p := range points {
		if s.Best == nil {
			s.Best, moved = p, true
		}
		if v, best := s.Value(p), s.Value(s.Best); v < best || v == v && best != best {
			s.Best, moved = p, true
		}
	}
	return moved
}

// neighbour returns a point's neighbour on an axis; nil where the axis ends.
func (s *Search) neighbour(point []int, axis, way int) []int {
	next := slices.Clone(point)
	next[axis] += way
	if next[axis] < 0 || next[axis] == s.Lengths[axis] {
		return nil
	}
	return next
}

// isNew reports whether there is a point that was not tried.
func (s *Search) isNew(point []int) bool {
	return point != nil && !slices.ContainsFunc(s.Tried, func(p []int) bool { return slices.Equal(p, point) })
}

// Open reports whether points may be better than the best one along an axis: where a neighbour was
// not tried, and beyond the axis' least and largest place.
func (s *Search) Open(axis int) bool {
	return slices.ContainsFunc([]int{-1, 1}, func(way int) bool {
		next := s.neighbour(s.Best, axis, way)
		return next == nil || s.isNew(next)
	})
}
