package compare

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"
	"text/template"

	"dsbo/internal/files"
	"dsbo/internal/wording"
	"dsbo/runs"
	"dsbo/runs/report"
)

// csvFile is the table of all runs.
const csvFile = "runs.csv"

// Write writes to dir the table of all runs, the figures, and the page of some parts. It
// returns the path of the page, which comes last.
func (r *Result) Write(dir string, parts []report.Part) (path string, err error) {
	if err := files.MkdirAll(dir); err != nil {
		return "", err
	}
	if err := files.Write(filepath.Join(dir, csvFile), r.writeCSV); err != nil {
		return "", err
	}
	return report.WriteParts(dir, report.ComparisonPage, prose("title", r), prose("introduction", r), parts)
}

// Parts returns the parts of the page: the plates of the paper, if they were added, and one for
// each task.
func (r *Result) Parts() ([]report.Part, error) {
	parts := r.Plates
	for _, k := range r.Rankings {
		best, err := k.bestRuns(k.sorted())
		if err != nil {
			return nil, fmt.Errorf("task %q: %w", k.Task.Name, err)
		}
		parts = append(parts, report.Part{Title: k.Task.Name, Sentence: k.sentence(), Hint: prose("hint", k),
			Table: k.Table(), Warnings: k.refusals(), Runs: best, Name: fileName(k.Task.Name) + "-"})
	}
	return parts, nil
}

//go:embed prose.txt
var proseText string

// prose writes a paragraph on a result, or on a ranking.
func prose(name string, of any) string {
	var b strings.Builder
	all := template.Must(template.New("").Funcs(template.FuncMap{"count": wording.Count, "digits": fiveDigits}).
		Parse(proseText))
	if err := all.ExecuteTemplate(&b, name, of); err != nil {
		panic(err) // paragraphs are tested
	}
	return b.String()
}

// Made is how many runs of methods there are.
func (r *Result) Made() (n int) {
	for _, k := range r.Rankings {
		for _, e := range k.Entries {
			n += len(e.Trials())
		}
	}
	return n
}

// bestRuns loads the finished runs of the entries' best points. Each gets, as a reference for
// figures, the best constant that the untuned run of the same seed has found.
func (k *ranking) bestRuns(entries []*entry) (all []*report.Run, err error) {
	for _, e := range entries {
		for i, t := range e.Best {
			if t.State != runs.Finished {
				continue
			}
			run, err := report.Load(string(t.Folder))
			if err != nil {
				return nil, err
			}
			run.Label = e.Method.Name
			if m := k.untuned.Best[i].baseline(); m != nil && m.Lambda.Known() {
				run.Summary.Constants = append(run.Summary.Constants,
					runs.Constant{Lambda: float64(m.Lambda), Phi: float64(m.Phi)})
			}
			all = append(all, run)
		}
	}
	return all, nil
}
