package compare

import "slices"

// A search looks for the lowest point of a grid: at all of its points, or from its middle by so many steps to better neighbours.
type search struct {
	grid  Grid
	most  int                       // points that it may try; 0: all
	try   func(points [][]int)      // measures points, as many at once as can be
	value func(point []int) float64 // of one that was tried; lower is better, NaN is not comparable

	tried [][]int
	best  []int
}

// run tries points and finds the best.
func (s *search) run() {
	if n := s.grid.points(); s.most == 0 || s.most >= n {
		for i := range n {
			s.tried = append(s.tried, s.grid.point(i))
		}
		s.try(s.tried)
		s.best = s.tried[0]
		for _, p := range s.tried[1:] {
			if s.better(p) {
				s.best = p
			}
		}
		return
	}
	s.climb()
}

// climb tries the middle, and then along each axis in turn the best point's neighbour above and below, going on the same way while
// that is better. It ends when no neighbour of the best point is left to try, or after the most points.
func (s *search) climb() {
	s.best = make([]int, len(s.grid))
	for i, a := range s.grid {
		s.best[i] = len(a.Values) / 2
	}
	s.tried = [][]int{s.best}
	s.try(s.tried)
	for moved := true; moved; {
		moved = false
		for axis := range s.grid {
			for _, way := range []int{1, -1} {
				for s.step(axis, way) {
					moved = true
				}
			}
		}
	}
}

// step tries the best point's neighbour on an axis, and reports whether it is the best one now.
func (s *search) step(axis, way int) bool {
	next := s.neighbour(axis, way)
	if next == nil || s.isTried(next) || len(s.tried) == s.most {
		return false
	}
	s.tried = append(s.tried, next)
	s.try([][]int{next})
	if !s.better(next) {
		return false
	}
	s.best = next
	return true
}

// better reports whether a point has a lower value than the best one, or the first value at all.
func (s *search) better(point []int) bool {
	v, best := s.value(point), s.value(s.best)
	return v < best || v == v && best != best
}

// neighbour returns the best point's neighbour on an axis; nil where the axis ends.
func (s *search) neighbour(axis, way int) []int {
	next := slices.Clone(s.best)
	next[axis] += way
	if next[axis] < 0 || next[axis] == len(s.grid[axis].Values) {
		return nil
	}
	return next
}

func (s *search) isTried(point []int) bool {
	return slices.ContainsFunc(s.tried, func(p []int) bool { return slices.Equal(p, point) })
}

// edges names the parameters in which there may be better values than the best point's: those in which it is the least or the
// largest of the grid, and those with a neighbour that was not tried. An axis of one value, or of words, has no edge.
func (s *search) edges() (names []string) {
	for i, a := range s.grid {
		if len(a.Values) == 1 || !a.ordered() {
			continue
		}
		up, down := s.neighbour(i, 1), s.neighbour(i, -1)
		if up == nil || down == nil || !s.isTried(up) || !s.isTried(down) {
			names = append(names, a.Name)
		}
	}
	return names
}
