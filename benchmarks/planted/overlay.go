package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A planter builds and tests the module as if some of its files had other texts, and changes none:
// the go command reads the other texts from an overlay. So what a bug does not touch comes from the
// build cache.
type planter struct {
	root   string        // of the module
	folder string        // of the overlay
	limit  time.Duration // of the tests of a package
}

// newPlanter returns one for the module of the current folder. The caller closes it.
func newPlanter(ctx context.Context, limit time.Duration) (*planter, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m: %w", err)
	}
	folder, err := os.MkdirTemp("", "planted")
	return &planter{strings.TrimSpace(string(out)), folder, limit}, err
}

// close removes the overlay.
func (p *planter) close() { _ = os.RemoveAll(p.folder) }

// plant writes the overlay of a bug and returns its name.
func (p *planter) plant(b bug) (overlay string, err error) {
	files, err := b.plantedFiles(p.root)
	if err != nil {
		return "", err
	}
	var list struct{ Replace map[string]string }
	list.Replace = map[string]string{}
	for name, text := range files {
		path := filepath.Join(p.folder, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return "", err
		}
		list.Replace[filepath.Join(p.root, name)] = path
	}
	text, err := json.Marshal(list)
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(p.folder, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}

// A finding is how a bug was found.
type finding struct {
	by   string // the package and its test; "" if none
	took string // by that test, in seconds, if it ended
}

// failureOf plants a bug and runs its test.
func (p *planter) failureOf(ctx context.Context, b bug) (found finding, err error) {
	overlay, err := p.plant(b)
	if err != nil {
		return found, err
	}
	folder, name := folderOf(b.test)
	out, err := p.test(ctx, testsOf(folder, name), "GOFLAGS=-overlay="+overlay) // of programs that tests build too
	switch {
	case ctx.Err() != nil:
		return found, ctx.Err()
	case err == nil:
		return found, nil
	case notCode.MatchString(out):
		return found, fmt.Errorf("the code with the bug must be code: %s", out)
	}
	found = failure(out)
	found.by = folder + "." + found.by
	return found, nil
}

// control returns an error unless the tests that find bugs pass without them.
func (p *planter) control(ctx context.Context, all []bug) error {
	names := map[string][]string{} // of tests, by folder
	for _, b := range all {
		folder, name := folderOf(b.test)
		names[folder] = append(names[folder], name)
	}
	for _, folder := range slices.Sorted(maps.Keys(names)) {
		test := testsOf(folder, names[folder]...)
		if out, err := p.test(ctx, test); err != nil {
			return fmt.Errorf("go test %s: without a bug it must pass: %w\n%s", strings.Join(test, " "), err, out)
		}
	}
	return nil
}

// test runs go test with arguments and further environment variables, and returns what it writes.
// Nothing is taken from the cache of results, which does not know what programs that tests build
// are made of.
func (p *planter) test(ctx context.Context, args []string, env ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go",
		append([]string{"test", "-count=1", "-failfast", fmt.Sprintf("-timeout=%v", p.limit)}, args...)...)
	cmd.Dir, cmd.Env = p.root, append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var (
	notCode = regexp.MustCompile(`\[(build|setup) failed\]`)
	failed  = regexp.MustCompile(`(?m)^--- FAIL: (\S+) \(([\d.]+)s\)`)
	hung    = regexp.MustCompile(`(?m)^\s+(Test\w+)\S* \(\d`) // what runs when the time is up
)

// failure names what failed in the output of go test.
func failure(out string) finding {
	if m := failed.FindStringSubmatch(out); m != nil {
		return finding{m[1], m[2]}
	}
	if _, tests, is := strings.Cut(out, "panic: test timed out"); is {
		if m := hung.FindStringSubmatch(tests); m != nil {
			return finding{by: m[1] + ", which does not end"}
		}
	}
	_, text, _ := strings.Cut(out, "panic: ")
	line, _, _ := strings.Cut(text, "\n")
	return finding{by: "the package: " + line}
}
