package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"

	"dsbo"
	"dsbo/internal/testkit"
)

// svgDoc is what the tests look at in an SVG document.
type svgDoc struct {
	ViewBox string `xml:"viewBox,attr"`
	Paths   []struct {
		D     string `xml:"d,attr"`
		Style string `xml:"style,attr"`
	} `xml:"g>path"`
	Texts []struct {
		Y    float64 `xml:"y,attr"` // smaller where it stands higher
		Text string  `xml:",chardata"`
	} `xml:"g>text"`
}

// readSVG parses a document and fails on numbers that are none, and on addresses of the outside.
func readSVG(t rapid.TB, data []byte) (doc svgDoc) {
	t.Helper()
	for _, bad := range []string{"NaN", "Inf", "href=", "url(", "@import"} {
		if bytes.Contains(data, []byte(bad)) {
			t.Fatalf("SVG holds %q", bad)
		}
	}
	testkit.OK(xml.Unmarshal(data, &doc))
	return doc
}

// at returns the y of a text, and fails if it is missing.
func (d svgDoc) at(t rapid.TB, text string) float64 {
	t.Helper()
	for _, e := range d.Texts {
		if e.Text == text {
			return e.Y
		}
	}
	t.Errorf("no text %q in %v", text, d.Texts)
	return math.NaN()
}

// has fails if one of the texts is missing.
func (d svgDoc) has(t rapid.TB, texts ...string) {
	t.Helper()
	for _, s := range texts {
		d.at(t, s)
	}
}

// strokes counts the lines of a colour.
func (d svgDoc) strokes(c color.NRGBA) int {
	written, n := fmt.Sprintf("stroke:#%02X%02X%02X", c.R, c.G, c.B), 0
	for _, p := range d.Paths {
		if strings.Contains(p.Style, written) {
			n++
		}
	}
	return n
}

// pathText separates what a path is made of.
var pathText = strings.NewReplacer("M", " ", "L", " ", "A", " A", "Z", "")

// corners returns the points of all paths, and the size of the document.
func (d svgDoc) corners(t rapid.TB) (points [][2]float64, width, height float64) {
	t.Helper()
	testkit.Get(fmt.Sscanf(d.ViewBox, "0 0 %g %g", &width, &height))
	for _, p := range d.Paths {
		for to := range strings.FieldsSeq(pathText.Replace(p.D)) {
			if x, y, pair := strings.Cut(to, ","); pair && to[0] != 'A' { // an arc has its radii there
				points = append(points, [2]float64{testkit.Get(strconv.ParseFloat(x, 64)),
					testkit.Get(strconv.ParseFloat(y, 64))})
			}
		}
	}
	return points, width, height
}

// inside fails if a line leaves the document.
func (d svgDoc) inside(t rapid.TB) {
	t.Helper()
	points, width, height := d.corners(t)
	for _, p := range points {
		if min(p[0], p[1]) < -0.01 || p[0] > width+0.01 || p[1] > height+0.01 {
			t.Fatalf("point %v outside of %g×%g", p, width, height)
		}
	}
}

func svgOf(t rapid.TB, d drawing) svgDoc {
	t.Helper()
	title, _ := d.heading()
	return readSVG(t, testkit.Get(render(d, title, color.White)))
}

func TestFigureDrawsEverySeries(t *testing.T) {
	f := Figure{Title: "Eight <methods>", XLabel: "iterations", YLabel: "Φ", XCount: true}
	for i := range 8 {
		f.Series = append(f.Series,
			Series{Name: fmt.Sprintf("method & %d", i), X: []float64{0, 1, 2}, Y: []float64{3, 2, float64(i)}})
	}
	d := svgOf(t, &f)
	d.inside(t)
	d.has(t, "Eight <methods>", "iterations", "Φ", "0", "1", "2")
	for i, c := range seriesColours {
		d.has(t, f.Series[i].Name)
		if got := d.strokes(c); got < 2 { // the line and its sample in the legend
			t.Errorf("series %d has %d strokes, want at least 2", i, got)
		}
	}
}

// Each of many series has a pair of colour and dashes of its own.
func TestLooksDiffer(t *testing.T) {
	seen := map[string]int{}
	for i := range 2 * len(seriesColours) {
		l := seriesLook(i)
		look := fmt.Sprint(l.line.Color, l.line.Dashes)
		if j, there := seen[look]; there {
			t.Errorf("series %d and %d look alike", j, i)
		}
		seen[look] = i
	}
}

func TestFigureScales(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	tests := []struct {
		name       string
		f          Figure
		xLog, yLog bool
	}{
		{"positive and wide", Figure{Series: []Series{{X: []float64{1, 2}, Y: []float64{1, 100}}}}, false, true},
		{"positive and narrow", Figure{Series: []Series{{X: []float64{1, 2}, Y: []float64{1, 20}}}}, false, false},
		{"negative", Figure{Series: []Series{{X: []float64{1, 2, 3}, Y: []float64{1, -1, 1000}}}}, false, false},
		{"zero first", Figure{Series: []Series{{X: []float64{0, 1, 2}, Y: []float64{0, 1, 1000}}}}, false, true},
		{"zero on x", Figure{Series: []Series{{X: []float64{0, 1, 1000}, Y: []float64{1, 1, 1}}}}, false, false},
		{"wide on x", Figure{Series: []Series{{X: []float64{1, 1000}, Y: []float64{1, 1}}}}, true, false},
		{"wide on x, but Linear", Figure{XScale: Linear, Series: []Series{{X: []float64{1, 1000}, Y: []float64{1, 1}}}},
			false, false},
		{"narrow, but Log", Figure{YScale: Log, Series: []Series{{X: []float64{1, 2}, Y: []float64{1, 2}}}}, false,
			true},
		{"not finite", Figure{Series: []Series{{X: []float64{1, 2, 3}, Y: []float64{1, inf, nan}}}}, false, false},
		{"band counts",
			Figure{Series: []Series{
				{X: []float64{1, 2}, Y: []float64{1, 2}, Low: []float64{0.01, 1}, High: []float64{2, 3}}}}, false,
			true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if x, y := tt.f.extents(0); x.log != tt.xLog || y.log != tt.yLog {
				t.Errorf("logarithmic x %v, y %v; want %v, %v", x.log, y.log, tt.xLog, tt.yLog)
			}
			svgOf(t, &tt.f).inside(t)
		})
	}
}

// A long label below a logarithmic axis takes no width from it.
func TestWholeWidth(t *testing.T) {
	for _, label := range []string{"k", "oracle calls of an agent, a matrix counts as many as its columns"} {
		f := Figure{XLabel: label, XScale: Log, Series: []Series{{X: []float64{1, 1e5}, Y: []float64{1, 2}}}}
		points, width, _ := svgOf(t, &f).corners(t)
		right := 0.0
		for _, p := range points {
			right = max(right, p[0])
		}
		if right < 0.9*width {
			t.Errorf("label %q: the axis ends at %g of %g", label, right, width)
		}
	}
}

func TestFigureGapsAndSinglePoints(t *testing.T) {
	nan := math.NaN()
	f := Figure{Series: []Series{
		{Name: "gap", X: []float64{0, 1, 2, 3, 4}, Y: []float64{1, 2, nan, 2, 1}},
		{Name: "one", X: []float64{2}, Y: []float64{1.5}},
	}}
	d := svgOf(t, &f)
	if got := d.strokes(seriesColours[0]); got != 3 {
		t.Errorf("a line with a gap has %d strokes with its legend, want 3", got)
	}
	arcs := 0
	for _, p := range d.Paths {
		if strings.Contains(p.D, "A") {
			arcs++
		}
	}
	if arcs != 5 { // four points of the first series and its legend
		t.Errorf("%d round markers, want 5", arcs)
	}
}

func TestLegendIsBelowThePlot(t *testing.T) {
	f := Figure{XLabel: "x axis", Series: []Series{{Name: "a name", X: []float64{1, 2}, Y: []float64{1, 2}}},
		Levels: []Level{{"a level", 1.5}}}
	d := svgOf(t, &f)
	for _, s := range []string{"a name", "a level"} {
		if got, x := d.at(t, s), d.at(t, "x axis"); got-x < labelSize {
			t.Errorf("%q at %g, the label of x at %g: want it below", s, got, x)
		}
	}
}

func TestLongNamesAreShortened(t *testing.T) {
	long := strings.Repeat("very long name ", 20)
	d := svgOf(t, &Figure{Title: long, YLabel: long,
		Series: []Series{{Name: long, X: []float64{1, 2}, Y: []float64{1, 2}}}})
	for _, s := range d.Texts {
		if len(s.Text) > 120 {
			t.Errorf("text of %d bytes", len(s.Text))
		}
	}
}

// TestLegendHasRoom: names are cut to what a browser has room for whose typeface is wider.
func TestLegendHasRoom(t *testing.T) {
	const wider, width = 1.15, figureWidth - 2*edge
	entries := []entry{{name: strings.Repeat("Adenocarcinoma of the lower oesophagus ", 3)}}
	legends(entries, width)
	got := wider*textStyle(tickSize, ink).Width(entries[0].name) + sampleWidth + sampleGap
	if !(got <= width) {
		t.Errorf("%q is %.0f points wide, of %.0f", entries[0].name, got, vg.Length(width))
	}
}

func TestDrawingErrors(t *testing.T) {
	for _, tt := range []struct {
		name string
		d    drawing
		kind error
		word string
	}{
		{"zero value", &Figure{Title: "t"}, dsbo.ErrConfig, `"t" has no point`},
		{"no finite point", &Figure{Series: []Series{{X: []float64{1}, Y: []float64{math.NaN()}}}},
			dsbo.ErrConfig, "no point"},
		{"log without positive", &Figure{YScale: Log, Series: []Series{{X: []float64{1}, Y: []float64{0}}}},
			dsbo.ErrConfig, "no point"},
		{"lengths", &Figure{Series: []Series{{Name: "s", X: []float64{1, 2}, Y: []float64{1}}}}, dsbo.ErrShape,
			`"s" of figure "" has 2 x, 1 y`},
		{"half a band", &Figure{Series: []Series{{Name: "s", X: []float64{1}, Y: []float64{1}, Low: []float64{1}}}},
			dsbo.ErrShape, "Low and High"},
		{"empty picture", &picture{}, dsbo.ErrShape, ""},
		{"picture of another size", &picture{Rows: 2, Cols: 2, Cells: []float64{1, 2, 3}}, dsbo.ErrShape, ""},
		{"infinite cell", &picture{Rows: 1, Cols: 1, Cells: []float64{math.Inf(1)}}, dsbo.ErrConfig, ""},
	} {
		if err := save(tt.d, "", filepath.Join(t.TempDir(), "f")); !errors.Is(err, tt.kind) ||
			!strings.Contains(err.Error(), tt.word) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.word)
		}
	}
}

func TestFigureSave(t *testing.T) {
	dir := t.TempDir()
	f := Figure{Title: "T", Series: []Series{{Name: "s", X: []float64{1, 2}, Y: []float64{1, 2}}}}
	for range 2 { // the second time replaces
		testkit.OK(Save(&f, dir, "f"))
	}
	files := testkit.Get(os.ReadDir(dir))
	if len(files) != 1 || files[0].Name() != "f.svg" {
		t.Errorf("%v, want f.svg alone", files)
	}
	if err := Save(&f, filepath.Join(dir, "missing"), "f"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("into a missing folder: %v", err)
	}
}

// Any numbers give a figure or an error, never a panic or a point outside.
func TestAnyFigure(t *testing.T) {
	number := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-1, 1),
		rapid.SampledFrom([]float64{0, 1, math.NaN(), math.Inf(1), math.MaxFloat64, 5e-324}))
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 6).Draw(rt, "n")
		draw := func(name string) []float64 { return rapid.SliceOfN(number, n, n).Draw(rt, name) }
		f := Figure{
			Title: "t", XLabel: "x", YLabel: rapid.String().Draw(rt, "label"),
			XScale: Scale(rapid.IntRange(0, 2).Draw(rt, "xscale")),
			YScale: Scale(rapid.IntRange(0, 2).Draw(rt, "yscale")),
			XCount: rapid.Bool().Draw(rt, "count"),
			Series: []Series{{Name: "a", X: draw("x"), Y: draw("y"), Low: draw("low"), High: draw("high")},
				{X: draw("x2"), Y: draw("y2")}},
			Levels: []Level{{"l", number.Draw(rt, "level")}},
		}
		data, err := render(&f, f.Title, nil)
		if err != nil {
			return
		}
		readSVG(rt, data).inside(rt)
	})
}
