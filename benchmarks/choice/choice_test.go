package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.SmallRuns()
	testkit.InMemory()
	m.Run()
}

// TestQuick: the whole comparison runs on small tasks, prints a table of all methods for each, and draws its figure.
func TestQuick(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every method several times")
	}
	dir := t.TempDir()
	var out bytes.Buffer
	testkit.OK(command(t.Context(), []string{"-quick", "-figures", dir}, &out, &out))
	for _, method := range []string{"newtoncg", "madsbo_tuned", "sparkle ed", "sparkle gt", "dsoba"} {
		if !strings.Contains(out.String(), "| "+method+" ") {
			t.Errorf("no table has a row of %s:\n%s", method, &out)
		}
	}
	svg := testkit.Get(os.ReadFile(filepath.Join(dir, "choice.svg")))
	if !bytes.Contains(svg, []byte("oracle calls of an agent")) {
		t.Error("the figure has no axis of oracle calls")
	}
}

func TestFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"-h"}, cli.OK, "-trials"},
		{[]string{"-only=rain"}, cli.Usage, `"rain" is none of them`},
		{[]string{"-calls=5"}, cli.Usage, "-calls must be at least 100"},
	} {
		var out bytes.Buffer
		err := command(t.Context(), c.args, &out, &out)
		text := out.String()
		if err != nil {
			text += cli.OneLine(err)
		}
		if cli.Code(err) != c.code || !strings.Contains(text, c.says) {
			t.Errorf("%q ends with %d and says %s; want %d and %s", c.args, cli.Code(err), text, c.code, c.says)
		}
	}
}
