// Package experimenttest is the conformance test of tasks, [TestTask], the comparison of two runs,
// [SameRun], and processes that a signal strikes at a line of theirs, [Struck].
package experimenttest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"dsbo/runs"
)

// A Command is a program's function for a command line.
type Command func(ctx context.Context, args []string, stdout, stderr io.Writer) error

// Difference describes the first difference of the metrics of two run folders, except times and
// memory; "" if there is none. A folder without records is one, as nothing would be compared.
func Difference(a, b string) (string, error) {
	var metrics [2][]runs.Record
	for i, dir := range []string{a, b} {
		records, err := runs.Folder(dir).Records()
		if err != nil {
			return "", err
		}
		if len(records) == 0 {
			return dir + " has no records", nil
		}
		metrics[i] = records
	}
	if n, m := len(metrics[0]), len(metrics[1]); n != m {
		return fmt.Sprintf("%d records and %d", n, m), nil
	}
	for k, r := range metrics[0] {
		if d, err := runs.Diff(r.Timeless(), metrics[1][k].Timeless()); err != nil || len(d) > 0 {
			return fmt.Sprintf("record %d: %v", k, d), err
		}
	}
	return "", nil
}

// SameRun checks that two run folders have the same metrics, times and memory left aside, λ
// and model.
func SameRun(t *testing.T, got, want string) {
	t.Helper()
	if diff, err := Difference(want, got); err != nil || diff != "" {
		t.Errorf("%s: %v %s", got, err, diff)
	}
	for _, name := range []string{runs.LambdaFile, runs.OmegaFile} {
		a, err := os.ReadFile(filepath.Join(want, name))
		b, errGot := os.ReadFile(filepath.Join(got, name))
		if err != nil || errGot != nil || !bytes.Equal(a, b) {
			t.Errorf("%s has another %s (%v, %v)", got, name, err, errGot)
		}
	}
}
