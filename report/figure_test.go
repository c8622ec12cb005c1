package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dsbo"
)

// svgDoc is what the tests look at in an SVG document.
type svgDoc struct {
	width, height float64
	texts         []string
	paths         []string            // their data
	strokes       map[string]int      // paths by stroke colour
	textAt        map[string]xml.Attr // the y of each text
}

// readSVG parses a document and fails on numbers that are none, and on addresses of the outside.
func readSVG(t rapid.TB, data []byte) svgDoc {
	t.Helper()
	if bad := regexp.MustCompile(`NaN|Inf|href=|url\(|@import`).Find(data); bad != nil {
		t.Fatalf("SVG holds %q", bad)
	}
	doc := svgDoc{strokes: map[string]int{}, textAt: map[string]xml.Attr{}}
	d := xml.NewDecoder(bytes.NewReader(data))
	var y xml.Attr
	inText := false // a <title> is no text in the picture
	for {
		token, err := d.Token()
		if err != nil {
			if err != io.EOF {
				t.Fatal(err)
			}
			return doc
		}
		switch e := token.(type) {
		case xml.StartElement:
			inText = e.Name.Local == "text"
			for _, a := range e.Attr {
				switch {
				case e.Name.Local == "svg" && a.Name.Local == "viewBox":
					if _, err := fmt.Sscanf(a.Value, "0 0 %g %g", &doc.width, &doc.height); err != nil {
						t.Fatal(err)
					}
				case e.Name.Local == "path" && a.Name.Local == "d":
					doc.paths = append(doc.paths, a.Value)
				case e.Name.Local == "path" && a.Name.Local == "style":
					if m := regexp.MustCompile(`stroke:(#[0-9A-F]{6})`).FindStringSubmatch(a.Value); m != nil {
						doc.strokes[m[1]]++
					}
				case e.Name.Local == "text" && a.Name.Local == "y":
					y = a
				}
			}
		case xml.EndElement:
			inText = false
		case xml.CharData:
			if s := strings.TrimSpace(string(e)); s != "" && inText {
				doc.texts = append(doc.texts, s)
				doc.textAt[s] = y
			}
		}
	}
}

// has fails if one of the texts is missing.
func (d svgDoc) has(t rapid.TB, texts ...string) {
	t.Helper()
	for _, s := range texts {
		if !slices.Contains(d.texts, s) {
			t.Errorf("no text %q in %q", s, d.texts)
		}
	}
}

// inside fails if a line leaves the document.
func (d svgDoc) inside(t rapid.TB) {
	t.Helper()
	pair := regexp.MustCompile(`[ML](-?[0-9.e+-]+),(-?[0-9.e+-]+)`)
	for _, p := range d.paths {
		for _, m := range pair.FindAllStringSubmatch(p, -1) {
			x, err1 := strconv.ParseFloat(m[1], 64)
			y, err2 := strconv.ParseFloat(m[2], 64)
			if err1 != nil || err2 != nil || x < -0.01 || y < -0.01 || x > d.width+0.01 || y > d.height+0.01 {
				t.Fatalf("point %s,%s outside of %g×%g", m[1], m[2], d.width, d.height)
			}
		}
	}
}

func svgOf(t rapid.TB, f Figure) svgDoc {
	t.Helper()
	data, err := SVG(&f)
	if err != nil {
		t.Fatal(err)
	}
	return readSVG(t, data)
}

func TestFigureDrawsEverySeries(t *testing.T) {
	f := Figure{Title: "Eight <methods>", XLabel: "iterations", YLabel: "Φ", XCount: true}
	for i := range 8 {
		f.Series = append(f.Series, Series{Name: fmt.Sprintf("method & %d", i), X: []float64{0, 1, 2}, Y: []float64{3, 2, float64(i)}})
	}
	d := svgOf(t, f)
	d.inside(t)
	d.has(t, "Eight <methods>", "iterations", "Φ", "0", "1", "2")
	for i, c := range seriesColours {
		d.has(t, f.Series[i].Name)
		if got := d.strokes[written(c)]; got < 2 { // the line and its sample in the legend
			t.Errorf("series %d: %d strokes in %s, want at least 2: %v", i, got, written(c), d.strokes)
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

// written is a colour as the SVG writer writes it.
func written(c color.Color) string {
	r, g, b, a := c.RGBA()
	f := 255 / float64(a)
	return fmt.Sprintf("#%02X%02X%02X", int(float64(r)*f), int(float64(g)*f), int(float64(b)*f))
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
		{"wide on x, told", Figure{XScale: Linear, Series: []Series{{X: []float64{1, 1000}, Y: []float64{1, 1}}}}, false, false},
		{"narrow, told", Figure{YScale: Log, Series: []Series{{X: []float64{1, 2}, Y: []float64{1, 2}}}}, false, true},
		{"not finite", Figure{Series: []Series{{X: []float64{1, 2, 3}, Y: []float64{1, inf, nan}}}}, false, false},
		{"band counts", Figure{Series: []Series{{X: []float64{1, 2}, Y: []float64{1, 2}, Low: []float64{0.01, 1}, High: []float64{2, 3}}}}, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if x, y := tt.f.logs(); x != tt.xLog || y != tt.yLog {
				t.Errorf("logarithmic x %v, y %v; want %v, %v", x, y, tt.xLog, tt.yLog)
			}
			svgOf(t, tt.f).inside(t)
		})
	}
}

// A long label below a logarithmic axis takes no width from it.
func TestWholeWidth(t *testing.T) {
	for _, label := range []string{"k", "oracle calls of an agent, each matrix counted as so many products"} {
		f := Figure{XLabel: label, XScale: Log, Series: []Series{{X: []float64{1, 1e5}, Y: []float64{1, 2}}}}
		right := 0.0
		d := svgOf(t, f)
		for _, p := range d.paths {
			for _, m := range regexp.MustCompile(`[ML]([0-9.]+),`).FindAllStringSubmatch(p, -1) {
				x, err := strconv.ParseFloat(m[1], 64)
				if err != nil {
					t.Fatal(err)
				}
				right = max(right, x)
			}
		}
		if right < 0.9*d.width {
			t.Errorf("label %q: the axis ends at %g of %g", label, right, d.width)
		}
	}
}

func TestFigureGapsAndSinglePoints(t *testing.T) {
	nan := math.NaN()
	f := Figure{Series: []Series{
		{Name: "gap", X: []float64{0, 1, 2, 3, 4}, Y: []float64{1, 2, nan, 2, 1}},
		{Name: "one", X: []float64{2}, Y: []float64{1.5}},
	}}
	d := svgOf(t, f)
	if got := d.strokes[written(seriesColours[0])]; got != 3 {
		t.Errorf("a line with a gap has %d strokes with its legend, want 3", got)
	}
	arcs := 0
	for _, p := range d.paths {
		if strings.Contains(p, "A") {
			arcs++
		}
	}
	if arcs != 5 { // four points of the first series and its legend
		t.Errorf("%d round markers, want 5", arcs)
	}
}

func TestLegendIsBelowThePlot(t *testing.T) {
	f := Figure{XLabel: "x axis", Series: []Series{{Name: "a name", X: []float64{1, 2}, Y: []float64{1, 2}}}, Levels: []Level{{"a level", 1.5}}}
	d := svgOf(t, f)
	at := func(s string) float64 {
		y, err := strconv.ParseFloat(d.textAt[s].Value, 64)
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		return y
	}
	// y of a text is negated by its own transform: what stands higher is smaller.
	for _, s := range []string{"a name", "a level"} {
		if at(s)-at("x axis") < labelSize {
			t.Errorf("%q at %g, the label of x at %g: want it below", s, at(s), at("x axis"))
		}
	}
}

func TestLongNamesAreShortened(t *testing.T) {
	long := strings.Repeat("very long name ", 20)
	d := svgOf(t, Figure{Title: long, YLabel: long, Series: []Series{{Name: long, X: []float64{1, 2}, Y: []float64{1, 2}}}})
	for _, s := range d.texts {
		if len(s) > 120 {
			t.Errorf("text of %d bytes", len(s))
		}
	}
}

func TestFigureErrors(t *testing.T) {
	tests := []struct {
		name string
		f    Figure
		kind error
		word string
	}{
		{"zero value", Figure{Title: "t"}, dsbo.ErrConfig, `"t" has no point`},
		{"no finite point", Figure{Series: []Series{{X: []float64{1}, Y: []float64{math.NaN()}}}}, dsbo.ErrConfig, "no point"},
		{"log without positive", Figure{YScale: Log, Series: []Series{{X: []float64{1}, Y: []float64{0}}}}, dsbo.ErrConfig, "no point"},
		{"lengths", Figure{Series: []Series{{Name: "s", X: []float64{1, 2}, Y: []float64{1}}}}, dsbo.ErrShape, `"s" of figure "" has 2 x, 1 y`},
		{"half a band", Figure{Series: []Series{{Name: "s", X: []float64{1}, Y: []float64{1}, Low: []float64{1}}}}, dsbo.ErrShape, "Low and High"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := SVG(&tt.f)
			if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.word) {
				t.Errorf("SVG: %v, want %q", err, tt.word)
			}
			if err := Save(&tt.f, t.TempDir(), "f"); !errors.Is(err, tt.kind) {
				t.Errorf("Save: %v", err)
			}
		})
	}
}

func TestFigureSave(t *testing.T) {
	dir := t.TempDir()
	f := Figure{Title: "T", Series: []Series{{Name: "s", X: []float64{1, 2}, Y: []float64{1, 2}}}}
	for range 2 { // the second time replaces
		if err := Save(&f, dir, "f"); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 2 {
		t.Errorf("%d files, want f.png and f.svg", len(files))
	}
	in, err := os.Open(filepath.Join(dir, "f.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	picture, err := png.Decode(in)
	if err != nil {
		t.Fatal(err)
	}
	if w := picture.Bounds().Dx(); w != 740 {
		t.Errorf("PNG is %d wide, want 740", w)
	}
	if err := Save(&f, filepath.Join(dir, "missing"), "f"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("into a missing folder: %v", err)
	}
}

func TestSameFigureSameBytes(t *testing.T) {
	f := Figure{Series: []Series{{Name: "s", X: []float64{1, 2, 3}, Y: []float64{1, 300, 2}, Points: true, Fit: true}}}
	a, err := SVG(&f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := SVG(&f)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Error("two drawings of one figure differ")
	}
}

// Any numbers give a figure or an error, never a panic or a point outside.
func TestAnyFigure(t *testing.T) {
	number := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-1, 1), rapid.SampledFrom([]float64{0, 1, math.NaN(), math.Inf(1), math.MaxFloat64, 5e-324}))
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 6).Draw(rt, "n")
		draw := func(name string) []float64 { return rapid.SliceOfN(number, n, n).Draw(rt, name) }
		f := Figure{
			Title: "t", XLabel: "x", YLabel: rapid.String().Draw(rt, "label"),
			XScale: Scale(rapid.IntRange(0, 2).Draw(rt, "xscale")), YScale: Scale(rapid.IntRange(0, 2).Draw(rt, "yscale")),
			XCount: rapid.Bool().Draw(rt, "count"),
			Series: []Series{{Name: "a", X: draw("x"), Y: draw("y"), Low: draw("low"), High: draw("high")}, {X: draw("x2"), Y: draw("y2"), Points: true, Fit: true}},
			Levels: []Level{{"l", number.Draw(rt, "level")}},
		}
		data, err := SVG(&f)
		if err != nil {
			return
		}
		readSVG(rt, data)
	})
}
