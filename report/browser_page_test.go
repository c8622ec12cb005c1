package report

import (
	"cmp"
	"slices"
	"strings"
	"testing"
)

// layoutScript finds what is wrong with how the page lies: parts wider than the window, figures or
// cards that overlap, drawings without size, and texts of a drawing over each other.
const layoutScript = `(() => {
	const wrong = [];
	const width = document.documentElement.clientWidth;
	if (document.documentElement.scrollWidth > width) wrong.push("the page is " + document.documentElement.scrollWidth + " wide, the window " + width);
	const meet = (a, b, slack) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > slack && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > slack;
	const apart = (elements, slack, what) => {
		const boxes = elements.map(e => e.getBoundingClientRect());
		for (let i = 0; i < boxes.length; i++) for (let j = 0; j < i; j++)
			if (meet(boxes[i], boxes[j], slack)) wrong.push(what + " overlap: " + elements[i].textContent.trim().slice(0, 40) + " | " + elements[j].textContent.trim().slice(0, 40));
	};
	apart([...document.querySelectorAll("header, section, footer")], 0.5, "sections");
	apart([...document.querySelectorAll("figure")], 0.5, "figures");
	apart([...document.querySelectorAll("figure > *")].filter(e => e.offsetParent), 0.5, "parts of figures");
	apart([...document.querySelectorAll(".facts > div")], 0.5, "facts");
	for (const figure of document.querySelectorAll("figure")) {
		const shown = [...figure.querySelectorAll("svg")].filter(s => s.getBoundingClientRect().width > 0);
		if (shown.length !== 1) wrong.push(figure.id + " shows " + shown.length + " drawings");
		for (const svg of shown) {
			const box = svg.getBoundingClientRect();
			if (box.width < 200 || box.height < 150 || box.right > width) wrong.push(figure.id + " is " + box.width + " by " + box.height);
			const texts = [...svg.querySelectorAll("text")];
			apart(texts, 1.5 * box.width / 370, figure.id + ": texts");
			for (const t of texts) {
				const b = t.getBoundingClientRect();
				if (b.left < box.left - 1 || b.right > box.right + 1 || b.top < box.top - 3 || b.bottom > box.bottom + 3) wrong.push(figure.id + ": text outside: " + t.textContent);
			}
		}
	}
	return wrong;
})()`

func TestPageInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	b := startBrowser(t)
	for name, fixtures := range scenarios() {
		path := rendered(t, fixtures...)
		for _, screen := range []struct {
			width, height int
			scheme        string
		}{{1280, 900, "light"}, {390, 844, "dark"}, {320, 600, "light"}} {
			b.screen(screen.width, screen.height, screen.scheme)
			b.open(path)
			for _, axis := range []string{"iterations", "bytes"} {
				var there bool
				b.eval(`(() => { const a = document.getElementById("axis-`+axis+`"); if (a) a.click(); return a !== null })()`, &there)
				if !there {
					t.Errorf("%s: no switch to %s", name, axis)
				}
				var wrong []string
				b.eval(layoutScript, &wrong)
				if len(wrong) > 5 {
					wrong = append(wrong[:5], "...")
				}
				for _, w := range wrong {
					t.Errorf("%s, %d wide, against %s: %s", name, screen.width, axis, w)
				}
			}
		}
	}
	for _, p := range b.problems {
		t.Errorf("the browser complains: %s", p)
	}
}

// The colours of figures follow the user's choice of light or dark.
func TestDarkMode(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	b := startBrowser(t)
	path := rendered(t, fixture{method: "madsbo", done: 20})
	contrast := func(scheme string) (text, line float64) {
		b.screen(1280, 900, scheme)
		b.open(path)
		var colours struct{ Ground, Text, Line string }
		b.eval(`(() => {
			const style = e => getComputedStyle(e);
			const svg = document.querySelector("figure svg");
			const lines = [...svg.querySelectorAll("path")].filter(p => p.getAttribute("style").includes("stroke:#0072B2"));
			return {Ground: style(document.querySelector("section")).backgroundColor, Text: style(svg.querySelector("text")).fill, Line: style(lines[0]).stroke};
		})()`, &colours)
		return ratio(t, colours.Text, colours.Ground), ratio(t, colours.Line, colours.Ground)
	}
	// What WCAG asks for: 4.5 for text, 3 for graphics.
	for _, scheme := range []string{"light", "dark"} {
		if text, line := contrast(scheme); text < 4.5 || line < 3 {
			t.Errorf("%s: contrast of text %.1f, of lines %.1f; want 4.5 and 3", scheme, text, line)
		}
	}
}

func TestTablesSort(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	b := startBrowser(t)
	path := rendered(t, eight()...)
	b.screen(1280, 900, "light")
	b.open(path)
	column := func(i int) (values []string) {
		b.eval(`[...document.querySelector("#compared table").tBodies[0].rows].map(r => r.cells[`+string(rune('0'+i))+`].dataset.sort)`, &values)
		return values
	}
	sorted := func() (head, order string) {
		var state []string
		b.eval(`(() => { const h = document.querySelector("#compared th[aria-sort]"); return [h.textContent.trim(), h.getAttribute("aria-sort")] })()`, &state)
		return state[0], state[1]
	}
	check := func(i int, wantHead, wantOrder string) {
		t.Helper()
		if head, order := sorted(); head != wantHead || order != wantOrder {
			t.Errorf("sorted by %q, %s; want %q, %s", head, order, wantHead, wantOrder)
		}
		values := column(i)
		if len(values) != 8 {
			t.Fatalf("%d rows", len(values))
		}
		compare := strings.Compare
		if i > 0 {
			compare = func(a, b string) int { return cmp.Compare(parse(t, a), parse(t, b)) }
		}
		if wantOrder == "descending" {
			slices.Reverse(values)
		}
		if !slices.IsSortedFunc(values, compare) {
			t.Errorf("column %d: %v is not sorted", i, values)
		}
	}
	click := func(i int) {
		var done bool
		b.eval(`(() => { document.querySelectorAll("#compared thead button")[`+string(rune('0'+i))+`].click(); return true })()`, &done)
	}
	check(2, "Φ at the end", "ascending")
	click(0)
	check(0, "Method", "ascending")
	click(0)
	check(0, "Method", "descending")
	click(5)
	check(5, "‖∇Φ‖", "ascending")

	// The keyboard does it too.
	var done bool
	b.eval(`(() => { document.querySelectorAll("#compared thead button")[2].focus(); return true })()`, &done)
	for _, kind := range []string{"keyDown", "keyUp"} {
		b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}, nil)
	}
	check(2, "Φ at the end", "ascending")
	for _, p := range b.problems {
		t.Errorf("the browser complains: %s", p)
	}
}
