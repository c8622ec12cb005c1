package report

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// svgDoc is what the tests look at in an SVG document.
type svgDoc struct {
	ViewBox string `xml:"viewBox,attr"`
	Paths   []struct {
		D     string `xml:"d,attr"`
		Style string `xml:"style,attr"`
	} `xml:"g>path"`
	Texts []struct {
		Text string `xml:",chardata"`
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

// has fails if one of the texts is missing.
func (d svgDoc) has(t rapid.TB, texts ...string) {
	t.Helper()
	var all []string
	for _, e := range d.Texts {
		all = append(all, e.Text)
	}
	for _, s := range texts {
		if !slices.Contains(all, s) {
			t.Errorf("no text %q in %v", s, all)
		}
	}
}

// strokes counts the lines of a colour.
func (d svgDoc) strokes(colour string) (n int) {
	for _, p := range d.Paths {
		if strings.Contains(p.Style, "stroke:"+colour) {
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

func svgOf(t rapid.TB, f *Figure) svgDoc {
	t.Helper()
	return readSVG(t, testkit.Get(Draw(f, color.White)))
}

func TestFigureDrawsEverySeries(t *testing.T) {
	f := Figure{Title: "Eight <methods>", XLabel: "iterations", YLabel: "Φ"}
	for i := range 8 {
		f.Series = append(f.Series,
			Series{Name: fmt.Sprintf("method & %d", i), X: []float64{0, 1, 2}, Y: []float64{3, 2, float64(i)}})
	}
	d := svgOf(t, &f)
	d.inside(t)
	d.has(t, "Eight <methods>", "iterations", "Φ", "0", "2")
	for i, c := range seriesColours {
		d.has(t, f.Series[i].Name)
		if got := d.strokes(c); got < 2 { // the line and its sample in the legend
			t.Errorf("series %d has %d strokes, want at least 2", i, got)
		}
	}
}

func TestFigureScales(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	automatic := func(s Series) Figure { return Figure{XScale: auto, YScale: auto, Series: []Series{s}} }
	tests := []struct {
		name       string
		f          Figure
		xLog, yLog bool
	}{
		{"positive and wide", automatic(Series{X: []float64{1, 2}, Y: []float64{1, 100}}), false, true},
		{"positive and narrow", automatic(Series{X: []float64{1, 2}, Y: []float64{1, 20}}), false, false},
		{"negative", automatic(Series{X: []float64{1, 2, 3}, Y: []float64{1, -1, 1000}}), false, false},
		{"zero first", automatic(Series{X: []float64{0, 1, 2}, Y: []float64{0, 1, 1000}}), false, true},
		{"wide on x", automatic(Series{X: []float64{1, 1000}, Y: []float64{1, 1}}), true, false},
		{"wide on x, but Linear", Figure{YScale: auto, Series: []Series{{X: []float64{1, 1000}, Y: []float64{1, 1}}}},
			false, false},
		{"narrow, but Log", Figure{YScale: Log, Series: []Series{{X: []float64{1, 2}, Y: []float64{1, 2}}}}, false,
			true},
		{"not finite", automatic(Series{X: []float64{1, 2, 3}, Y: []float64{1, inf, nan}}), false, false},
		{"band counts",
			automatic(Series{X: []float64{1, 2}, Y: []float64{1, 2}, Low: []float64{0.01, 1}, High: []float64{2, 3}}),
			false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if x, y := tt.f.Extents(); x.Log != tt.xLog || y.Log != tt.yLog {
				t.Errorf("logarithmic x %v, y %v; want %v, %v", x.Log, y.Log, tt.xLog, tt.yLog)
			}
			svgOf(t, &tt.f).inside(t)
		})
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
	if arcs != 4 {
		t.Errorf("%d round markers, want one at each point of the first series", arcs)
	}
}

func TestLongNamesAreShortened(t *testing.T) {
	long := strings.Repeat("very long name ", 20)
	d := svgOf(t, &Figure{Title: long, YLabel: long,
		Series: []Series{{Name: long, X: []float64{1, 2}, Y: []float64{1, 2}}}})
	for _, s := range d.Texts {
		if utf8.RuneCountInString(s.Text) > 57 {
			t.Errorf("text of %d bytes", len(s.Text))
		}
	}
}

func TestNothingToDraw(t *testing.T) {
	for name, f := range map[string]*Figure{
		"zero value":      {},
		"no finite point": {Series: []Series{{X: []float64{1}, Y: []float64{math.NaN()}}}},
		"no positive one": {YScale: Log, Series: []Series{{X: []float64{1}, Y: []float64{0}}}},
		"infinite cell":   {Cells: []float64{math.Inf(1)}, Columns: 1},
	} {
		err := Save(f, t.TempDir(), "f")
		if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), "no point") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPicture: cells lie in rows from the top, in colours that grow in lightness; one that is not
// known is empty, and one number has a colour too.
func TestPicture(t *testing.T) {
	f := &Figure{Title: "λ", YLabel: "a weight for each pixel", Columns: 28}
	for i := range 28 * 28 {
		f.Cells = append(f.Cells, float64(i)/10-3)
	}
	f.Cells[5] = math.NaN()
	d := svgOf(t, f)
	d.inside(t)
	d.has(t, "λ", "a weight for each pixel", "0", "25", "50", "75")
	last := uint32(0)
	for _, c := range ColourMap().Palette(8).Colors() {
		r, g, b, _ := c.RGBA()
		if light := 30*r + 59*g + 11*b; light <= last {
			t.Errorf("colour %v is no lighter than the one before", c)
		} else {
			last = light
		}
	}
	svgOf(t, &Figure{Cells: []float64{3, 3, 3, 3}, Columns: 2}).inside(t)
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
			XScale: scale(rapid.IntRange(0, 2).Draw(rt, "xscale")),
			YScale: scale(rapid.IntRange(0, 2).Draw(rt, "yscale")),
			Series: []Series{{Name: "a", X: draw("x"), Y: draw("y"), Low: draw("low"), High: draw("high")},
				{X: draw("x2"), Y: draw("y2")}},
		}
		data, err := Draw(&f, nil)
		if err != nil {
			return
		}
		readSVG(rt, data).inside(rt)
	})
}

// TestPictureOfThePage: a point for each cell, lighter where the number is larger, and clear where
// it is not known.
func TestPictureOfThePage(t *testing.T) {
	f := &Figure{Cells: []float64{-2, 1, math.NaN(), 4, 4, -2}, Columns: 3}
	_, text, _ := strings.Cut(string(testkit.Get(f.Picture())), ",")
	points := testkit.Get(png.Decode(bytes.NewReader(testkit.Get(base64.StdEncoding.DecodeString(text)))))
	var light []int
	for i := range f.Cells {
		r, g, b, a := points.At(i%3, i/3).RGBA()
		light = append(light, int(30*r+59*g+11*b)*int(a>>15))
	}
	if points.Bounds().Dx() != 3 || light[2] != 0 || light[0] != light[5] || light[3] != light[4] ||
		!(0 < light[0] && light[0] < light[1] && light[1] < light[3]) {
		t.Errorf("lightness %v of %v", light, f.Cells)
	}
	testkit.Get((&Figure{Cells: []float64{3, 3}, Columns: 1}).Picture()) // all alike
}

// TestSheet: seven pictures of 2×1 are five in a row and two below, apart by a cell; more than 20
// are cut. Pictures are drawn where λ has all of their cells.
func TestSheet(t *testing.T) {
	x := make([]float64, 60)
	for k := range x {
		x[k] = float64(k)
	}
	m := runs.Meaning{Pictures: 7, Rows: 2, Cols: 1}
	f := contactSheet(m, x)
	if f.Columns != 9 || len(f.Cells) != 5*9 {
		t.Fatalf("%d cells in rows of %d", len(f.Cells), f.Columns)
	}
	for at, v := range f.Cells {
		row, column := at/9, at%9
		want := math.NaN()
		if picture := row/3*5 + column/2; row != 2 && column%2 == 0 && picture < 7 {
			want = float64(2*picture + row%3)
		}
		if v != want && (v == v || want == want) {
			t.Errorf("row %d, column %d: %g, want %g", row, column, v, want)
		}
	}
	if m.Pictures = 30; len(contactSheet(m, x).Cells) != 11*9 {
		t.Error("of 30 pictures not 20 are drawn")
	}
}

// TestPointsAsCSV: a line's name with a quotation mark or a comma is one field, as it is.
func TestPointsAsCSV(t *testing.T) {
	d := drawing{Figure: &Figure{Series: []Series{
		{Name: `a "b", c`, X: []float64{0.5}, Y: []float64{-2}}, {X: []float64{1}, Y: []float64{3}}}}}
	const want = "line,x,y\n\"a \"\"b\"\", c\",0.5,-2\nreference,1,3\n"
	if got := string(d.csv()); got != "data:text/csv;charset=utf-8,"+url.PathEscape(want) {
		t.Errorf("%s", got)
	}
}

// TestOracleCalls: calls of all kinds are drawn as one number, and a matrix counts as one.
func TestOracleCalls(t *testing.T) {
	for _, a := range axes {
		r := runs.Record{Iteration: 5, Seconds: 7}
		r.Calls = dsbo.Calls{UpperGrad: 1, LowerGrad: 2, HVP: 4, JVP: 8, Hessian: 16, Jacobian: 32,
			Diagonal: 64, Value: 128}
		if want := map[string]float64{"iterations": 5, "calls": 255, "seconds": 7}[a.Name]; a.of(&r) != want {
			t.Errorf("%s: %g, want %g", a.Name, a.of(&r), want)
		}
	}
}
