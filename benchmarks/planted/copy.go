package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// A workCopy is a copy of the last commit, in which bugs are planted.
type workCopy struct {
	root  string
	limit time.Duration
}

// newCopy makes a copy.
func newCopy(ctx context.Context, limit time.Duration) (*workCopy, error) {
	dir, err := os.MkdirTemp("", "planted")
	if err != nil {
		return nil, err
	}
	c := &workCopy{filepath.Join(dir, "dsbo"), limit}
	if out, err := exec.CommandContext(ctx, "git", "worktree", "add", "--detach", c.root, "HEAD").CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("git worktree: %w: %s", err, out), os.RemoveAll(dir))
	}
	return c, nil
}

// remove removes the copy.
func (c *workCopy) remove() {
	_ = exec.Command("git", "worktree", "remove", "--force", c.root).Run()
	_ = os.RemoveAll(filepath.Dir(c.root))
}

// find plants a bug and returns the package and the test that find it first, "" if none does. The copy is then as it was.
func (c *workCopy) find(ctx context.Context, b bug, tests [][]string) (by string, err error) {
	files, err := b.apply(c.root)
	if err != nil {
		return "", err
	}
	for name, text := range files {
		path := filepath.Join(c.root, name)
		before, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		defer func() { _ = os.WriteFile(path, before, 0o644) }()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	if out, err := c.command(ctx, "vet", b.changed()...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("the code with the bug must be code: %s", out)
	}
	for _, test := range tests {
		args := append([]string{"-failfast", fmt.Sprintf("-timeout=%v", c.limit)}, test...)
		if out, err := c.command(ctx, "test", args...).CombinedOutput(); err != nil {
			return strings.TrimPrefix(test[0], "./") + ": " + failure(string(out)), ctx.Err()
		}
	}
	return "", ctx.Err()
}

// changed returns the packages of the bug's files.
func (b bug) changed() (all []string) {
	for _, e := range b.edits {
		all = append(all, "./"+filepath.Dir(e.file))
	}
	return all
}

func (c *workCopy) command(ctx context.Context, verb string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", append([]string{verb}, args...)...)
	cmd.Dir = c.root
	return cmd
}

var (
	failed = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)
	seed   = regexp.MustCompile(`(?m)^ *simulate_test.go.*?: (seed \d+: .*)$`)
)

// failure names what failed in the output of go test.
func failure(out string) string {
	switch m, s := failed.FindStringSubmatch(out), seed.FindStringSubmatch(out); {
	case s != nil:
		return fmt.Sprintf("%.100s", s[1])
	case m != nil:
		return m[1]
	case strings.Contains(out, "panic: test timed out"):
		return "a test that does not end"
	case strings.Contains(out, "panic: "):
		_, text, _ := strings.Cut(out, "panic: ")
		line, _, _ := strings.Cut(text, "\n")
		return "panic: " + line
	}
	return "the package fails"
}
