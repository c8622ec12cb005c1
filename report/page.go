package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"dsbo/runs"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

// A page is what the template shows.
type page struct {
	sheet
	Title, Lead, Footer string
	Style               template.CSS
	Script              template.JS
	States, Warnings    []remark
	Outcomes, Costs     []fact // of a single group
	Baselines           *table
	Constants           string
	Compared, CostTable *table // of several
	Axes                []axis // that figures can be drawn against
	Runs                *table
	SettingsTitle       string
	Settings, Machine   []fact
}

// A remark is a sentence on one run; its name is empty if there is only one.
type remark struct{ Kind, Name, Text string }

// newPage builds the page of the groups.
func newPage(gs []group) *page {
	p := &page{Style: template.CSS(pageCSS + chipStyle()), Script: template.JS(pageJS)}
	p.sheet = newSheet(gs)
	for _, a := range axes() {
		drawn := func(d namedDrawing) bool { return d.Axis == a.Name }
		if slices.ContainsFunc(p.drawings(), drawn) {
			p.Axes = append(p.Axes, a)
		}
	}
	p.heading(gs)
	several := len(gs) > 1 || len(gs[0].runs) > 1
	p.endings(gs, several)
	if len(gs) == 1 {
		p.Outcomes, p.Costs = facts(gs[0], outcomes()), facts(gs[0], costs())
		p.Baselines, p.Constants = baselines(gs[0]), constants(gs[0])
	} else {
		heading := comparedBy(gs)
		p.Compared, p.CostTable = comparison(heading+"s compared", heading, gs, outcomes()), comparison("Costs", heading, gs, costs())
	}
	p.SettingsTitle = "Settings"
	if several {
		p.Runs, p.SettingsTitle = runTable(gs), "Settings of all runs"
	}
	p.Settings = sharedSettings(gs, func(r *Run) runs.Differences { return r.settings })
	p.Machine = sharedSettings(gs, func(r *Run) runs.Differences { return r.build })
	return p
}

// heading writes title and first sentence.
func (p *page) heading(gs []group) {
	const median = "their median is drawn as a line, in a band from least to greatest."
	first := gs[0].runs[0]
	n := 0 // runs
	var labels []string
	for _, g := range gs {
		n += len(g.runs)
		labels = append(labels, g.label)
	}
	things := plural(len(gs), strings.ToLower(comparedBy(gs)))
	p.Title = first.task() + ": " + strings.Join(labels, ", ")
	switch {
	case n == 1:
		p.Lead = "Run " + first.Name + "."
	case len(gs) == 1:
		p.Title += fmt.Sprintf(", %d runs", n)
		p.Lead = fmt.Sprintf("%d runs differ in their seed alone: %s", n, median)
	default:
		p.Lead = fmt.Sprintf("%d runs of %s.", n, things)
		if n > len(gs) {
			p.Lead += " Where runs differ in their seed alone, " + median
		}
	}
	if len(gs) > 3 {
		p.Title = first.task() + ": " + things
	}
}

// endings says how the runs ended: those that finished in one sentence, each other in its own.
func (p *page) endings(gs []group, several bool) {
	var finished []string
	for _, g := range gs {
		for _, r := range g.runs {
			name := ""
			if several {
				name = r.Name
			}
			if kind, text := r.state(); kind == runs.Finished && several {
				finished = append(finished, name)
			} else {
				p.States = append(p.States, remark{string(kind), name, text})
			}
			for _, text := range append(r.warnings(), r.Notes...) {
				p.Warnings = append(p.Warnings, remark{"", name, text})
			}
		}
	}
	if len(finished) > 0 {
		text := plural(len(finished), "run") + " did all iterations: " + strings.Join(finished, ", ") + "."
		p.States = append(p.States, remark{string(runs.Finished), "", text})
	}
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// SVG returns a drawing as an element of the page, without title and ground, which the page has.
func (d namedDrawing) SVG() (template.HTML, error) {
	document, err := svg(d.titled(""), nil)
	if err != nil {
		return "", err
	}
	return template.HTML(document[bytes.Index(document, []byte("<svg")):]), nil
}

// chipStyle gives the dot before a method the colour of its line.
func chipStyle() string {
	var b strings.Builder
	for i, c := range seriesColours {
		fmt.Fprintf(&b, ".chip-%d { background: #%02X%02X%02X; }\n", i+1, c.R, c.G, c.B)
	}
	return b.String()
}

// html renders the page.
func (p *page) html() ([]byte, error) {
	t, err := template.New("page").Parse(pageHTML)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
