package compare

import (
	"slices"
	"strings"
	"testing"
)

// TestEdges: an axis has an edge where the best value is at its end or has a neighbour that was not
// tried, unless it has one value or words.
func TestEdges(t *testing.T) {
	grid := grid{{"a", strings.Fields("1 2 4 8 16")}, {"b", strings.Fields("0.1 1 10")}, {"c", []string{"word"}},
		{"d", strings.Fields("ring star path")}}
	s := grid.search(0)
	if want := []int{2, 1, 0, 1}; !slices.Equal(s.start, want) {
		t.Errorf("the middle is %v, want %v", s.start, want)
	}
	s.best = []int{4, 1, 0, 0}
	s.tried = [][]int{s.best, {3, 1, 0, 0}, {4, 0, 0, 0}, {4, 2, 0, 0}}
	if got := grid.edges(s); !slices.Equal(got, []string{"a"}) {
		t.Errorf("edges %v, want a", got)
	}
	s.tried = s.tried[:3]
	if got := grid.edges(s); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("edges %v, want a and b", got)
	}
}

// TestPoints: the points of a grid are counted to one above what a comparison may have.
func TestPoints(t *testing.T) {
	for n, want := range map[int]int{1: 1, 316: 316 * 316, 317: maxRuns + 1, 1 << 32: maxRuns + 1} {
		values := make([]string, min(n, 1<<16))
		g := grid{{"a", values}, {"b", values}}
		if n > len(values) {
			g = append(g, g...)
		}
		if got := g.points(); got != want {
			t.Errorf("%d values twice: %d points, want %d", n, got, want)
		}
	}
}

func TestOrdered(t *testing.T) {
	for values, want := range map[string]bool{"1 2 4": true, "1e-3 1e3": true, "0.1/L 1/L": true, "0.2*(1-k/K)": true,
		"ring star": false, "true false": false} {
		if got := (axis{Values: strings.Fields(values)}).ordered(); got != want {
			t.Errorf("ordered(%s) = %t", values, got)
		}
	}
}
