package runs

import "testing"

// TestJoiningAdvice: where joining raises the loss of all sites together beyond chance there is an
// advice, unless it is followed already or cannot be.
func TestJoiningAdvice(t *testing.T) {
	linear := Assessment{Effects: &Effects{}}
	for name, c := range map[string]struct {
		change Number
		of     Assessment
		want   bool
	}{
		"worse": {.5, linear, true}, "within chance": {.1, linear, false}, "better": {-.5, linear, false},
		"levels":    {.5, Assessment{Effects: linear.Effects, Levels: true}, false},
		"a network": {.5, Assessment{}, false},
		"times":     {.5, Assessment{Effects: linear.Effects, Events: 9}, false},
	} {
		s := Summary{AllSites: &Site{Examples: 100, Change: c.change, ChangeError: .1}}
		if got := s.JoiningAdvice(c.of); (got != "") != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := new(Summary).JoiningAdvice(linear); got != "" {
		t.Errorf("of no sites: %q", got)
	}
}
