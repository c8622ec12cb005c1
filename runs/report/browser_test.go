package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"dsbo/internal/testkit"
)

// openPages opens pages in one headless Chromium, and returns what their scripts return, by name.
// Whatever the browser complains of is an error. Where there is no browser, and unless tests are
// whole, the test is skipped.
func openPages(t *testing.T, pages map[string]window) map[string]json.RawMessage {
	t.Helper()
	testkit.Longest(t, "starts a browser")
	browser := ""
	for _, name := range []string{"google-chrome", "chromium-browser", "chromium"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
		}
	}
	if browser == "" {
		t.Skip("no browser: Debian's package chromium brings one")
	}
	dir := t.TempDir()
	out, complaints := runBrowser(t, browser, dir, writeHost(dir, pages))
	for line := range strings.Lines(complaints) {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("the browser complains: %s", line)
		}
	}
	found := regexp.MustCompile(`(?s)<pre id="results">(.*?)</pre>`).FindStringSubmatch(out)
	results := map[string]json.RawMessage{}
	if found == nil || json.Unmarshal([]byte(html.UnescapeString(found[1])), &results) != nil ||
		len(results) != len(pages) {
		t.Fatalf("the browser gave %d of %d results: %s", len(results), len(pages), complaints)
	}
	return results
}

// writeHost writes a page that has each page in a frame, and collects what their scripts return. It
// returns its path.
func writeHost(dir string, pages map[string]window) string {
	host := `<pre id="results"></pre><script>
		const results = {};
		onmessage = e => { results[e.data.name] = e.data.value; document.getElementById("results").textContent =
			JSON.stringify(results) };
	</script>`
	for name, p := range pages {
		page := testkit.Get(os.ReadFile(p.path))
		page = fmt.Appendf(page,
			`<script>addEventListener("load", () => (async () => {%s})().then(value => `+
				`parent.postMessage({name: %q, value}, "*")))</script>`, p.script(), name)
		file := strconv.Itoa(strings.Count(host, "<iframe")) + ".html"
		testkit.OK(os.WriteFile(filepath.Join(dir, file), page, 0o644))
		// which the page in the frame takes for its user's
		scheme := map[bool]string{true: "dark", false: "light"}[p.dark]
		host += fmt.Sprintf(`<iframe src="%s" width="%d" height="%d" style="border: 0; color-scheme: %s"></iframe>`,
			file, p.width, p.height, scheme)
	}
	path := filepath.Join(dir, "host.html")
	testkit.OK(os.WriteFile(path, []byte(host), 0o644))
	return path
}

// runBrowser returns the page as it is in the end, and what the browser says beside it.
func runBrowser(t *testing.T, browser, dir, path string) (page, complaints string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu",
		"--disable-background-networking", "--disable-sync",
		"--disable-component-update", "--no-first-run", "--disable-dev-shm-usage", "--hide-scrollbars",
		"--user-data-dir="+filepath.Join(dir, "profile"),
		"--enable-logging=stderr", "--virtual-time-budget=60000", "--dump-dom", "file://"+path)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v: %s", browser, err, &said)
	}
	return out.String(), said.String()
}

// contrast is the contrast of two colours in the form rgb(r, g, b), as WCAG defines it.
func contrast(t testing.TB, a, b string) float64 {
	t.Helper()
	light := func(s string) float64 {
		var c [3]float64
		if _, err := fmt.Sscanf(s, "rgb(%f, %f, %f)", &c[0], &c[1], &c[2]); err != nil {
			t.Fatalf("colour %q: %v", s, err)
		}
		for i, v := range c {
			if v /= 255; v <= 0.04045 {
				c[i] = v / 12.92
			} else {
				c[i] = math.Pow((v+0.055)/1.055, 2.4)
			}
		}
		return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2]
	}
	x, y := light(a), light(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}
