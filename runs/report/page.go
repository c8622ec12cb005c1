package report

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"dsbo/internal/wording"
	"dsbo/runs"
)

// parts are the templates of the page and what is within it. The library of the interactive figures
// is uPlot 1.6.32, as its package has it: npm pack uplot@1.6.32, dist/uPlot.iife.min.js and
// dist/uPlot.min.css, with its licence, which the page carries too.
//
//go:embed page.html run.html page.css page.js uplot
var parts embed.FS

// file returns one of the parts.
func file(name string) string {
	data, err := parts.ReadFile(name)
	if err != nil {
		panic(err) // all are embedded
	}
	return string(data)
}

// A page is what the template shows.
type page struct {
	*sheet
	Title, Lead       string      // of the page; its first sentence
	Data              any         // what the script draws: a sheet, or several
	Parts             []Part      // of a page that has no more
	All               []*Run      // that it shows
	Run               *Run        // the only one, nil of several
	Groups            []group     // of runs
	Things            string      // how many methods or settings there are
	Verdict           headline    // of the run
	Charts            []chart     // interactive figures
	Topics            []pageTopic // links within the page
	Runs              *table      // one row each
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

// newPage builds the page of some runs. An empty title is replaced by one of the task and
// its methods.
func newPage(all []*Run, title string) (*page, error) {
	gs, err := groups(all)
	if err != nil {
		return nil, err
	}
	p := &page{
		All: all, Groups: gs, Things: wording.Count(len(gs), strings.ToLower(groupDifference(gs))),
		sheet: newSheet(gs, ""), Verdict: headlines(gs), Charts: charts(gs), SettingsTitle: "Settings",
		Settings: sharedSettings(all, func(r *Run) runs.Differences { return r.settings }),
		Machine:  sharedSettings(all, func(r *Run) runs.Differences { return r.build }),
	}
	p.Title, p.Data = cmp.Or(title, p.heading()), p.sheet
	p.compare(gs)
	if len(all) > 1 {
		p.Runs, p.SettingsTitle = runTable(gs), "Settings of all runs"
		return p, nil
	}
	if p.Run = all[0]; p.Answered() && title == "" {
		p.Title = "Predicting " + p.Run.Problem().Target
	}
	return p, nil
}

// compare makes the facts or tables of all topics.
func (p *page) compare(gs []group) {
	heading, problems := groupDifference(gs), byProblem(gs)
	names := problemLabels(problems)
	for _, t := range shown.Topics {
		if t.Paired && len(p.All) == 1 {
			continue // the table of gains has more
		}
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

// heading is the title of runs of tasks without tables.
func (p *page) heading() string {
	var labels []string
	for _, g := range p.Groups {
		labels = append(labels, g.label)
	}
	switch n := len(p.All); {
	case len(labels) > 3:
		labels = []string{p.Things}
	case len(labels) == 1 && n > 1:
		labels = append(labels, fmt.Sprintf("%d runs", n))
	}
	return p.All[0].task() + ": " + strings.Join(labels, ", ")
}

// HasMain reports whether the first panel is the main one, of Φ, which has views with names.
func (p *page) HasMain() bool { return len(p.Panels) > 0 && p.Panels[0].Views[0].Title != "" }

// Warned reports whether any run has warnings.
func (p *page) Warned() bool {
	return slices.ContainsFunc(p.All, func(r *Run) bool { return len(r.Warnings()) > 0 })
}

// Style, Library and Script are within the page.
func (p *page) Style() template.CSS {
	return template.CSS(file("uplot/uPlot.min.css") + file("page.css"))
}

// Library is uPlot.
func (p *page) Library() template.JS {
	return template.JS("/*\n" + file("uplot/LICENSE") + "*/\n" + file("uplot/uPlot.iife.min.js"))
}

// Script makes figures interactive.
func (p *page) Script() template.JS { return template.JS(file("page.js")) }

// Element returns the figure as an element of the page, without the title, which the page has, for
// print and readers without script; "" where there is no [Draw].
func (f Figure) Element() (template.HTML, error) {
	if Draw == nil {
		return "", nil
	}
	f.Title = ""
	document, err := Draw(&f, nil)
	if err != nil {
		return "", err
	}
	return template.HTML(document[bytes.Index(document, []byte("<svg")):]), nil
}

// html renders a template of the page.
func (p *page) html(name string) ([]byte, error) {
	t, err := template.New("page").Funcs(functions).ParseFS(parts, "*.html")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, name, p); err != nil {
		return nil, err
	}
	return wording.Visible(b.Bytes()), nil
}
