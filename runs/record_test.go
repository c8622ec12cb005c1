package runs_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

func TestReadRecords(t *testing.T) {
	var want []runs.Record
	var text strings.Builder
	for i := range 3 {
		r := runs.Record{Iteration: i, Phi: runs.Number(float64(i) / 3)}
		line := testkit.Get(json.Marshal(r))
		want = append(want, r)
		text.Write(append(line, '\n'))
	}
	got, cut, err := runs.ReadRecords("m", strings.NewReader(text.String()+"\n"+`{"iteration": 3`))
	if diff := cmp.Diff(want, got); err != nil || !cut || diff != "" {
		t.Errorf("%v, difference:\n%s", err, diff)
	}
	_, _, err = runs.ReadRecords("m", strings.NewReader(text.String()+"{]\n"))
	if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), "m: line 4") {
		t.Errorf("%v, want line 4 named", err)
	}
	got, cut, err = runs.ReadRecords("m", strings.NewReader(`{"phi":null, "test_loss": 2}`+"\n"))
	// what is missing is not 0
	if err != nil || cut || got[0].Phi.Known() || got[0].ValLoss.Known() || got[0].TestLoss != 2 {
		t.Errorf("%v, %v: want unknown numbers but for the loss", got, err)
	}
}

// TestUsage: what is packed comes back, and sums are field by field.
func TestUsage(t *testing.T) {
	var u runs.Usage
	row := make([]float64, runs.UsageLen)
	for i := range row {
		row[i] = float64(i + 1)
	}
	u.Add(runs.UnpackUsage(row))
	if diff := cmp.Diff(row, u.Pack()); diff != "" {
		t.Error(diff)
	}
	u.Add(u)
	for i, v := range u.Pack() {
		if v != 2*row[i] {
			t.Errorf("number %d doubled is %v", i, v)
		}
	}
}
