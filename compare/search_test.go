package compare

import (
	"slices"
	"strings"
	"testing"
)

// TestSearch: the lowest point of a bowl is found at all points and by a climb, with no more trials than allowed, and is at an edge
// where a better one may lie beyond it or was not tried.
func TestSearch(t *testing.T) {
	grid := Grid{{"a", strings.Fields("1 2 4 8 16")}, {"b", strings.Fields("0.1 1 10")}, {"c", []string{"word"}}}
	for _, tt := range []struct {
		name   string
		most   int
		center [2]int
		best   []int
		tried  int
		edges  []string
	}{
		{"all points", 0, [2]int{3, 1}, []int{3, 1, 0}, 15, nil},
		{"all points, at an end", 0, [2]int{9, 1}, []int{4, 1, 0}, 15, []string{"a"}},
		{"climb", 14, [2]int{3, 1}, []int{3, 1, 0}, 5, nil},
		{"climb to an end", 14, [2]int{2, -5}, []int{2, 0, 0}, 7, []string{"b"}},
		{"too few points", 2, [2]int{2, 0}, []int{2, 1, 0}, 2, []string{"a", "b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			measured := 0
			s := search{
				grid: grid, most: tt.most,
				try: func(points [][]int) { measured += len(points) },
				value: func(p []int) float64 {
					a, b := p[0]-tt.center[0], p[1]-tt.center[1]
					return float64(a*a + b*b)
				},
			}
			s.run()
			if !slices.Equal(s.best, tt.best) || measured != len(s.tried) || measured != tt.tried || !slices.Equal(s.edges(), tt.edges) {
				t.Errorf("best %v after %d points, edges %v; want %v, %d, %v", s.best, measured, s.edges(), tt.best, tt.tried, tt.edges)
			}
		})
	}
}

func TestOrdered(t *testing.T) {
	for values, want := range map[string]bool{"1 2 4": true, "1e-3 1e3": true, "0.1/L 1/L": true, "0.2*(1-k/K)": true, "ring star": false, "true false": false} {
		if got := (Axis{Values: strings.Fields(values)}).ordered(); got != want {
			t.Errorf("ordered(%s) = %t", values, got)
		}
	}
}
