package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
)

// scenarios are the reports that have to be good to look at.
func scenarios() map[string][]fixture {
	diverged := map[string]any{
		"state": "diverged", "error": "diverged: agent 3, iteration 61: y = 1.2e+12; gamma <= 0.04 would be stable",
		"warnings": []string{"gamma 0.2 is above 0.8/L_max = 0.04 of agent 3: HIGP may diverge"},
	}
	interrupted := map[string]any{"state": "interrupted", "error": "Interrupted after 45 of 100 iterations"}
	return map[string][]fixture{
		"finished":    {{method: "madsbo_tuned", seed: 1, rate: 1, done: 100, summary: ended(), lambda: true}},
		"interrupted": {{method: "madsbo_tuned", seed: 1, rate: 1, done: 40, summary: interrupted}},
		"killed":      {{method: "madsbo_tuned", seed: 1, rate: 1, done: 40, cut: true, unsolved: true}},
		"start only":  {{method: "madsbo_tuned", seed: 1, rate: 1, done: 0, every: 1}},
		"one iteration": {{method: "madsbo_tuned", seed: 1, rate: 1, done: 1, every: 1, summary: ended(),
			settings: map[string]any{"iterations": 1}}},
		"ended early": {{method: "newtoncg", done: 10, summary: ended(), settings: map[string]any{"iterations": 20}}},
		"diverged": {{name: "a", method: "madsbo", rate: 1, done: 100, summary: ended()},
			{name: "b", method: "madsbo", rate: 1, done: 60, nan: true, summary: diverged,
				settings: map[string]any{"params.gamma": 2}}},
		"side by side": eight(),
		"lost": {{method: "newtoncg", task: "synthetic", done: 100, summary: lost(), bars: 20,
			settings: map[string]any{"problem": map[string]any{"model": "logistic", "reduce": "sum"}}}},
		"members": {{method: "newtoncg", seed: 1, rate: 1, done: 100, summary: ended(),
			changes: `{"epoch":1,"iteration":35,"members":[0,1,2,3,5,6,7],"proposer":0,` +
				`"time":"2026-11-22T12:00:00Z","why":["agent 4 left: nothing heard for 10m0s"]}
{"epoch":2,"iteration":60,"members":[0,1,2,3,4,5,6,8],"edges":[[0,8],[6,8]],"proposer":1}
`}},
		"unlike problems": {
			{name: "a", method: "madsbo", done: 100, summary: ended(),
				settings: map[string]any{"problem": map[string]any{"model": "softmax", "rate": 1}}},
			{name: "b", method: "madsbo", done: 100, summary: lost(),
				settings: map[string]any{"problem": map[string]any{"model": "softmax", "rate": 2}}},
		},
	}
}

func TestPages(t *testing.T) {
	tests := map[string]struct {
		words  []string
		panels int
		lambda int
	}{
		"finished": {[]string{"All 100 iterations are done", "92.13\u202f%", "λ = 2, best constant", "0.2951 at 1",
			`class="verdict better"`,
			"−0.00248 to −0.00092", "−0.11\u202fpp to", "nothing: they judge", "the hyperparameters",
			"Validation and test agree", "2.06\u202fGB",
			"2 January 2026, 03:04 UTC on atlas", "mnist -seed=1"}, 7, 1},
		"interrupted": {[]string{"Interrupted after 45 of 100 iterations", "iteration 40 of 100",
			`class="verdict unclear"`, "has not finished"}, 7, 0},
		"killed":        {[]string{"unfinished", "cut short", "not exact at iteration 0", "iteration 40 of 100"}, 7, 0},
		"start only":    {[]string{"unfinished"}, 4, 0}, // no loss, accuracy or hypergradient error; consensus is 0
		"ended early":   {[]string{"10 of 20 iterations are done, as the held-out loss rose"}, 7, 0},
		"one iteration": {[]string{"The one iteration is done"}, 7, 0},
		"diverged": {[]string{"Diverged: agent 3", "HIGP may diverge", "madsbo (γ 2)", "madsbo (γ 0.2)",
			"Runs without a verdict: 1"}, 11, 0},
		"side by side": {[]string{"10 runs of 8 methods", "sparkle", " to ", "tuning won in 10 of 10 runs",
			"sparkle: test loss −0.6\u202f%, Φ −6.6\u202f%"}, 11, 4},
		"lost": {[]string{`class="verdict worse"`, "Tuning lost", `λ tuned <span class="mark">not converged</span>`,
			"feature 9", "sum over an agent&#39;s examples",
			"&#43;0.00342 to &#43;0.00498"}, 7, 0},
		"members": {[]string{"Who took part", "agent 4 left: nothing heard for 10m0s", "0–6, 8",
			"7 left; 4, 8 came in", `"marks":[{"x":35,`}, 7, 0},
		"unlike problems": {[]string{`class="verdict mixed"`, "Exact values: rate 1", "Exact values: rate 2",
			"best constant, rate 1"}, 11, 0},
	}
	all := scenarios()
	if len(all) != len(tests) {
		t.Fatalf("%d scenarios, %d tests", len(all), len(tests))
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			page := checkPage(t, pageOf(t, name))
			for _, word := range want.words {
				if !strings.Contains(page, word) {
					t.Errorf("the page lacks %q", word)
				}
			}
			if got := strings.Count(page, `<figure id="figure-`); got != want.panels {
				t.Errorf("%d figures, want %d", got, want.panels)
			}
			if said, is := strings.Contains(page, "The baseline is"), strings.Contains(page, ", baseline"); said != is {
				t.Errorf("a baseline is explained: %t, and drawn: %t", said, is)
			}
			if got := strings.Count(page, `class="picture"`); got != want.lambda {
				t.Errorf("%d pictures of lambda, want %d", got, want.lambda)
			}
		})
	}
}

// The verdict comes first, then one figure, then the gains; of the tables none has exact numbers
// beside refitted ones.
func TestOrderOfThePage(t *testing.T) {
	page := string(pageOf(t, "finished"))
	last := 0
	for _, id := range []string{"verdict", "main", "gains", "end", "topic-0", "course", "lambda", "ran"} {
		at := strings.Index(page, `<section id="`+id+`"`)
		if at <= last {
			t.Errorf("section %s at %d, after one at %d", id, at, last)
		}
		last = at
	}
}

// The numbers that the script draws are the numbers of the run folder, with all their bits.
func TestPageData(t *testing.T) {
	runs := loaded(t, scenarios()["finished"]...)
	page := testkit.Get(testkit.Get(newPage(runs, "")).html("page"))
	var data sheet
	testkit.OK(json.Unmarshal(
		regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).FindSubmatch(page)[1],
		&data))
	if len(data.Axes) != 4 || len(data.Panels) != 7 || len(data.Panels[0].Views) != 3 {
		t.Fatalf("%d axes, %d figures, %d views of the first", len(data.Axes), len(data.Panels),
			len(data.Panels[0].Views))
	}
	for i, of := range []func(rec float64) float64{
		func(phi float64) float64 { return phi },
		func(phi float64) float64 { return phi - 0.2893 },
	} {
		view := data.Panels[0].Views[i]
		for k, rec := range runs[0].Records {
			c := view.Curves[0]
			if c.Y[k] != of(float64(rec.Phi)) || c.X[0][k] != float64(rec.Iteration) || c.X[1][k] != rec.Seconds ||
				c.X[3][k] != float64(rec.Bytes) {
				t.Errorf("%s, point %d: %v at %v", view.Name, k, c.Y[k], c.X)
			}
		}
		if len(view.Levels) != 1 || view.Levels[0].Y != of(0.2893) || view.Levels[0].Name != "best constant" {
			t.Errorf("%s: levels %v", view.Name, view.Levels)
		}
	}
}

// Seeds are compared with the best constants of their own data: with the model that the verdict is
// against, also where another constant that was tried has a lower Φ.
func TestPairedDifferences(t *testing.T) {
	seed := func(n int, tuned, constant float64) fixture {
		s := ended()
		s["models"].([]any)[2].(map[string]any)["phi"] = tuned
		s["models"].([]any)[1].(map[string]any)["phi"] = constant
		s["constants"] = []any{map[string]any{"lambda": 1, "phi": constant - 0.1}}
		return fixture{method: "m", seed: n, done: 10, summary: s}
	}
	all := loaded(t, seed(1, 1, 2), seed(2, 7, 9), seed(3, 3, 3.5))
	gain := func(r *Run) float64 { return r.value("Φ gain") }
	if mid, low, high := spread(all, gain); mid != -1 || low != -2 || high != -0.5 {
		t.Errorf("median %v from %v to %v, want -1 from -2 to -0.5", mid, low, high)
	}
}

// TestPageAlone: a program without package compare leaves the page alone, whose script draws, and
// whose picture of λ is there.
func TestPageAlone(t *testing.T) {
	draw := Draw
	defer func() { Draw = draw }()
	Draw = nil
	dir := t.TempDir()
	page := checkPage(t, testkit.Get(os.ReadFile(testkit.Get(Write(dir, loaded(t, scenarios()["finished"]...), "")))))
	for text, want := range map[string]int{`<figure id="figure-`: 7, "<noscript>": 7, `class="picture"`: 1,
		`class="static`: 0, "“dsbo report”": 7} {
		if got := strings.Count(page, text); got != want {
			t.Errorf("the page has %s %d times, want %d", text, got, want)
		}
	}
	if files := testkit.Get(os.ReadDir(dir)); len(files) != 1 {
		t.Errorf("%v, want the page alone", files)
	}
	if Save(new(Figure), dir, "f") == nil {
		t.Error("a figure was saved")
	}
}

func TestWrite(t *testing.T) {
	testkit.Long(t, "draws 37 figures twice; TestPages has the pages")
	dir := filepath.Join(t.TempDir(), "new", "folder")
	path := testkit.Get(Write(dir, loaded(t, scenarios()["finished"]...), "A <title>"))
	page := checkPage(t, testkit.Get(os.ReadFile(path)))
	if !strings.Contains(page, "<title>A &lt;title&gt;</title>") {
		t.Error("the page lacks its title")
	}
	if files := testkit.Get(filepath.Glob(filepath.Join(dir, "figures", "*.svg"))); len(files) != 9*4+1 {
		t.Errorf("%d figures, want nine quantities against four axes, and λ", len(files))
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 2 {
		t.Errorf("%d entries in the folder, want report.html and figures: %v", len(all), err)
	}
}

// checkPage checks what holds of every page, and returns it.
func checkPage(t *testing.T, data []byte) string {
	t.Helper()
	page := regexp.MustCompile(`src="data:image/png;base64,[^"]*"`).ReplaceAllString(string(data), "")
	// Scripts may name addresses in comments, and NaN.
	for _, script := range []string{file("uplot/uPlot.iife.min.js"), file("page.js")} {
		page = strings.Replace(page, script, "", 1)
	}
	// Addresses: of the SVG name space only, which nothing loads, and places in the page.
	for _, address := range regexp.MustCompile(`//[a-zA-Z0-9.-]+[^\s"'<]*`).FindAllString(page, -1) {
		if address != "//www.w3.org/2000/svg" && address != "//www.w3.org/1999/xlink" {
			t.Errorf("address %s", address)
		}
	}
	for _, attribute := range []string{`src="`, `href="`} {
		for _, link := range strings.Split(page, attribute)[1:] {
			link, _, _ = strings.Cut(link, `"`)
			if place, here := strings.CutPrefix(link, "#"); !here || !strings.Contains(page, `id="`+place+`"`) {
				t.Errorf("link %s leads out of the page or nowhere", link)
			}
		}
	}
	for _, svg := range strings.Split(page, `<svg width="`)[1:] {
		svg, _, _ = strings.Cut(svg, "</svg>")
		if width, _, _ := strings.Cut(svg, `"`); strings.HasSuffix(width, "pt") {
			readSVG(t, []byte(`<svg width="`+svg+"</svg>")).inside(t)
		}
	}
	if joint := regexp.MustCompile(`[^\s>]<small>`).FindString(page); joint != "" {
		t.Errorf("a cell's number runs into its range, which is read after it: %q", joint)
	}
	for _, word := range []string{"ZgotmplZ", "<no value>", "NaN", "%!"} {
		if strings.Contains(page, word) {
			t.Errorf("the page holds %q", word)
		}
	}
	return page
}

func TestSamePageAgain(t *testing.T) {
	if !bytes.Equal(pageOf(t, "side by side"), rendered(t, eight()...)) {
		t.Error("two pages of the same runs differ")
	}
}

// Text from a run's files is text on the page, whatever it looks like.
func TestTextStaysText(t *testing.T) {
	evil := `"><script>alert(1)</script><img src=x onerror=alert(2)>{{.}}`
	data := rendered(t,
		fixture{name: "a", task: evil, method: evil, rate: 1, done: 10,
			settings: map[string]any{evil: evil, "params.alpha": evil},
			summary:  map[string]any{"state": evil, "error": evil, "warnings": []string{evil}}},
		fixture{name: "b", task: evil, method: evil, rate: 1, done: 10, lambda: true})
	if n := bytes.Count(data, []byte("<script")); n != 3 {
		t.Errorf("%d scripts", n)
	}
	if bytes.Contains(data, []byte("<img src=x")) {
		t.Error("an element from a run's files")
	}
	why := fmt.Sprintf(`{"epoch":1,"iteration":5,"members":[0,1,2,3,4,5,6],"proposer":1,"why":[%q]}`+"\n", evil)
	data = rendered(t, fixture{name: "c", method: "dsoba", done: 10, changes: why})
	if bytes.Contains(data, []byte("<img")) || bytes.Count(data, []byte("<script")) != 3 ||
		!bytes.Contains(data, []byte("&lt;script&gt;alert(1)")) {
		t.Error("why members changed must be text on the page")
	}
	if d := newSheet(testkit.Get(groups(loaded(t, fixture{name: "a", task: "t", method: evil,
		done: 10}))), ""); !bytes.Contains(data, []byte(`id="data">{"axes":`)) ||
		d.Panels[0].Views[0].Curves[0].Name != evil {
		t.Error("the numbers for the script are not there")
	}
}

func TestWriteErrors(t *testing.T) {
	if _, err := Write(t.TempDir(), nil, ""); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("no runs: %v", err)
	}
	runs := loaded(t, fixture{method: "madsbo", rate: 1, done: 10})
	file := filepath.Join(t.TempDir(), "file")
	testkit.OK(os.WriteFile(file, nil, 0o644))
	if _, err := Write(filepath.Join(file, "x"), runs, ""); err == nil ||
		!strings.Contains(err.Error(), "file") {
		t.Errorf("below a file: %v", err)
	}
}
