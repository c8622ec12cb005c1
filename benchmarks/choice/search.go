package main

import "slices"

// A climb is a search over a grid, from the starts of its ladders, for the point with the lowest value.
type climb struct {
	ladders []ladder
	most    int // trials
	value   func(point []int) float64

	tried []tried
	best  tried
}

// tried is a point of the grid, as an index into each ladder, with its value.
type tried struct {
	point []int
	value float64
}

// run tries the start, and then in turn each ladder's rung above and below that of the best point, going on the same way while the
// value falls. It ends when no neighbour of the best point is left to try, or after the most trials.
func (c *climb) run() {
	start := make([]int, len(c.ladders))
	for i, l := range c.ladders {
		start[i] = l.start
	}
	c.best = c.try(start)
	for moved := true; moved; {
		moved = false
		for i := range c.ladders {
			for _, way := range []int{1, -1} {
				for c.step(i, way) {
					moved = true
				}
			}
		}
	}
}

// step tries the best point's neighbour in ladder i, and reports whether it is the best one now.
func (c *climb) step(i, way int) bool {
	next := c.neighbour(i, way)
	if next == nil || c.seen(next) || len(c.tried) == c.most {
		return false
	}
	t := c.try(next)
	if !(t.value < c.best.value) {
		return false
	}
	c.best = t
	return true
}

// neighbour returns the best point's neighbour in ladder i; nil where the ladder ends.
func (c *climb) neighbour(i, way int) []int {
	next := slices.Clone(c.best.point)
	next[i] += way
	if next[i] < 0 || next[i] == len(c.ladders[i].values) {
		return nil
	}
	return next
}

func (c *climb) seen(point []int) bool {
	return slices.ContainsFunc(c.tried, func(t tried) bool { return slices.Equal(t.point, point) })
}

func (c *climb) try(point []int) tried {
	t := tried{point, c.value(point)}
	c.tried = append(c.tried, t)
	return t
}

// open names the parameters in which the best point may not be the best: those with a neighbour that was not tried, and those in
// which it is at an end of the ladder beyond which there is more.
func (c *climb) open() (names []string) {
	for i, l := range c.ladders {
		up, down := c.neighbour(i, 1), c.neighbour(i, -1)
		if up == nil && !l.high || down == nil && !l.low || up != nil && !c.seen(up) || down != nil && !c.seen(down) {
			names = append(names, l.name)
		}
	}
	return names
}
