package command

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"dsbo/internal/cli"
)

// isRange finds the least and the most of a plan's number.
var isRange = regexp.MustCompile(`[0-9]-[0-9]`)

// TestPlan: a plan is of a pilot, or has ranges where there is none; its own flag may be among the
// task's.
func TestPlan(t *testing.T) {
	skipShort(t, "the script of the verb has its forms")
	task := slices.Concat([]string{"synthetic", "-r=1", "-agents=3"}, small)
	for _, c := range []struct {
		args   []string
		says   string
		ranged bool
	}{
		{slices.Concat([]string{"plan"}, task), "A pilot on this machine had ", false},
		{slices.Concat([]string{"plan", "-pilot", "0"}, task),
			"What depends on what the run finds is a range.", true},
		{slices.Concat([]string{"plan"}, task, []string{"-pilot", "1ns"}),
			"A pilot did not end in 1ns (-pilot)", true},
	} {
		text := runCommand(t, c.args...)
		if joined := strings.Join(strings.Fields(text), " "); !strings.Contains(joined, c.says) ||
			isRange.MatchString(joined) != c.ranged {
			t.Errorf("%v: the plan must say %q, and have a range: %v:\n%s", c.args, c.says, c.ranged, text)
		}
	}
	_, err := command(t, slices.Concat([]string{"plan", "-pilot=-1s"}, task)...)
	wantError(t, err, cli.Usage, "-pilot must be at least 0; it is -1s")
}
