package compare

import (
	"slices"
	"strings"
	"testing"

	"dsbo/internal/testkit"
)

// TestTraffic: counts equal formulas, and a wrong formula is found.
func TestTraffic(t *testing.T) {
	for _, e := range entrants() {
		testkit.OK(e.measure(t.Context(), 7, 3, 1))
		right := e.traffic
		e.traffic = func(d int) int { return right(d) + 1 }
		if err := e.measure(t.Context(), 7, 3, 1); err == nil || !strings.Contains(err.Error(), "the table's") {
			t.Errorf("%s with a wrong formula: %v", e.method, err)
		}
	}
}

// TestTrafficGrows: matrices grow with the square of the dimension and vectors with the dimension,
// and a method that grows otherwise than its formula is found.
func TestTrafficGrows(t *testing.T) {
	dims, rows := []float64{10, 20}, entrants()
	for i := range rows {
		for _, d := range dims {
			testkit.OK(rows[i].measure(t.Context(), int(d), 2, 1))
		}
	}
	i := slices.IndexFunc(rows, func(e entrant) bool { return e.method == "jhip" })
	if !trafficGrows(rows, dims) || len(rows[i].ms) != 2 || rows[i].calls == "" {
		t.Errorf("the traffic does not grow as it must: %+v", rows)
	}
	if rows[i].growth = 1; trafficGrows(rows, dims) {
		t.Error("an exponent of 2 passes for 1")
	}
}
