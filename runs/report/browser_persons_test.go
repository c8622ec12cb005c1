package report

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/runs"
)

// answered writes the page of a run over tables at three sites, with all that it begins with.
func answered(t testing.TB) (path string) {
	t.Helper()
	summary := ended()
	site := func(alone, tuned runs.Number) runs.Site {
		return runs.Site{Examples: 50, Change: tuned - alone, ChangeError: .1,
			Alone:    runs.SiteScore{Loss: alone, Accuracy: .8},
			Constant: runs.SiteScore{Loss: .3, Accuracy: .84}, Tuned: runs.SiteScore{Loss: tuned, Accuracy: .86}}
	}
	summary["sites"] = []runs.Site{site(.5, .3), site(.4, .3), site(.6, .27)}
	summary["structures"] = []runs.Structure{{Name: "reweighted 1", Loss: .3, Error: .01, Kept: true}}
	summary["models"].([]any)[2].(map[string]any)["kept"] = true
	folder := fixture{name: "clinics", task: "tune", method: "newtoncg", done: 100, summary: summary, bars: 12,
		settings: map[string]any{"agents": 3, "problem": map[string]any{"model": "linear", "target": "diagnosis",
			"task": "class", "classes": []string{"healthy", "ill"}, "features": 12}}}.write(t, t.TempDir())
	curve := []float64{0, .2, .6, 1}
	a := runs.Assessment{Made: 400, Judged: 150, Confusion: [][]float64{{70, 10}, {8, 62}},
		Measures: []runs.Measure{
			{Name: "accuracy", Share: true, Hint: "share of right answers", Value: .88, Low: .82, High: .92},
			{Name: "recall of " + strings.Repeat("a class whose name is long ", 3), Share: true,
				Hint: "share of the rows of the class that are found", Value: .9, Low: .8, High: 1},
			{Name: "AUROC of ill", Hint: "how often pairs are in order", Value: .934, Low: .89, High: .96},
		},
		Threshold: &runs.Threshold{Class: "ill", Cost: 5, Probability: .2, Own: 70, Others: 80, Chosen: 400,
			At: runs.Taken{Found: 68, Alarms: 20}, Likeliest: runs.Taken{Found: 62, Alarms: 10}},
	}
	for _, name := range []string{"healthy", "ill"} {
		a.Classes = append(a.Classes, runs.ClassCurves{Name: name, AUC: .934, Wrong: curve, Right: curve,
			Predicted: curve, Observed: curve})
	}
	for k := range 10 {
		a.Coefficients = append(a.Coefficients, runs.Coefficient{
			Feature: fmt.Sprintf("a marker with a long name %d", k), Class: "ill",
			Value: runs.Number(math.Pow(-1, float64(k)) / float64(k+1)), Error: .1, Deviation: 2})
	}
	testkit.OK(runs.Folder(folder).WriteAssessment(a))
	path = filepath.Join(folder, "report.html")
	page := testkit.Get(newPage([]*Run{testkit.Get(Load(folder))}, ""))
	testkit.OK(os.WriteFile(path, testkit.Get(page.html("page")), 0o644))
	return path
}

// measures: at widths from a phone's to a desk's, all of the table of measures is seen without
// scrolling, whatever classes are called.
var measures = inspection{`
	await new Promise(done => setTimeout(done, 50));
	const cells = [...document.querySelectorAll("#good .figures + .scroll tbody :is(th, td)")];
	const right = document.querySelector("#good").getBoundingClientRect().right;
	return {Cells: cells.length, Hidden: cells.map(c => [c, c.getBoundingClientRect()]).filter(([, b]) =>
		b.width === 0 || b.right > right).map(([c]) => c.textContent)};`, checkMeasures}

func checkMeasures(t *testing.T, seen json.RawMessage) {
	var got struct {
		Cells  int
		Hidden []string
	}
	testkit.OK(json.Unmarshal(seen, &got))
	if got.Cells != 12 || len(got.Hidden) > 0 {
		t.Errorf("%d cells, want 12; not to be seen: %q", got.Cells, got.Hidden)
	}
}

// persons: six of them find what they come for: the area under the ROC curve, the ten features,
// what site 2 gained, the command that predicts, why a λ was kept, and a curve as a file. They see
// it without opening anything but the last. What is hidden, or cut off at the right, is not seen.
var persons = inspection{`
	await new Promise(done => setTimeout(done, 50));
	const seen = e => { const b = e?.getBoundingClientRect(); return b && b.width > 0 && b.left >= 0 &&
		b.left < document.documentElement.clientWidth ? e.textContent.replace(/\s+/g, " ").trim() : ""; };
	const out = {Title: document.title, Lead: seen(document.querySelector("header .lead")), Names: []};
	out.AUROC = [...document.querySelectorAll("#good tbody tr")].map(r => seen(r.cells[0]) + ": " +
		seen(r.cells[1])).find(text => text.startsWith("AUROC"));
	out.Features = [...document.querySelectorAll("#features tbody th")].map(seen);
	out.Site2 = [...document.querySelectorAll("#joined tbody tr")].map(seen).find(text => text.startsWith("site 2"));
	out.Command = seen(document.querySelector("#use code"));
	out.Tried = [...document.querySelectorAll("#gains th")].some(th => th.textContent.startsWith("reweighted 1"));
	const real = HTMLAnchorElement.prototype.click;
	const link = document.querySelector("#good a[download]");
	out.Names.push(link.download);
	out.Roc = decodeURIComponent(link.href);
	out.Folded = !document.querySelector("#figure-phi").checkVisibility({contentVisibilityAuto: true});
	document.querySelector("#how > summary").click();
	await new Promise(done => setTimeout(done, 200)); // the figure takes its width when it is shown
	out.Kept = seen(document.querySelector("#kept"));
	HTMLAnchorElement.prototype.click = function() { out.Names.push(this.download); };
	[...document.querySelectorAll("#figure-phi .tools button")].find(b => b.textContent === "CSV").click();
	HTMLAnchorElement.prototype.click = real;
	const figure = document.querySelector("#figure-phi .chart").getBoundingClientRect();
	out.Chart = figure.width > 200 && Math.abs(charts[0].plot.width - figure.width) < 2;
	const width = document.documentElement.clientWidth;
	const wide = [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > width &&
		!e.closest(".scroll"));
	out.Wide = document.documentElement.scrollWidth > width ? wide.map(e => e.outerHTML.slice(0, 60)) : [];
	return out;`, checkPersons}

func checkPersons(t *testing.T, seen json.RawMessage) {
	var got struct {
		Title, Lead, AUROC, Site2, Command, Kept, Roc string
		Features, Names, Wide                         []string
		Folded, Chart, Tried                          bool
	}
	testkit.OK(json.Unmarshal(seen, &got))
	if got.Title != "Predicting diagnosis" || !strings.Contains(got.Lead, "400 rows of 3 sites") ||
		!strings.Contains(got.Lead, "right in 88.0 % (82.0 to 92.0): 34.7 points more") {
		t.Errorf("title %q, lead %q", got.Title, got.Lead)
	}
	if got.AUROC != "AUROC of ill: 0.934" || len(got.Features) != 10 ||
		!strings.HasSuffix(got.Features[9], "name 9") {
		t.Errorf("area %q, features %q", got.AUROC, got.Features)
	}
	// Student's t of 49 degrees at 1 − .05/(2·3) is 2.47895: −.33 ± .1·2.47895·(1 + 1/√50).
	if !strings.Contains(got.Site2, "0.6000 80.0 % right 0.2700 86.0 % right −0.3300 −0.6130 to −0.0470") ||
		got.Command != "dsbo predict -model clinics -data new.csv" ||
		!strings.Contains(got.Kept, "0.2701 with the tuned ones and 0.2893 with one for all") {
		t.Errorf("site 2 %q, command %q, kept %q", got.Site2, got.Command, got.Kept)
	}
	if strings.Join(got.Names, " ") != "roc.csv phi.csv" || !strings.Contains(got.Roc, "0.6,0.6") {
		t.Errorf("files %q, points %q", got.Names, got.Roc)
	}
	if !got.Folded || !got.Chart || !got.Tried || len(got.Wide) > 0 {
		t.Errorf("folded %t, figure in its place %t, wider than the window: %q", got.Folded,
			got.Chart, got.Wide)
	}
}
