package compare

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"strings"

	"dsbo/internal/disk"
	"dsbo/internal/wording"
	"dsbo/runs"
	"dsbo/runs/report"
)

//go:embed page.html
var pageHTML string

// Names of the files of a comparison.
const (
	PageFile  = "compare.html"
	CSVFile   = "runs.csv"
	BestFile  = "best.csv"
	Curves    = "curves.csv"
	LaTeXFile = "tables.tex"
)

// Write writes to dir the page, the tables, the folder figures, with each figure as SVG, PDF and
// PGF, and for each task a folder of pages with the interactive report of the best runs. It returns
// the path of the page, which comes last.
func (r *Result) Write(dir string) (path string, err error) {
	figures := filepath.Join(dir, "figures")
	if err := disk.MkdirAll(figures); err != nil {
		return "", err
	}
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{{CSVFile, r.WriteCSV}, {LaTeXFile, r.WriteLaTeX}, {BestFile, r.WriteBest}, {Curves, r.WriteCurves}} {
		if err := disk.Write(filepath.Join(dir, file.name), file.write); err != nil {
			return "", err
		}
	}
	p := page{Title: r.title(), Lead: r.introduction(), Style: report.Style(), Plates: r.Plates}
	for _, k := range r.Rankings {
		s, err := k.section(dir, figures)
		if err != nil {
			return "", fmt.Errorf("task %q: %w", k.Task.Name, err)
		}
		p.Sections = append(p.Sections, s)
	}
	for _, plate := range r.Plates {
		for i := range plate.Panels {
			f := &plate.Panels[i]
			if f.drawn.Validate() != nil {
				continue // no method has finished
			}
			name := fileName(fmt.Sprintf("%s%c", plate.Title, 'a'+i))
			if f.SVG, err = writeFigure(figures, name, &f.drawn); err != nil {
				return "", err
			}
		}
	}
	t, err := template.New("page").Parse(pageHTML)
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, PageFile)
	return path, disk.Write(path, func(w io.Writer) error { return t.Execute(w, p) })
}

// A page is what the template shows.
type page struct {
	Title, Lead string
	Style       template.CSS
	Plates      []Plate
	Sections    []section
}

// A section is one task.
type section struct {
	Name, Sentence, Target string   // of the comparison; what it found; what is compared
	Header                 []string // of the table
	Rows                   []line   // of the table
	Figures                []figure // in the order of the page
	Refusals, Commands     []string // what could not be run, and why; how to run it again
	Report                 string   // path of the interactive page of the best runs; "": there is none
}

// A line is a row of the table, with what a reader has to know of it.
type line struct {
	Cells []string
	Note  string
}

type figure struct {
	Title string
	SVG   template.HTML
	drawn report.Figure
}

func (r *Result) title() string {
	if r.Spec.Title != "" {
		return r.Spec.Title
	}
	return "Comparison: " + strings.Join(names(r.Spec.Tasks, func(t Task) string { return t.Name }), "; ")
}

func (r *Result) introduction() string {
	n := 0
	for _, k := range r.Rankings {
		for _, e := range k.Entries {
			n += len(e.Trials())
		}
	}
	text := fmt.Sprintf(
		"%s. Numbers are medians over %s, bands their whole range; a grid's best point has the least mean. Costs are "+
			"without evaluations. An interval or p is of one pair, without a correction for their number. ",
		wording.Count(n, "run"), wording.Count(len(r.Spec.Seeds), "seed"))
	if r.Processes > 1 {
		text += fmt.Sprintf("%d runs shared the machine at a time: seconds are those of a busy one.", r.Processes)
	}
	return text
}

// section shows a task, and writes its figures and the report of its best runs.
func (k *Ranking) section(dir, figures string) (section, error) {
	s := section{Name: k.Task.Name, Sentence: k.Sentence(), Header: k.Header(), Refusals: k.refusals()}
	for _, cells := range k.Cells() {
		note := len(cells) - 1
		s.Rows = append(s.Rows, line{cells[:note], cells[note]})
	}
	s.Target = k.targetText()
	var err error
	if s.Figures, err = k.writeFigures(figures); err != nil {
		return s, err
	}
	var best []*report.Run
	if best, s.Commands, err = k.bestRuns(); err != nil || len(best) == 0 {
		return s, err
	}
	folder := filepath.Join("pages", fileName(k.Task.Name))
	s.Report = filepath.ToSlash(filepath.Join(folder, "report.html"))
	_, err = report.Write(filepath.Join(dir, folder), best, report.Options{Title: k.Task.Name})
	return s, err
}

// targetText says to which target the table has costs.
func (k *Ranking) targetText() string {
	origin := "which the task names"
	if k.Task.Target == nil {
		origin = "which all methods that finished reach"
		if len(k.spec.Seeds) > 1 {
			origin += ", each seed a value of its own"
		}
	}
	text := fmt.Sprintf("Costs to %s %s, %s, are those of the first record that is as low.", k.spec.Choose.title(),
		fiveDigits(k.Target), origin)
	return text + " The table is of models that are solved to the end, figures are of the iterates. A whole matrix " +
		"counts as one oracle call. " + k.startText()
}

// writeFigures writes the figures of which something is known to a folder, and returns them.
func (k *Ranking) writeFigures(folder string) (all []figure, err error) {
	for _, q := range k.spec.Show {
		for _, c := range k.spec.Against {
			f := k.figure(q, c)
			if f.Validate() != nil {
				continue
			}
			name := fileName(k.Task.Name) + "-" + string(q) + "_" + string(c)
			svg, err := writeFigure(folder, name, &f)
			if err != nil {
				return nil, err
			}
			all = append(all, figure{Title: q.title() + " against " + c.title(), SVG: svg})
		}
	}
	return all, nil
}

// writeFigure writes a figure to a folder as SVG, PDF and PGF, and returns it.
func writeFigure(folder, name string, f *report.Figure) (template.HTML, error) {
	if err := report.Save(f, folder, name); err != nil {
		return "", err
	}
	if err := report.SavePDF(f, folder, name); err != nil {
		return "", err
	}
	pgf := filepath.Join(folder, name+".tex")
	if err := disk.Write(pgf, func(w io.Writer) error { return writePGF(w, f) }); err != nil {
		return "", err
	}
	return report.Element(f)
}

// bestRuns loads the runs that finished with each method's best settings, and returns the command
// of the first of each.
func (k *Ranking) bestRuns() (all []*report.Run, commands []string, err error) {
	for _, e := range k.sorted() {
		for i, t := range e.Best {
			if t.State != runs.Finished {
				continue
			}
			run, err := report.Load(string(t.Folder))
			if err != nil {
				return nil, nil, err
			}
			if i == 0 {
				commands = append(commands, run.Config.Build.Program+" "+strings.Join(t.Args, " "))
			}
			all = append(all, run)
		}
	}
	return all, commands, nil
}
