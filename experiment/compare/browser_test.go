package compare

import (
	"encoding/json"
	"fmt"
	"testing"

	"dsbo/internal/testkit"
)

// pageScript finds what is wrong with how the page lies, and the colours of a table, of the words
// and a curve of a figure, and below them.
const pageScript = `
	const wrong = [], width = document.documentElement.clientWidth;
	if (document.documentElement.scrollWidth > width) wrong.push("the page is " + document.documentElement.scrollWidth + " wide, the window " + width);
	const parts = [...document.querySelectorAll("header, section > *, figure")].filter(e => !e.classList.contains("figures"));
	for (let i = 0; i < parts.length; i++) for (let j = 0; j < i; j++) {
		const a = parts[i].getBoundingClientRect(), b = parts[j].getBoundingClientRect();
		if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.5)
			wrong.push("overlap: " + parts[i].textContent.trim().slice(0, 40) + " | " + parts[j].textContent.trim().slice(0, 40));
	}
	for (const drawing of document.querySelectorAll("figure svg")) {
		const box = drawing.getBoundingClientRect();
		if (box.width < 200 || box.height < 150 || box.right > width) wrong.push("a figure is " + box.width + " by " + box.height);
	}
	const style = e => getComputedStyle(e), curve = [...document.querySelectorAll("figure svg path")].find(p => style(p).strokeWidth !== "0px" && style(p).fill === "none" && style(p).strokeDasharray === "none" && parseFloat(style(p).strokeWidth) > 1);
	return {Wrong: wrong, Ground: style(document.querySelector("section")).backgroundColor, Table: style(document.querySelector("td")).color,
		Words: style(document.querySelector("figure svg text")).fill, Curve: curve ? style(curve).stroke : ""};
`

// inspectPage looks at a page in a browser, for users of light and of dark colours: the contrast is
// what WCAG asks for, 4.5 for text and 3 for graphics.
func inspectPage(t *testing.T, path string) {
	pages := map[string]testkit.Page{}
	for _, width := range []int{1280, 390} {
		for _, dark := range []bool{false, true} {
			pages[fmt.Sprintf("%d wide, dark %t", width, dark)] = testkit.Page{Path: path, Width: width, Height: 900,
				Dark: dark, Script: pageScript}
		}
	}
	for name, seen := range testkit.OpenPages(t, pages) {
		var got struct {
			Wrong                       []string
			Ground, Table, Words, Curve string
		}
		testkit.OK(json.Unmarshal(seen, &got))
		for _, w := range got.Wrong[:min(len(got.Wrong), 5)] {
			t.Errorf("%s: %s", name, w)
		}
		for _, c := range []struct {
			what, colour string
			least        float64
		}{{"the table", got.Table, 4.5}, {"words of figures", got.Words, 4.5}, {"a curve", got.Curve, 3}} {
			if is := testkit.Contrast(t, c.colour, got.Ground); is < c.least {
				t.Errorf("%s: contrast of %s %.1f, want %.1f", name, c.what, is, c.least)
			}
		}
	}
}
