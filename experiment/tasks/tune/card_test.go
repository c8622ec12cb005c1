package tune_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo"
	"dsbo/experiment"
	"dsbo/experiment/tasks"
	"dsbo/experiment/tasks/tune"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestTuneCard: the summary has the reading of each column, with counts over the training rows of
// all sites; -check prints the same without a run.
func TestTuneCard(t *testing.T) {
	folder := t.TempDir()
	for site := range 2 {
		text := "age,share,paid,seen,at,sex,one,empty,ill,split\n"
		for row := range 40 {
			age, sex, split := fmt.Sprint(30+row%7), "mf"[row%2:][:1], "train"
			if row < 3+site {
				age = ""
			}
			if row == 0 {
				sex = "NA"
			}
			if row >= 30 {
				split = []string{"validation", "test"}[row%2]
			}
			text += fmt.Sprintf("%s,%d %%,\"$1,%03d\",2021-03-%02d,2021-03-01 %02d:00,%s,7,,%s,%s\n", age, row, row,
				1+row%28, row%24, sex, []string{"no", "yes", "no"}[row%3], split)
		}
		testkit.OK(os.WriteFile(filepath.Join(folder, fmt.Sprintf("site%d.csv", site)), []byte(text), 0o644))
	}
	out := runs.Folder(filepath.Join(folder, "run"))
	flags := "-target=ill -split-column=split -folds=0 -K=1 -data=" + filepath.Join(folder, "site{agent}.csv")
	var shown strings.Builder
	testkit.OK(experiment.Run(t.Context(), tune.Task(), arguments(out, flags, "-check"), &shown, io.Discard))
	if _, err := os.Stat(string(out)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("-check leaves a folder: %v", err)
	}
	card := *tuned(t, out, flags).Card
	if card.Rows != [3]int{60, 10, 10} || !reflect.DeepEqual(card.Target.Counts, []runs.Number{40, 20}) {
		t.Errorf("rows %v, classes %v", card.Rows, card.Target.Counts)
	}
	if d := cmp.Diff(card.Sites, [][3]int{{30, 5, 5}, {30, 5, 5}}); d != "" || card.Own != nil {
		t.Errorf("rows of sites: %s; a process that has all sites tells of one alone: %v", d, card.Own)
	}
	if len(card.Odd) != 2 || !strings.Contains(card.Odd[0], `site0.csv: "NA" counts as missing in sex (1 row)`) {
		t.Errorf("odd: %q", card.Odd)
	}
	want := map[string]string{"age": "number|7 (11.7 %)|", "share": "number, %|0 (0.0 %)|",
		"paid": "number, $|0 (0.0 %)|",
		"seen": "date|0 (0.0 %)|", "at": "date and time|0 (0.0 %)|", "sex": "words|2 (3.3 %)|",
		"one":   "number|0 (0.0 %)|dropped: all training rows have one value",
		"empty": "number|60 (100.0 %)|dropped: all values are missing", "ill": "class||predicted"}
	for _, row := range card.Table()[1:] {
		if got := strings.Join([]string{row[1], row[2], row[4]}, "|"); got != want[row[0]] {
			t.Errorf("%s: %s, want %s", row[0], got, want[row[0]])
		}
		delete(want, row[0])
		for _, text := range row {
			if !strings.Contains(shown.String(), text) {
				t.Errorf("-check does not print %q of column %s:\n%s", text, row[0], &shown)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("columns are not told: %v", want)
	}
	for _, task := range []experiment.Task{tasks.Synthetic()} {
		if err := experiment.Run(t.Context(), task, []string{"-check"}, io.Discard, io.Discard); !errors.Is(err,
			dsbo.ErrConfig) {
			t.Errorf("%s -check: error %v", task.Name, err)
		}
	}
}
