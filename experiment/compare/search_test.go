package compare

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"dsbo/runs"
)

// TestSearch: the lowest point of a bowl is found at all points and by a climb, with no more trials
// than allowed, and is open where a better one may lie beyond it or was not tried.
func TestSearch(t *testing.T) {
	for _, tt := range []struct {
		name   string
		most   int
		center [2]int
		best   []int
		tried  int
		open   []int // axes
	}{
		{"all points", 0, [2]int{3, 1}, []int{3, 1}, 15, nil},
		{"all points, at an end", 0, [2]int{9, 1}, []int{4, 1}, 15, []int{0}},
		{"climb", 14, [2]int{3, 1}, []int{3, 1}, 5, nil},
		{"climb to the low end", 14, [2]int{2, -5}, []int{2, 0}, 7, []int{1}},
		{"climb to an end", 14, [2]int{2, 5}, []int{2, 2}, 6, []int{1}},
		{"too few points", 2, [2]int{2, 0}, []int{2, 1}, 2, []int{0, 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			measured := 0
			s := search{
				lengths: []int{5, 3}, start: []int{2, 1}, most: tt.most,
				try: func(points [][]int) { measured += len(points) },
				value: func(p []int) float64 {
					a, b := p[0]-tt.center[0], p[1]-tt.center[1]
					return float64(a*a + b*b)
				},
			}
			s.run()
			var open []int
			for axis := range s.lengths {
				if s.open(axis) {
					open = append(open, axis)
				}
			}
			if !slices.Equal(s.best, tt.best) || measured != len(s.tried) || measured != tt.tried ||
				!slices.Equal(open, tt.open) {
				t.Errorf("best %v after %d points, open %v; want %v, %d, %v", s.best, measured, open, tt.best,
					tt.tried, tt.open)
			}
		})
	}
}

// TestSearchWithoutValues: where runs diverge from the start on, a climb continues to the points
// nearest to it until one has a value, and from there to the best, within the same trials.
func TestSearchWithoutValues(t *testing.T) {
	for _, tt := range []struct {
		most, known, tried int
		best               int
	}{{8, 3, 7, 2}, {8, 8, 5, 3}, {4, 0, 4, 5}, {4, 2, 4, 5}} { // known: the points below have values
		s := search{lengths: []int{10}, start: []int{5}, most: tt.most, try: func([][]int) {},
			value: func(p []int) float64 {
				if p[0] >= tt.known {
					return math.NaN()
				}
				return math.Abs(float64(p[0] - 3))
			}}
		s.run()
		if len(s.tried) != tt.tried || s.best[0] != tt.best {
			t.Errorf("values below %d: best %v after %v; want %d after %d points", tt.known, s.best, s.tried, tt.best,
				tt.tried)
		}
	}
}

// TestValueOfPoint: the best point of a grid has the least mean over the seeds, as p is of means.
// By the median a step that helps one seed of three much, and harms two a little, is none.
func TestValueOfPoint(t *testing.T) {
	e := newEntry(method{Grid: grid{{"a", []string{"1", "2", "3"}}}})
	for point, ends := range map[string][]float64{"a=1": {5, 5, 5}, "a=2": {6, 6, 1}, "a=3": {0, 0, math.NaN()}} {
		for _, phi := range ends {
			e.points[point] = append(e.points[point],
				&trial{State: runs.Finished, Records: []runs.Record{{Phi: runs.Number(phi)}}})
		}
	}
	e.search = e.Method.Grid.search(0)
	e.search.try = func([][]int) {}
	e.search.value = func(p []int) float64 { return e.value(p, phi) }
	if e.search.run(); e.search.best[0] != 1 || e.value([]int{1}, phi) != 13.0/3 {
		t.Errorf("point %v is the best, and a=2 has %g; want a=2, by 13/3", e.search.best, e.value([]int{1}, phi))
	}
}

// TestDropInterrupted: points with an interrupted trial were not tried, but for the best.
func TestDropInterrupted(t *testing.T) {
	e := newEntry(method{Grid: grid{{Name: "c", Values: []string{"0", "1", "2", "3"}}}})
	done, broken := &trial{State: runs.Finished}, &trial{State: runs.Interrupted}
	for p, trials := range [][]*trial{{done, done}, {broken, broken}, {done, broken}, {done}} {
		e.points[e.Method.Grid.String([]int{p})] = trials
	}
	for best, want := range [][][]int{{{0}, {3}}, {{0}, {1}, {3}}, {{0}, {2}, {3}}} {
		e.search = &search{tried: [][]int{{0}, {1}, {2}, {3}}, best: []int{best}}
		if e.dropInterrupted(); !reflect.DeepEqual(e.search.tried, want) {
			t.Errorf("where %d is best, %v were tried, want %v", best, e.search.tried, want)
		}
	}
}
