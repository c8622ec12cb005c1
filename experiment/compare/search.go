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

// run finds the best point. It tries all points if they are at most s.most; otherwise it climbs:
// from the start, or, if that has no value because runs diverge, from the nearest point with one,
// it moves along each axis in turn, up and down, as long as that improves, until no neighbour of
// the best point is better or untried, or s.most points were tried.
func (s *search) run() {
	all := [][]int{nil}
	for _, length := range s.lengths { // the Cartesian product, the last axis fastest
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

// begin tries the start and then points around it, breadth first, until one has a value. It returns
// false if none has, among the points that may be tried.
func (s *search) begin() (known bool) {
	s.visit(s.start)
	for i := 0; i < len(s.tried); i++ { // visit appends to s.tried, the queue
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

// visit tries points and reports whether the best point has changed. A point is better if its value
// is lower, or if the best one has no value. If fewer points may still be tried, it tries none.
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
