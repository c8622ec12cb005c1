package report

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestCard: the page begins with how columns were read, in red where nothing is learned from one,
// of many with the first.
func TestCard(t *testing.T) {
	card := &runs.Card{Columns: []runs.CardColumn{{Name: "age"}, {Name: "one", Dropped: "all have one value"}}}
	table, _ := cardTable(card)
	if n := len(table.Rows); n != 3 || table.Rows[2][4].Kind != "worse" || table.Rows[1][4].Kind != "" {
		t.Errorf("%d rows: %+v", n, table.Rows)
	}
	if got := cardFolded(card); got != "" {
		t.Errorf("a short card is folded: %s", got)
	}
	card.Columns = append(card.Columns, make([]runs.CardColumn, mostShown)...)
	if got := cardFolded(card); got != "How 14 columns were read, of which nothing is learned from one" {
		t.Errorf("a long card is called %q", got)
	}
	card.Sites = [][3]int{{30, 0, 10}, {50, 0, 11}}
	if table, _ := siteRowsTable(card); len(table.Rows) != 2 || table.Rows[1][3].Text != "11" {
		t.Errorf("rows of sites: %+v", table.Rows)
	}
	card.Columns = make([]runs.CardColumn, mostColumns+2)
	if table, about := cardTable(card); len(table.Rows) != mostColumns || !strings.Contains(about, "3 columns more") {
		t.Errorf("%d rows, %q", len(table.Rows), about)
	}
}

func TestAssessment(t *testing.T) {
	line := []float64{0, .5, 1}
	two := []runs.ClassCurves{
		{Name: "healthy", AUC: .8, Wrong: line, Right: line, Predicted: line, Observed: line},
		{Name: "ill", AUC: .9, Wrong: line, Right: line, Predicted: line, Observed: line},
	}
	for _, c := range []struct {
		name    string
		a       runs.Assessment
		figures []string // none: an error
		text    string
	}{
		{"two classes", runs.Assessment{Classes: two}, []string{"roc", "calibration"}, "ill, area 0.900"},
		{"residuals", runs.Assessment{
			Residuals: &runs.ResidualCurves{Explained: .5, Residual: line, Share: line, Predicted: line,
				Mean: line, Size: line}},
			[]string{"residuals", "residuals_predicted"}, "R² = 0.500"},
		{"a class without examples",
			runs.Assessment{Classes: []runs.ClassCurves{two[0], two[1], {Name: "unknown", AUC: runs.Unknown()}}},
			[]string{"roc", "calibration"}, "healthy, area 0.800"},
		{"lengths differ", runs.Assessment{Classes: []runs.ClassCurves{{Wrong: line, Right: line[:2]}}}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := fixture{method: "newtoncg", seed: 1}.write(t, t.TempDir())
			testkit.OK(runs.Folder(folder).WriteAssessment(c.a))
			r, err := Load(folder)
			if c.figures == nil {
				if !errors.Is(err, dsbo.ErrConfig) {
					t.Fatalf("error %v, want dsbo.ErrConfig", err)
				}
				return
			}
			shown := []*Run{testkit.Get(r, err)}
			if page := string(testkit.Get(testkit.Get(newPage(shown, "")).html("page"))); !strings.Contains(page,
				"How good the predictions are") || !strings.Contains(page, c.text) {
				t.Errorf("the page does not show the assessment with %q", c.text)
			}
			testkit.OK(SaveFigures(folder, "", "", shown, c.figures...))
			for _, name := range c.figures {
				testkit.Get(os.Stat(filepath.Join(folder, name+".svg")))
			}
		})
	}
}

// TestImportances: the features of a network are listed as they come, with bars as long as what
// they count for, none for one that does not.
func TestImportances(t *testing.T) {
	c := newImportances([]runs.Importance{{Feature: "age", Rise: .2}, {Feature: "dose", Rise: .05},
		{Feature: "noise", Rise: -.01}})
	var names []string
	var widths []float64
	for i, row := range c.Table.Rows {
		names, widths = append(names, row[0].Text), append(widths, c.Bars[i].Width)
	}
	if !slices.Equal(names, []string{"age", "dose", "noise"}) || !slices.Equal(widths, []float64{100, 25, 0}) {
		t.Errorf("features %q with bars of %v %%", names, widths)
	}
	for _, b := range newImportances([]runs.Importance{{Rise: 0}, {Rise: -.01}}).Bars {
		if b.Width != 0 {
			t.Errorf("where no feature counts a bar has %v %%", b.Width)
		}
	}
	if newImportances(nil) != nil {
		t.Error("there is a table of no features")
	}
}
