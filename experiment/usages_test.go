package experiment

import (
	"flag"
	"strings"
	"testing"

	"dsbo/internal/cli"
)

// TestUsages: settings.txt has the purpose of each flag of the settings, with programs' defaults.
func TestUsages(t *testing.T) {
	f := cli.NewFlags("dsbo", "", "")
	new(Settings).addFlags(f, presetsOf(Task{}))
	f.VisitAll(func(fl *flag.Flag) {
		if fl.Usage == "" || strings.Contains(fl.Usage, "{") {
			t.Errorf("-%s: %q", fl.Name, fl.Usage)
		}
	})
}
