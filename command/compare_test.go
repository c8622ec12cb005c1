package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/experiment/compare"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
)

func TestCompareUsage(t *testing.T) {
	if help := runCommandHelp(t, "compare"); !strings.Contains(help, compare.Example) {
		t.Errorf("the help shows no spec:\n%s", help)
	}
	t.Chdir(t.TempDir()) // the default folder is not made inside a Go package, such as this one
	spec := filepath.Join(t.TempDir(), "spec.json")
	testkit.OK(os.WriteFile(spec, []byte(`{"tasks": ["synthetic"], "methods": ["newtoncg"], "seed": 1}`), 0o644))
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "one spec is required; there are 0"},
		{[]string{"-paper", spec}, "-paper takes the place of a spec"},
		{[]string{"absent.json"}, "open absent.json"},
		{[]string{spec}, spec + `: field "seed" is not known`},
		{[]string{"-processes=-1", "-paper"}, "processes must be at least 1"},
	} {
		_, err := command(t, append([]string{"compare"}, tt.args...)...)
		wantError(t, err, cli.Usage, tt.want)
	}
}

// runCommandHelp returns the help of a verb.
func runCommandHelp(t *testing.T, verb string) string {
	t.Helper()
	text, _ := command(t, verb, "-h") // flag.ErrHelp
	return text
}
