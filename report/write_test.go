package report

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/must"
)

// scenarios are the reports that have to be good to look at.
func scenarios() map[string][]fixture {
	diverged := map[string]any{
		"state": "diverged", "error": "diverged: agent 3, iteration 61: y = 1.2e+12; gamma <= 0.04 would be stable",
		"warnings": []string{"gamma 0.2 is above 0.8/L_max = 0.04 of agent 3: HIGP may diverge"},
	}
	interrupted := map[string]any{"state": "interrupted", "error": "Interrupted after 45 of 100 iterations"}
	return map[string][]fixture{
		"finished":      {{method: "madsbo_tuned", seed: 1, rate: 1, done: 100, summary: ended(), lambda: true}},
		"interrupted":   {{method: "madsbo_tuned", seed: 1, rate: 1, done: 40, summary: interrupted}},
		"killed":        {{method: "madsbo_tuned", seed: 1, rate: 1, done: 40, cut: true, unsolved: true}},
		"start only":    {{method: "madsbo_tuned", seed: 1, rate: 1, done: 0, every: 1}},
		"one iteration": {{method: "madsbo_tuned", seed: 1, rate: 1, done: 1, every: 1, summary: ended()}},
		"diverged":      {{name: "a", method: "madsbo", rate: 1, done: 100, summary: ended()}, {name: "b", method: "madsbo", rate: 1, done: 60, nan: true, summary: diverged, settings: map[string]any{"params.gamma": 2}}},
		"side by side":  eight(),
	}
}

func TestPages(t *testing.T) {
	tests := map[string]struct {
		words  []string
		panels int
		lambda int
	}{
		"finished":      {[]string{"All 100 iterations are done", "92.13\u202f%", "λ = 2, best constant", "0.2951 at 1"}, 7, 1},
		"interrupted":   {[]string{"Interrupted after 45 of 100 iterations", "iteration 40 of 100"}, 7, 0},
		"killed":        {[]string{"unfinished", "cut short", "not exact at iteration 0", "iteration 40 of 100"}, 7, 0},
		"start only":    {[]string{"unfinished"}, 6, 0}, // no hypergradient error yet; consensus is 0 and linear
		"one iteration": {[]string{"The one iteration is done"}, 7, 0},
		"diverged":      {[]string{"Diverged: agent 3", "HIGP may diverge", "madsbo (γ 2)", "madsbo (γ 0.2)"}, 11, 0},
		"side by side":  {[]string{"10 runs of 8 methods", "sparkle", " to "}, 11, 4},
	}
	all := scenarios()
	if len(all) != len(tests) {
		t.Fatalf("%d scenarios, %d tests", len(all), len(tests))
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			page := checkPage(t, rendered(t, all[name]...))
			for _, word := range want.words {
				if !strings.Contains(page, word) {
					t.Errorf("the page lacks %q", word)
				}
			}
			if got := strings.Count(page, `<figure id="figure-`); got != want.panels {
				t.Errorf("%d figures, want %d", got, want.panels)
			}
			if got := strings.Count(page, `class="picture"`); got != want.lambda {
				t.Errorf("%d pictures of lambda, want %d", got, want.lambda)
			}
		})
	}
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	path := must.Get(Write(dir, loaded(t, scenarios()["finished"]...), Options{Title: "A <title>"}))
	page := checkPage(t, path)
	if !strings.Contains(page, "<title>A &lt;title&gt;</title>") {
		t.Error("the page lacks its title")
	}
	for _, ending := range []string{".svg", ".png"} {
		files := must.Get(filepath.Glob(filepath.Join(dir, "figures", "*"+ending)))
		if want := strings.Count(page, "<svg "); len(files) != want || want != 7*4+1 {
			t.Errorf("%d files %s, %d drawings on the page, want 29", len(files), ending, want)
		}
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 2 {
		t.Errorf("%d entries in the folder, want report.html and figures: %v", len(all), err)
	}
}

// checkPage checks what holds of every page, and returns it.
func checkPage(t *testing.T, path string) string {
	t.Helper()
	page := string(must.Get(os.ReadFile(path)))
	// Addresses: of the SVG name space only, which nothing loads, and places in the page.
	for _, address := range regexp.MustCompile(`(?:https?:)?//[a-zA-Z0-9.-]+[^\s"'<]*`).FindAllString(page, -1) {
		if address != "http://www.w3.org/2000/svg" && address != "http://www.w3.org/1999/xlink" {
			t.Errorf("address %s", address)
		}
	}
	for _, link := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(link[1], "#") {
			t.Errorf("link %s", link[1])
		} else if !strings.Contains(page, `id="`+link[1][1:]+`"`) {
			t.Errorf("link %s leads nowhere", link[1])
		}
	}
	for _, svg := range regexp.MustCompile(`(?s)<svg .*?</svg>`).FindAllString(page, -1) {
		readSVG(t, []byte(svg)).inside(t)
	}
	for _, word := range []string{"ZgotmplZ", "<no value>", "NaN", "%!"} {
		if strings.Contains(page, word) {
			t.Errorf("the page holds %q", word)
		}
	}
	return page
}

func TestSamePageAgain(t *testing.T) {
	fixtures := scenarios()["side by side"]
	var pages [2][]byte
	for i := range pages {
		pages[i] = must.Get(os.ReadFile(rendered(t, fixtures...)))
	}
	if !bytes.Equal(pages[0], pages[1]) {
		t.Error("two pages of the same runs differ")
	}
}

// Text from a run's files is text on the page, whatever it looks like.
func TestTextStaysText(t *testing.T) {
	evil := `"><script>alert(1)</script><img src=x onerror=alert(2)>{{.}}`
	path := rendered(t,
		fixture{name: "a", task: evil, method: evil, rate: 1, done: 10, settings: map[string]any{evil: evil, "params.alpha": evil}, summary: map[string]any{"state": evil, "error": evil, "warnings": []string{evil}}},
		fixture{name: "b", task: evil, method: evil, rate: 1, done: 10, lambda: true})
	data := must.Get(os.ReadFile(path))
	if n := bytes.Count(data, []byte("<script")); n != 1 {
		t.Errorf("%d scripts", n)
	}
	if bytes.Contains(data, []byte("<img")) {
		t.Error("an element from a run's files")
	}
}

func TestWriteErrors(t *testing.T) {
	if _, err := Write(t.TempDir(), nil, Options{}); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("no runs: %v", err)
	}
	runs := loaded(t, fixture{method: "madsbo", rate: 1, done: 10})
	file := filepath.Join(t.TempDir(), "file")
	must.OK(os.WriteFile(file, nil, 0o644))
	if _, err := Write(filepath.Join(file, "x"), runs, Options{}); err == nil || !strings.Contains(err.Error(), "file") {
		t.Errorf("below a file: %v", err)
	}
}
