package command

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dsbo/experiment"
	"dsbo/internal/testkit"
)

// TestFirstPages: the help of each verb fits on a page, which shows at most ten flags; -h all has
// these and all others.
func TestFirstPages(t *testing.T) {
	const lines, most = 55, 10
	name := regexp.MustCompile(`(?m)^  (-\S+)`)
	flags := func(help string) (names []string) {
		for _, m := range name.FindAllStringSubmatch(help, -1) {
			names = append(names, m[1])
		}
		return names
	}
	p := testProgram()
	for _, v := range p.verbs {
		for _, args := range [][]string{{v.name}, {v.name, "-cluster=absent"}} {
			if len(args) == 2 && !slices.Contains(p.taskNames(), v.name) {
				continue
			}
			first, _ := command(t, append(args, "-h")...)
			all, _ := command(t, append(args, "-h", "all")...)
			shown, known := flags(first), flags(all)
			if n := strings.Count(first, "\n"); n > lines || len(shown) > most {
				t.Errorf("%q -h: %d lines with %d flags, want at most %d with %d", args, n, len(shown), lines, most)
			}
			for _, f := range shown {
				if !slices.Contains(known, f) {
					t.Errorf("%q -h: %s, which -h all has not: %v", args, f, known)
				}
			}
			for _, f := range []string{"-gamma", "-curvature", "-membership"} {
				if len(shown) < len(known) && slices.Contains(shown, f) {
					t.Errorf("%q -h: %s is on the first page", args, f)
				}
			}
			if cut := len(shown) < len(known); cut != strings.Contains(first, " -h all explains all flags") {
				t.Errorf("%q -h shows %d of %d flags, and says that there are more: %t", args, len(shown),
					len(known), !cut)
			}
			if len(args) == 1 && v.name != "help" {
				if got := runCommand(t, "help", v.name, "all"); got != all {
					t.Errorf("help %s all: %d bytes, want the %d of -h all", v.name, len(got), len(all))
				}
			}
		}
	}
}

// TestUsages: each flag that a verb adds has a usage.
func TestUsages(t *testing.T) {
	usages, flag := "", regexp.MustCompile(`"([a-zA-Z-]+)": +&|f\.(?:String|Func)\("([a-z-]+)"`)
	for _, path := range testkit.Get(fs.Glob(helpFiles, "help/*.txt")) {
		usages += string(testkit.Get(helpFiles.ReadFile(path)))
	}
	for _, path := range testkit.Get(filepath.Glob("*.go")) {
		for _, m := range flag.FindAllStringSubmatch(string(testkit.Get(os.ReadFile(path))), -1) {
			if name := m[1] + m[2]; !strings.HasSuffix(path, "_test.go") &&
				!strings.Contains(usages, "\n  -"+name+"  ") {
				t.Errorf("%s: the flag -%s has no usage", path, name)
			}
		}
	}
}

// TestExamples: the command line that the help of a task shows can be parsed.
func TestExamples(t *testing.T) {
	for _, task := range testProgram().tasks {
		help := runCommand(t, task.Name, "-h")
		_, line, _ := strings.Cut(help, "\nExample\n  dsbo "+task.Name)
		line, _, _ = strings.Cut(line, "\n")
		testkit.Get(experiment.Parse(task, strings.Fields(strings.ReplaceAll(line, "'", "")), io.Discard))
	}
}
