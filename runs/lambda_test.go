package runs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

func TestLambdaTable(t *testing.T) {
	f := runs.Folder(t.TempDir())
	want := []runs.Penalty{{Name: "age", Lambda: -2.5, Norm: 1. / 3, Kept: true},
		{Name: `colour=red, "dark"`, Lambda: 7},
		{Name: "=1+1"}, {Name: "'=1+1"}, {Name: "w\u202e\x1b"}, {Name: "-1"}}
	testkit.OK(f.WriteLambdaTable(want))
	if d := cmp.Diff(want, testkit.Get(f.ReadLambdaTable())); d != "" {
		t.Error(d)
	}
	for text, says := range map[string]string{
		"":                                   "must have the columns feature, lambda, penalty, size, kept",
		"feature,lambda\na,1\n":              "must have the columns",
		"feature,lambda,penalty,size,kept\n": "a line for each penalty",
		"feature,lambda,penalty,size,kept\na,1\n": "wrong number of fields",
		"feature,lambda,penalty,size,kept\na,low,1,1,yes\n": `penalty 1: λ and size must be finite ` +
			`numbers; one is "low"`,
		"feature,lambda,penalty,size,kept\na,1,1,Infinity,no\n": `one is "Infinity"`,
	} {
		testkit.OK(f.WriteFile(runs.LambdaTableFile, []byte(text)))
		if _, err := f.ReadLambdaTable(); !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: error %v, want %q", text, err, says)
		}
	}
}
