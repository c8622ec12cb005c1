package compare

import (
	"math"
	"slices"
)

// A search looks for the lowest point of a grid, a place on each axis: at all points, or by a
// number of steps to better neighbours.
type search struct {
	lengths []int                     // places on each axis, at least 1
	start   []int                     // where steps begin
	most    int                       // points that may be tried; 0: all
	try     func(points [][]int)      // measures points, as many at once as can be
	value   func(point []int) float64 // of a point tried; lower is better, NaN is not comparable

	tried [][]int // in their order
	best  []int   // of those that were tried
}

// run tries all points, or at most a number of points by steps from the start, and finds the best.
// Steps go along each axis in turn to the best point's neighbour above and below, and on the same
// way while that is better, until no neighbour of the best point is left. Where the start has no
// value, such as where runs diverge, they begin at the nearest point that has one.
func (s *search) run() {
	all := [][]int{nil}
	for _, length := range s.lengths { // the last axis changes first
		var longer [][]int
		for _, p := range all {
			for at := range length {
				longer = append(longer, append(slices.Clip(p), at))
			}
		}
		if all = longer; s.most > 0 && len(all) > s.most {
			s.climb()
			return
		}
	}
	s.visit(all...)
}

// climb moves along one axis at a time, as long as a neighbour is better, until no neighbour is.
func (s *search) climb() {
	for moved := s.begin(); moved; {
		moved = false
		for axis := range s.lengths {
			for _, way := range []int{1, -1} {
				for {
					if next := s.neighbour(s.best, axis, way); !s.isNew(next) || !s.visit(next) {
						break
					}
					moved = true
				}
			}
		}
	}
}

// begin tries the start, and around it the points nearest to it until one has a value: neighbours
// of the points tried so far, first to last, which is breadth first. false: no point that may be
// tried has a value.
func (s *search) begin() (known bool) {
	s.visit(s.start)
	for i := 0; i < len(s.tried); i++ { // visit makes the list longer
		for axis := range s.lengths {
			for _, way := range []int{-1, 1} {
				if !math.IsNaN(s.value(s.best)) {
					return true
				}
				if next := s.neighbour(s.tried[i], axis, way); s.isNew(next) {
					s.visit(next)
				}
			}
		}
	}
	return false
}

// visit tries points, and reports whether one of them is the best one now: it has a lower value, or
// the first value at all. If they are more than may still be tried it tries none of them.
func (s *search) visit(points ...[]int) (moved bool) {
	if s.most > 0 && len(s.tried)+len(points) > s.most {
		return false
	}
	s.tried = append(s.tried, points...)
	s.try(points)
	for _, p := range points {
		if s.best == nil {
			s.best, moved = p, true
		}
		if v, best := s.value(p), s.value(s.best); v < best || !math.IsNaN(v) && math.IsNaN(best) {
			s.best, moved = p, true
		}
	}
	return moved
}

// neighbour returns a point's neighbour on an axis; nil where the axis ends.
func (s *search) neighbour(point []int, axis, way int) []int {
	next := slices.Clone(point)
	next[axis] += way
	if next[axis] < 0 || next[axis] == s.lengths[axis] {
		return nil
	}
	return next
}

// isNew reports whether there is a point that was not tried.
func (s *search) isNew(point []int) bool {
	return point != nil && !slices.ContainsFunc(s.tried, func(p []int) bool { return slices.Equal(p, point) })
}

// open reports whether points may be better than the best one along an axis: where a neighbour was
// not tried, and beyond the axis' least and largest place.
func (s *search) open(axis int) bool {
	return slices.ContainsFunc([]int{-1, 1}, func(way int) bool {
		next := s.neighbour(s.best, axis, way)
		return next == nil || s.isNew(next)
	})
}
