package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"dsbo/internal/wording"
	"dsbo/runs"
)

//go:embed page.html
var pageHTML string

//go:embed run.html
var runHTML string

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

// The library of the interactive figures is uPlot 1.6.32, as its package has it: npm pack
// uplot@1.6.32, dist/uPlot.iife.min.js and dist/uPlot.min.css, with its licence, which the page
// carries too.
var (
	//go:embed uplot/uPlot.iife.min.js
	uplotJS string
	//go:embed uplot/uPlot.min.css
	uplotCSS string
	//go:embed uplot/LICENSE
	uplotLicence string
)

// A page is what the template shows.
type page struct {
	*sheet
	Title, Lead       string      // of the page; its first sentence
	Data              any         // what the script draws: a sheet, or several
	Parts             []Part      // of a page that has no more
	Run               *Run        // the only one, nil of several
	Verdict           headline    // of the run
	Main              *panel      // the one figure below the verdict, nil where there is no Φ
	Rest              []*panel    // further panels
	Charts            []chart     // interactive figures
	LambdaTitle       string      // of the section on the hyperparameters
	About             string      // what an entry of them does; "": they are penalties
	States, Warnings  []remark    // of the runs
	Topics            []pageTopic // links within the page
	Runs              *table      // one row each
	Commands          []remark    // to run it again
	SettingsTitle     string      // of the next
	Settings, Machine []fact      // by name
}

// A pageTopic is a topic as facts of a single group, or as tables of several, one for each problem.
type pageTopic struct {
	topic
	Mark   string
	Facts  []fact
	Tables []*table
}

// A remark is a sentence on one run; its name is empty if there is only one.
type remark struct{ Kind, Name, Text string }

// newPage builds the page of some runs. An empty title is replaced by one of the task and
// its methods.
func newPage(all []*Run, title string) (*page, error) {
	gs, err := groups(all)
	if err != nil {
		return nil, err
	}
	p := &page{
		sheet: newSheet(gs, ""), Verdict: headlines(gs), Charts: charts(gs), SettingsTitle: "Settings",
		Settings: sharedSettings(all, func(r *Run) runs.Differences { return r.settings }),
		Machine:  sharedSettings(all, func(r *Run) runs.Differences { return r.build }),
	}
	if m := all[0].Config.Hyperparameters(); m == runs.Penalties {
		p.LambdaTitle = "The log-penalties " + m.Symbol
	} else {
		p.LambdaTitle, p.About = "The "+m.Many, cmp.Or(m.About, "One number for each of the "+m.Many+".")
	}
	p.heading(gs)
	p.Title, p.Data = cmp.Or(title, p.Title), p.sheet
	p.endings(gs)
	p.compare(gs)
	// the panel of Φ, which has views with names, is the main one
	if p.Rest = p.Panels; len(p.Panels) > 0 && p.Panels[0].Views[0].Title != "" {
		p.Main, p.Rest = p.Panels[0], p.Panels[1:]
	}
	if len(all) > 1 {
		p.Runs, p.SettingsTitle = runTable(gs), "Settings of all runs"
		return p, nil
	}
	if p.Run = all[0]; p.Answered() && title == "" {
		p.Title = "Predicting " + p.Run.Problem().Target
	}
	p.Topics = slices.DeleteFunc(p.Topics, func(t pageTopic) bool { return t.Paired }) // the table of gains says more
	return p, nil
}

// compare makes the facts or tables of all topics.
func (p *page) compare(gs []group) {
	heading, problems := groupDifference(gs), byProblem(gs)
	names := problemLabels(problems)
	for _, t := range shown.Topics {
		view := pageTopic{topic: t}
		if len(gs) == 1 {
			view.Facts = facts(gs[0], t.Measures)
			if t.Models && slices.ContainsFunc(gs[0].runs, (*Run).unconverged) {
				view.Mark = notConverged
			}
		} else {
			for i, problem := range problems {
				if table := comparison(strings.TrimSuffix(t.Name+": "+names[i], ": "), heading, problem,
					t); table != nil {
					view.Tables = append(view.Tables, table)
				}
			}
		}
		if len(view.Facts)+len(view.Tables) > 0 {
			p.Topics = append(p.Topics, view)
		}
	}
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
	things := wording.Count(len(gs), strings.ToLower(groupDifference(gs)))
	p.Title = first.task() + ": " + strings.Join(labels, ", ")
	switch {
	case n == 1:
		p.Lead = "Run " + first.Name + first.origin() + "."
		if m := first.Summary.Members; m != nil {
			p.Lead += " Members at the end: " + wording.Ranges(m) + "."
		}
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

// endings says how the runs ended: of several, those that finished in one sentence, each other in
// its own.
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
		if command := r.command(); command != "" {
			p.Commands = append(p.Commands, remark{"", name, command})
		}
		for _, text := range append(r.warnings(), r.Notes...) {
			p.Warnings = append(p.Warnings, remark{"", name, text})
		}
	}
	if len(finished) > 0 {
		text := wording.Count(len(finished), "run") + " did all iterations: " + strings.Join(finished, ", ") + "."
		p.States = append(p.States, remark{string(runs.Finished), "", text})
	}
}

// Style, Library and Script are within the page.
func (p *page) Style() template.CSS { return template.CSS(uplotCSS + pageCSS) }

// Library is uPlot.
func (p *page) Library() template.JS { return template.JS("/*\n" + uplotLicence + "*/\n" + uplotJS) }

// Script makes figures interactive.
func (p *page) Script() template.JS { return template.JS(pageJS) }

// SVG returns the first view against the first axis, for print and readers without script.
func (p *panel) SVG() (template.HTML, error) { return p.static.Element() }

// Element returns the figure as an element of the page, without the title, which the page has.
func (f *Figure) Element() (template.HTML, error) {
	document, err := f.svg("", nil)
	if err != nil {
		return "", err
	}
	return template.HTML(document[bytes.Index(document, []byte("<svg")):]), nil
}

// html renders a template of the page.
func (p *page) html(name string) ([]byte, error) {
	t, err := template.New("page").Funcs(functions).Parse(pageHTML + runHTML)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, name, p); err != nil {
		return nil, err
	}
	return wording.Visible(b.Bytes()), nil
}
