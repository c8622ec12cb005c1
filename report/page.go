package report

import (
	"bytes"
	"cmp"
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
	Title, Lead         string
	Style               template.CSS
	Script              template.JS
	States, Warnings    []remark
	Outcomes, Costs     []fact // facts of a single group
	Baselines           *table
	Constants           string
	Compared, CostTable *table // tables of several groups
	Axes                []axis // axes against which figures can be drawn
	Runs                *table
	SettingsTitle       string
	Settings, Machine   []fact
}

// A remark is a sentence on one run; its name is empty if there is only one.
type remark struct{ Kind, Name, Text string }

// newPage builds the page of some runs. An empty title is replaced by one of the task and its methods.
func newPage(all []*Run, title string) (*page, error) {
	gs, err := groups(all)
	if err != nil {
		return nil, err
	}
	p := &page{
		sheet: newSheet(gs), Style: template.CSS(pageCSS + chipStyle()), Script: template.JS(pageJS), SettingsTitle: "Settings",
		Settings: sharedSettings(all, func(r *Run) runs.Differences { return r.settings }),
		Machine:  sharedSettings(all, func(r *Run) runs.Differences { return r.build }),
	}
	p.heading(gs)
	p.Title = cmp.Or(title, p.Title)
	p.endings(gs)
	for _, a := range axes() {
		if slices.ContainsFunc(p.drawings(), func(d namedDrawing) bool { return d.Axis == a.Name }) {
			p.Axes = append(p.Axes, a)
		}
	}
	if len(all) > 1 {
		p.Runs, p.SettingsTitle = runTable(gs), "Settings of all runs"
	} else {
		p.Baselines, p.Constants = baselines(all[0].Summary), constants(all[0].Summary)
	}
	if len(gs) == 1 {
		p.Outcomes, p.Costs = facts(gs[0], outcomes()), facts(gs[0], costs())
	} else {
		heading := comparedBy(gs)
		p.Compared, p.CostTable = comparison(heading+"s compared", heading, gs, outcomes()), comparison("Costs", heading, gs, costs())
	}
	return p, nil
}

// heading writes title and first sentence.
func (p *page) heading(gs []group) {
	const median = "their median is drawn as a line, in a band from least to greatest."
	first := gs[0].runs[0]
	n := len(runsOf(gs))
	var labels []string
	for _, g := range gs {
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

// endings says how the runs ended: of several, those that finished in one sentence, each other in its own.
func (p *page) endings(gs []group) {
	var finished []string
	all := runsOf(gs)
	for _, r := range all {
		kind, text := r.state()
		name := ""
		if len(all) > 1 {
			name = r.Name
		}
		if kind == runs.Finished && name != "" {
			finished = append(finished, name)
		} else {
			p.States = append(p.States, remark{string(kind), name, text})
		}
		for _, text := range append(r.warnings(), r.Notes...) {
			p.Warnings = append(p.Warnings, remark{"", name, text})
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
	document, err := svg(d, "", nil)
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
