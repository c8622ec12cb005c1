package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo/internal/cli"
	"dsbo/internal/must"
)

// TestClimb: the search finds the lowest point of a bowl, knows whether it may end there, and makes no more trials than allowed.
func TestClimb(t *testing.T) {
	for _, c := range []struct {
		name   string
		most   int
		center [2]int
		want   []int
		open   []string
	}{
		{"inside", 50, [2]int{3, 1}, []int{3, 1}, nil},
		{"at an end", 50, [2]int{9, 1}, []int{4, 1}, []string{"a"}},
		{"at an end of what has a meaning", 50, [2]int{2, -5}, []int{2, 0}, nil},
		{"too few trials", 2, [2]int{2, 0}, []int{1, 0}, []string{"a", "b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			search := climb{
				ladders: []ladder{{name: "a", values: powers(1, 2, 5)}, {name: "b", values: powers(1, 2, 3), low: true}}, most: c.most,
				value: func(p []int) float64 {
					a, b := p[0]-c.center[0], p[1]-c.center[1]
					return float64(a*a + b*b)
				},
			}
			search.run()
			if !slices.Equal(search.best.point, c.want) || !slices.Equal(search.open(), c.open) || len(search.tried) > c.most {
				t.Errorf("best %v, open %v after %d trials; want %v, %v and at most %d",
					search.best.point, search.open(), len(search.tried), c.want, c.open, c.most)
			}
		})
	}
}

// TestQuick: the whole comparison runs on small tasks, prints a table of all methods for each, and draws its figure.
func TestQuick(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	args := []string{"-quick", "-figures", dir}
	if testing.Short() {
		args = append(args, "-only=mnist")
	}
	must.OK(command(t.Context(), args, &out, &out))
	for _, method := range []string{"newtoncg", "madsbo_tuned", "sparkle ed", "sparkle gt", "dsoba"} {
		if !strings.Contains(out.String(), "| "+method+" ") {
			t.Errorf("no table has a row of %s:\n%s", method, &out)
		}
	}
	svg := must.Get(os.ReadFile(filepath.Join(dir, "choice.svg")))
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
