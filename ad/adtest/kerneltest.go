// Everywhere runs a package's tests on every path of the kernels. A path is chosen once, at the
// start of a process, so that the tests of another path are a process of their own.

package adtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"dsbo/internal/kernel"
)

// marker is the environment variable by which a process knows that [Everywhere] has started it; its
// value is the path that the process is to use.
const marker = "DSBO_KERNELTEST"

// Everywhere runs those tests of this package that the pattern names, as go test -short -run does,
// once for each path of this machine other than the one in use. It fails with the output of a run
// that fails, that is on another path than it should be, or in which no test has passed. On a
// machine with one path, and with -short, it skips.
func Everywhere(t *testing.T, run string) {
	t.Helper()
	if path, is := os.LookupEnv(marker); is {
		if err := kernel.Env(); err != nil || kernel.Active().String() != path {
			t.Fatalf("the kernels are on path %s, want %s (%v)", kernel.Active(), path, err)
		}
		return
	}
	if testing.Short() {
		t.Skip("runs the package's tests again on every path")
	}
	paths := otherPaths()
	if len(paths) == 0 {
		t.Skipf("there is no other path than %s to test", kernel.Active())
	}
	for _, p := range paths {
		t.Run(p.String(), func(t *testing.T) {
			if err := runOnPath(t, p.String(), run); err != nil {
				t.Error(err)
			}
		})
	}
}

// otherPaths lists the paths that Everywhere runs.
func otherPaths() []kernel.Path {
	var paths []kernel.Path
	for p := kernel.Generic; kernel.Supported(p); p++ {
		if p != kernel.Active() {
			paths = append(paths, p)
		}
	}
	return paths
}

// passed finds the names of tests that passed; a subtest's line is indented.
var passed = regexp.MustCompile(`(?m)^--- PASS: (\S+)`)

// runOnPath runs the pattern's tests, and its caller, in a new process on a path. The caller is
// included because there it checks the path.
func runOnPath(t *testing.T, path, run string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	caller, _, _ := strings.Cut(t.Name(), "/")
	args := []string{"-test.run=^" + caller + "$|" + run, "-test.v", "-test.short", "-test.count=1"}
	ctx := t.Context()
	if end, ok := t.Deadline(); ok { // the new process ends first, and reports its place
		end = end.Add(-time.Until(end) / 10)
		args = append(args, "-test.timeout="+time.Until(end).String())
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(time.Until(end)/20))
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append(os.Environ(), marker+"="+path, "DSBO_KERNEL="+path)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("tests %q on path %s: %w\n%s", run, path, err, out)
	}
	checked, others := false, 0
	for _, m := range passed.FindAllStringSubmatch(string(out), -1) {
		if m[1] == caller {
			checked = true
		} else {
			others++
		}
	}
	if !checked || others == 0 {
		return fmt.Errorf("tests %q on path %s: %d have passed besides %s, want at least 1 and itself\n%s", run, path,
			others, caller, out)
	}
	return nil
}
