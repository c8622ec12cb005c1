package compare

import (
	"strings"
	"testing"

	"dsbo/internal/testkit"
)

// TestTraffic: counts equal formulas, and a wrong formula is found.
func TestTraffic(t *testing.T) {
	for _, r := range rows1 {
		if calls, _, err := r.measure(t.Context(), 7, 3, 1); err != nil || !strings.Contains(calls, "∇g") {
			t.Errorf("%s: %q, %v", r.method, calls, err)
		}
		r.linear++
		if _, _, err := r.measure(t.Context(), 7, 3, 1); err == nil || !strings.Contains(err.Error(), "the table's") {
			t.Errorf("%s with a wrong formula: %v", r.method, err)
		}
	}
	if p := testkit.Get(tableOne(t.Context(), true)); p.Answers[1].Word != "yes" || len(p.Table) != 1+len(rows1) {
		t.Errorf("%+v", p)
	}
}
