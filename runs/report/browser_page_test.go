package report

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dsbo/internal/testkit"
)

// layoutScript finds what is wrong with how the page lies, with figures against AXIS: parts wider
// than the window, figures or cards or buttons that overlap, drawings without size, and a verdict
// that is not on the first screen.
const layoutScript = `
	const wrong = [];
	document.querySelectorAll("details").forEach(d => d.open = true);
	document.getElementById("axis-AXIS")?.click();
	await new Promise(done => setTimeout(done, 50)); // uPlot draws when the script has ended
	const width = document.documentElement.clientWidth;
	if (document.documentElement.scrollWidth > width) wrong.push("the page is " +
		document.documentElement.scrollWidth + " wide, the window " + width);
	const meet = (a, b, slack) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > slack &&
		Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > slack;
	const apart = (elements, slack, what) => {
		const boxes = elements.map(e => e.getBoundingClientRect());
		for (let i = 0; i < boxes.length; i++) for (let j = 0; j < i; j++)
			if (meet(boxes[i], boxes[j], slack)) wrong.push(what + " overlap: " +
				elements[i].textContent.trim().slice(0, 40) + " | " + elements[j].textContent.trim().slice(0, 40));
	};
	apart([...document.querySelectorAll("header, section")], 0.5, "sections");
	apart([...document.querySelectorAll("figure")], 0.5, "figures");
	apart([...document.querySelectorAll("figure > *")].filter(e => e.offsetParent), 0.5, "parts of figures");
	apart([...document.querySelectorAll(".facts > div")], 0.5, "facts");
	for (const figure of document.querySelectorAll("figure")) {
		const shown = [...figure.querySelectorAll(".drawing svg, .picture, .chart canvas")].filter(s =>
			s.getBoundingClientRect().width > 0);
		if (shown.length !== 1) wrong.push(figure.id + " shows " + shown.length + " drawings");
		for (const drawing of shown) {
			const box = drawing.getBoundingClientRect();
			if (box.width < 200 || box.height < 150 || box.right > width) wrong.push(figure.id + " is " +
				box.width + " by " + box.height);
		}
		apart([...figure.querySelectorAll(".tools > *")], 0.5, figure.id + ": buttons");
		apart([...figure.querySelectorAll(".legend > *")], 0.5, figure.id + ": names");
	}
	const verdict = document.getElementById("verdict")?.getBoundingClientRect();
	if (innerHeight > 800 && verdict?.bottom > innerHeight) wrong.push("the verdict ends at " + verdict.bottom +
		", below the window");
	return wrong;
`

// An inspection is the body of a function that looks at a page, and a check of what it returned.
type inspection struct {
	script string
	check  func(t *testing.T, seen json.RawMessage)
}

// A window shows a page at some size, on which inspections are made one after the other.
type window struct {
	path          string
	width, height int
	dark          bool
	inspections   []inspection
}

// script has the inspections of a window in one.
func (w window) script() string {
	script := "const seen = [];\n"
	for _, i := range w.inspections {
		script += fmt.Sprintf("seen.push(await (async () => {%s})());\n", i.script)
	}
	return script + "return seen;"
}

// TestInBrowser looks at pages of every kind in a narrow window, and at those with the most to show
// in wider ones, in one browser. Light or dark changes colours alone.
func TestInBrowser(t *testing.T) {
	windows := map[string]window{}
	for name := range scenarios() {
		path := filepath.Join(t.TempDir(), "report.html")
		testkit.OK(os.WriteFile(path, pageOf(t, name), 0o644))
		windows[name] = window{path, 320, 640, false, []inspection{layout("iterations")}}
		for _, more := range map[string][]window{
			"finished": {{path, 390, 844, true, []inspection{contrasts, layout("seconds")}},
				{path, 1280, 900, false, []inspection{figures, contrasts, layout("bytes")}}},
			"side by side": {{path, 390, 844, true, []inspection{layout("seconds")}},
				{path, 1280, 900, false, []inspection{sorting, layout("bytes")}}},
			"lost":    {{path, 390, 844, true, []inspection{layout("seconds")}}},
			"members": {{path, 1280, 900, false, []inspection{layout("bytes")}}},
		}[name] {
			windows[fmt.Sprintf("%s, %d wide", name, more.width)] = more
		}
	}
	path := sideBySide(t)
	windows["parts, 390 wide"] = window{path, 390, 850, true, []inspection{layout("seconds")}}
	windows["parts, 1280 wide"] = window{path, 1280, 900, false, []inspection{switches, layout("bytes")}}
	path = answered(t)
	for _, w := range []window{
		{path, 390, 850, true, []inspection{measures, persons}}, {path, 600, 900, false, []inspection{measures}},
		{path, 1000, 900, false, []inspection{measures}}, {path, 1280, 850, false, []inspection{measures, persons}},
	} {
		windows[fmt.Sprintf("answered, %d wide", w.width)] = w
	}
	all := openPages(t, windows)
	for name, w := range windows {
		t.Run(name, func(t *testing.T) {
			var seen []json.RawMessage
			testkit.OK(json.Unmarshal(all[name], &seen))
			for i, inspection := range w.inspections {
				inspection.check(t, seen[i])
			}
		})
	}
}

// layout is what is wrong with how a page lies.
func layout(axis string) inspection {
	return inspection{strings.ReplaceAll(layoutScript, "AXIS", axis), func(t *testing.T, seen json.RawMessage) {
		var wrong []string
		testkit.OK(json.Unmarshal(seen, &wrong))
		for _, w := range wrong[:min(len(wrong), 5)] {
			t.Error(w)
		}
	}}
}

// contrasts: colours of figures follow the user's choice of light or dark, with the contrast that
// WCAG asks for: 4.5 for text, 3 for graphics.
var contrasts = inspection{`
	const style = e => getComputedStyle(e);
	const figure = document.querySelector("figure");
	return {Ground: style(document.querySelector("#main")).backgroundColor, Text:
		style(figure.querySelector(".label")).color,
		Line: style(figure.querySelector(".legend path")).stroke};`, checkColours}

func checkColours(t *testing.T, seen json.RawMessage) {
	var c struct{ Ground, Text, Line string }
	testkit.OK(json.Unmarshal(seen, &c))
	if text, line := contrast(t, c.Text, c.Ground), contrast(t, c.Line, c.Ground); text < 4.5 ||
		line < 3 {
		t.Errorf("contrast of text %.1f, of lines %.1f; want 4.5 and 3", text, line)
	}
}

// sorting: headings are buttons, which the keyboard presses too: each press sorts by a column, the
// second the other way round.
var sorting = inspection{`
	const states = [];
	for (const column of [2, 0, 0, 6, 2]) {
		if (states.length) document.querySelectorAll("#topic-0 thead button")[column].click();
		const head = document.querySelector("#topic-0 th[aria-sort]");
		const rows = [...document.querySelector("#topic-0 table").tBodies[0].rows];
		states.push({Head: head.textContent.trim(), Order: head.getAttribute("aria-sort"),
			Values: rows.map(r => r.cells[column].dataset.sort)});
	}
	return states;`, checkSorted}

// checkSorted checks the rows after each press.
func checkSorted(t *testing.T, seen json.RawMessage) {
	var states []struct {
		Head, Order string
		Values      []string
	}
	testkit.OK(json.Unmarshal(seen, &states))
	want := []string{"Φ − best constant, ascending", "Method, ascending", "Method, descending",
		"Φ, best constant, ascending", "Φ − best constant, ascending"}
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
			return cmp.Compare(testkit.Get(strconv.ParseFloat(a, 64)), testkit.Get(strconv.ParseFloat(b, 64)))
		}) {
			t.Errorf("%s: %v", want[i], s.Values)
		}
	}
}

// figures answer to pointer, keyboard and buttons: values, zoom, lines on and off, scales, windows,
// axes, and files to download.
var figures = inspection{`
	const chart = charts[0], figure = document.getElementById("figure-phi"), out = {Names: []};
	const drawn = () => new Promise(done => setTimeout(done, 50)); // uPlot draws when the script has ended
	await drawn();
	const value = i => figure.querySelectorAll(".legend b")[i].textContent, range = () =>
		[chart.plot.scales.x.min, chart.plot.scales.x.max];
	const press = label => [...figure.querySelectorAll(".tools button")].find(b =>
		b.getAttribute("aria-label") === label).click();
	const mouse = (type, x, y) => chart.plot.over.dispatchEvent(new MouseEvent(type, {bubbles: true, button:
		0, buttons: 1, clientX: box.left + x, clientY: box.top + y, movementX: 9, movementY: 0}));
	let box = chart.plot.over.getBoundingClientRect();
	out.Last = value(0);
	mouse("mouseenter", 5, 50); mouse("mousemove", chart.plot.valToPos(20, "x"), 50);
	chart.plot.setCursor({left: chart.plot.valToPos(20, "x"), top: 50});
	[out.Hovered, out.Readout] = [value(0), figure.querySelector(".readout").textContent];
	figure.querySelector(".chart").dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"}));
	out.Keyed = value(0);
	out.Whole = range();
	const [from, to] = [40, 80].map(k => chart.plot.valToPos(k, "x"));
	chart.plot.setSelect({left: from, top: 0, width: to - from, height: box.height});
	await drawn();
	out.Zoomed = range();
	press("Zoom in");
	await drawn();
	out.Wheel = range();
	press("Reset the zoom");
	await drawn();
	out.Reset = range();
	const toggle = () => figure.querySelector(".legend button");
	toggle().click();
	[out.Pressed, out.Hidden] = [[toggle().getAttribute("aria-pressed")], !chart.plot.series[1].show];
	toggle().click();
	out.Pressed.push(toggle().getAttribute("aria-pressed"));
	out.Shown = chart.plot.series[1].show;
	press("Logarithmic scale");
	out.Log = chart.plot.scales.y.distr === 3;
	press("Logarithmic scale");
	out.Linear = chart.plot.scales.y.distr === 1;
	const real = HTMLAnchorElement.prototype.click;
	HTMLAnchorElement.prototype.click = function() { out.Names.push(this.download); };
	await drawn();
	press("Download the numbers as CSV");
	out.Csv = chart.csv();
	const png = chart.png();
	out.Png = [png.width, png.height, png.getContext("2d").getImageData(0, 0, png.width,
		png.height).data.filter((v, i) => i % 4 === 0 && v < 100).length];
	HTMLAnchorElement.prototype.click = real;
	const select = figure.querySelector("select");
	select.value = 1;
	select.dispatchEvent(new Event("change"));
	out.Difference = value(0);
	return out;`, checkAnswers}

// checkAnswers checks what the figure of Φ has shown.
func checkAnswers(t *testing.T, seen json.RawMessage) {
	records := loaded(t, scenarios()["finished"]...)[0].Records
	var got struct {
		Last, Hovered, Readout, Keyed, Csv, Difference string
		Zoomed, Wheel, Reset, Whole                    []float64
		Pressed                                        [2]string
		Hidden, Shown, Log, Linear                     bool
		Png                                            []int
		Names                                          []string
	}
	testkit.OK(json.Unmarshal(seen, &got))
	phi := func(k int) string { return strconv.FormatFloat(float64(records[k].Phi), 'g', 5, 64) }
	if got.Last != phi(10) || got.Hovered != phi(2) || got.Keyed != phi(3) ||
		got.Readout != "At outer iterations k = 20" {
		t.Errorf("last value %s, at 20 %s, after a key %s, readout %q; want %s, %s, %s", got.Last, got.Hovered,
			got.Keyed, got.Readout, phi(10), phi(2), phi(3))
	}
	if near := func(v, w float64) bool { return max(v-w, w-v) < 0.5 }; !near(got.Zoomed[0], 40) ||
		!near(got.Zoomed[1], 80) || got.Wheel[1]-got.Wheel[0] > 21 {
		t.Errorf("zoomed to %v, and further to %v; want 40 to 80 and half of it", got.Zoomed, got.Wheel)
	}
	if !slices.Equal(got.Reset, got.Whole) || got.Pressed != [2]string{"false", "true"} || !got.Hidden || !got.Shown ||
		!got.Log || !got.Linear {
		t.Errorf("%+v", got)
	}
	if want := strconv.FormatFloat(float64(records[10].Phi)-0.2893, 'g', 5,
		64); got.Difference != strings.Replace(want, "-", "−", 1) {
		t.Errorf("Φ − best constant ends at %s, want %s", got.Difference, want)
	}
	if !slices.Equal(got.Names, []string{"phi.csv"}) || got.Png[0] < 1000 || got.Png[2] < 1000 {
		t.Errorf("downloads %v, picture of %v", got.Names, got.Png)
	}
	rows := testkit.Get(csv.NewReader(strings.NewReader(got.Csv)).ReadAll())
	if len(rows) != len(records)+2 ||
		strings.Join(rows[0], " ") != "line iterations seconds calls bytes value least greatest" {
		t.Fatalf("%d rows under %q", len(rows), rows[0])
	}
	for i, rec := range records {
		for j, want := range map[int]float64{1: float64(rec.Iteration), 2: rec.Seconds, 4: float64(rec.Bytes),
			5: float64(rec.Phi)} {
			if v, err := strconv.ParseFloat(rows[i+1][j], 64); err != nil || v != want {
				t.Errorf("row %d of the CSV: %s is %s, want %v", i+1, rows[0][j], rows[i+1][j], want)
			}
		}
	}
}
