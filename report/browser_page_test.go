package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dsbo/internal/must"
)

// layoutScript finds what is wrong with how the page lies, with figures against AXIS: parts wider than the window, figures or
// cards that overlap, drawings without size, and texts of a drawing over each other.
const layoutScript = `
	const wrong = [];
	document.getElementById("axis-AXIS")?.click();
	const width = document.documentElement.clientWidth;
	if (document.documentElement.scrollWidth > width) wrong.push("the page is " + document.documentElement.scrollWidth + " wide, the window " + width);
	const meet = (a, b, slack) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > slack && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > slack;
	const apart = (elements, slack, what) => {
		const boxes = elements.map(e => e.getBoundingClientRect());
		for (let i = 0; i < boxes.length; i++) for (let j = 0; j < i; j++)
			if (meet(boxes[i], boxes[j], slack)) wrong.push(what + " overlap: " + elements[i].textContent.trim().slice(0, 40) + " | " + elements[j].textContent.trim().slice(0, 40));
	};
	apart([...document.querySelectorAll("header, section")], 0.5, "sections");
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
`

func TestPageInBrowser(t *testing.T) {
	frames := map[string]map[string]frame{"light": {}, "dark": {}}
	for name, fixtures := range scenarios() {
		path := rendered(t, fixtures...)
		for _, screen := range []struct {
			width, height int
			scheme        string
		}{{1280, 900, "light"}, {390, 844, "dark"}, {320, 600, "light"}} {
			for _, axis := range []string{"iterations", "bytes"} {
				title := fmt.Sprintf("%s, %d wide, against %s", name, screen.width, axis)
				frames[screen.scheme][title] = frame{path, screen.width, screen.height, strings.ReplaceAll(layoutScript, "AXIS", axis)}
			}
		}
	}
	for scheme := range frames {
		for title, result := range browse(t, scheme, frames[scheme]) {
			var wrong []string
			must.OK(json.Unmarshal(result, &wrong))
			for _, w := range wrong[:min(len(wrong), 5)] {
				t.Errorf("%s: %s", title, w)
			}
		}
	}
}

// The colours of figures follow the user's choice of light or dark, with the contrast that WCAG asks for: 4.5 for text, 3
// for graphics.
func TestDarkMode(t *testing.T) {
	path := rendered(t, fixture{method: "madsbo", done: 20})
	for _, scheme := range []string{"light", "dark"} {
		var colours struct{ Ground, Text, Line string }
		must.OK(json.Unmarshal(browse(t, scheme, map[string]frame{"": {path, 1280, 900, `
			const style = e => getComputedStyle(e);
			const svg = document.querySelector("figure svg");
			const lines = [...svg.querySelectorAll("path")].filter(p => p.getAttribute("style").includes("stroke:#0072B2"));
			return {Ground: style(document.querySelector("section")).backgroundColor, Text: style(svg.querySelector("text")).fill, Line: style(lines[0]).stroke};`,
		}})[""], &colours))
		if text, line := ratio(t, colours.Text, colours.Ground), ratio(t, colours.Line, colours.Ground); text < 4.5 || line < 3 {
			t.Errorf("%s: contrast of text %.1f, of lines %.1f; want 4.5 and 3", scheme, text, line)
		}
	}
}

// Headings are buttons, which the keyboard presses too: each press sorts by a column, the second the other way round.
func TestTablesSort(t *testing.T) {
	type state struct {
		Head, Order string
		Values      []string
	}
	var states []state
	must.OK(json.Unmarshal(browse(t, "light", map[string]frame{"": {rendered(t, eight()...), 1280, 900, `
		const states = [];
		for (const column of [2, 0, 0, 5, 2]) {
			if (states.length) document.querySelectorAll("#compared thead button")[column].click();
			const head = document.querySelector("#compared th[aria-sort]");
			const rows = [...document.querySelector("#compared table").tBodies[0].rows];
			states.push({Head: head.textContent.trim(), Order: head.getAttribute("aria-sort"), Values: rows.map(r => r.cells[column].dataset.sort)});
		}
		return states;`,
	}})[""], &states))
	want := []string{"Φ at the end, ascending", "Method, ascending", "Method, descending", "‖∇Φ‖, ascending", "Φ at the end, ascending"}
	for i, s := range states {
		if got := s.Head + ", " + s.Order; got != want[i] || len(s.Values) != 8 {
			t.Fatalf("%d rows sorted by %s; want 8 by %s", len(s.Values), got, want[i])
		}
		if s.Order == "descending" {
			slices.Reverse(s.Values)
		}
		if !slices.IsSortedFunc(s.Values, func(a, b string) int {
			if strings.HasPrefix(want[i], "Method") {
				return strings.Compare(a, b)
			}
			return cmp.Compare(must.Get(strconv.ParseFloat(a, 64)), must.Get(strconv.ParseFloat(b, 64)))
		}) {
			t.Errorf("%s: %v", want[i], s.Values)
		}
	}
}
