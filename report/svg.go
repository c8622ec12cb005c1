package report

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"
)

// fontStyle is what the SVG writer repeats at each text.
const fontStyle = "font-family:Liberation Sans;font-variant:normal;font-weight:normal;font-style:normal;"

// fontFamily names typefaces of the same widths, which the figure was measured with, and last
// whatever there is, without fitting widths to whole pixels.
const fontFamily = `font-family="'Liberation Sans',Arimo,Helvetica,Arial,sans-serif" text-rendering="geometricPrecision"`

// cleanSVG names the typeface once, with others of the same widths to fall back on, and gives the document its title.
func cleanSVG(svg []byte, title string) []byte {
	svg = bytes.ReplaceAll(svg, []byte(fontStyle), nil)
	svg = bytes.Replace(svg, []byte("<svg "), []byte("<svg "+fontFamily+" "), 1)
	if i := bytes.Index(svg, []byte("xlink\">")); i >= 0 && title != "" {
		i += len("xlink\">")
		svg = append(svg[:i:i], append([]byte("\n<title>"+html.EscapeString(printable(title))+"</title>"), svg[i:]...)...)
	}
	return svg
}

// inline makes an SVG document an element of a page: without XML header and size, so that it
// takes the width that the page gives it, and with its colours as CSS variables of the page.
func inline(svg []byte, label string) string {
	text := string(svg)
	start := strings.Index(text, "<svg ")
	text = regexp.MustCompile(`(width|height|xmlns|xmlns:xlink)="[^"]*"\s*`).ReplaceAllString(text[start:strings.Index(text, "<g ")], "") + text[strings.Index(text, "<g "):]
	var swaps []string
	for _, r := range append(seriesRoles(), inkRole(), mutedRole(), gridRole(), cardRole()) {
		swaps = append(swaps, ":"+r.hex(), ":var("+r.variable+")")
	}
	text = strings.NewReplacer(swaps...).Replace(text)
	return fmt.Sprintf("<svg role=\"img\" aria-label=\"%s\" %s", html.EscapeString(printable(label)), strings.TrimPrefix(text, "<svg "))
}
