package report

import (
	"bytes"
	"compress/zlib"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"

	"dsbo/internal/testkit"
)

// TestPDF: a PDF is the same bytes each time, holds no font that a reader might lack, and its
// letters are filled outlines, Greek ones too.
func TestPDF(t *testing.T) {
	f := Figure{Title: "Φ of λ", XLabel: "iterations", YLabel: "√Φ", Series: []Series{{Name: "one",
		X: []float64{0, 1, 2}, Y: []float64{3, 2, 1}, Low: []float64{2, 1, 0}, High: []float64{4, 3, 2}}}}
	dir := t.TempDir()
	var written [2][]byte
	for i, name := range []string{"a", "b"} {
		testkit.OK(SavePDF(&f, dir, name))
		written[i] = testkit.Get(os.ReadFile(filepath.Join(dir, name+".pdf")))
	}
	if !bytes.Equal(written[0], written[1]) {
		t.Error("two files of one figure differ")
	}
	if !bytes.HasPrefix(written[0], []byte("%PDF-")) || !bytes.HasSuffix(bytes.TrimSpace(written[0]), []byte("%%EOF")) {
		t.Errorf("no PDF: %.20q…", written[0])
	}
	_, stream, _ := bytes.Cut(written[0], []byte("stream\n"))
	drawn := testkit.Get(io.ReadAll(testkit.Get(zlib.NewReader(bytes.NewReader(stream)))))
	if bytes.Contains(drawn, []byte(" Tj")) || bytes.Contains(written[0], []byte("/BaseFont")) {
		t.Error("the PDF has texts in a font, want outlines")
	}
	// texts of the figure and of ticks, and the band
	if fills := len(regexp.MustCompile(`(?m)^f$`).FindAll(drawn, -1)); fills < 6 {
		t.Errorf("%d areas are filled, want each text and the band", fills)
	}
}

// TestOutlines: an outline is where its letter is, within what the letter takes of the line.
func TestOutlines(t *testing.T) {
	style := textStyle(titleSize, ink)
	face := font.DefaultCache.Lookup(style.Font, style.Font.Size)
	at := vg.Point{X: 100, Y: 50}
	for _, letter := range "Φλo" {
		path := outline(face, letter, at)
		if len(path) < 8 {
			t.Fatalf("%c has %d parts", letter, len(path))
		}
		for _, part := range path {
			p := part.Pos
			if p.X < at.X || p.X > at.X+face.Width(string(letter)) || p.Y < at.Y-0.03*titleSize ||
				p.Y > at.Y+0.8*titleSize {
				t.Errorf("%c: a corner at %v, of a letter at %v", letter, p, at)
			}
		}
	}
	if path := outline(face, ' ', at); path != nil {
		t.Errorf("a blank has the outline %v", path)
	}
}

// TestStraight: PDF multiplies a colour by its opacity, so that it gets the colour's own parts.
func TestStraight(t *testing.T) {
	r, g, b, a := straight{0xff, 0x80, 0, 0x2E}.RGBA()
	if got, want := [4]uint32{r >> 8, g >> 8, b >> 8, a >> 8}, [4]uint32{0xff, 0x80, 0, 0x2E}; got != want {
		t.Errorf("parts %v, want %v", got, want)
	}
}
