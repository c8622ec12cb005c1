package compare

import (
	"fmt"
	"path/filepath"
	"strings"

	"dsbo/internal/disk"
	"dsbo/internal/wording"
	"dsbo/runs"
	"dsbo/runs/report"
)

// Names of the files of a comparison.
const (
	PageFile = "compare.html"
	CSVFile  = "runs.csv"
)

// Write writes to dir the table of all runs, the figures, and the page of some parts. It
// returns the path of the page, which comes last.
func (r *Result) Write(dir string, parts []report.Part) (path string, err error) {
	if err := disk.MkdirAll(dir); err != nil {
		return "", err
	}
	if err := disk.Write(filepath.Join(dir, CSVFile), r.WriteCSV); err != nil {
		return "", err
	}
	return report.WriteParts(dir, PageFile, r.title(), r.introduction(), parts)
}

// Parts returns what the page has: the plates of the paper, where they were added, and the tasks.
func (r *Result) Parts() ([]report.Part, error) {
	parts := r.Plates
	for _, k := range r.Rankings {
		best, err := k.bestRuns(k.sorted())
		if err != nil {
			return nil, fmt.Errorf("task %q: %w", k.Task.Name, err)
		}
		parts = append(parts, report.Part{Title: k.Task.Name, Sentence: k.Sentence(), Hint: k.hint(), Table: k.Table(),
			Warnings: k.refusals(), Runs: best, Name: fileName(k.Task.Name) + "-"})
	}
	return parts, nil
}

func (r *Result) title() string {
	if r.Spec.Title != "" {
		return r.Spec.Title
	}
	return "Comparison: " + strings.Join(each(r.Spec.Tasks, func(t Task) string { return t.Name }), "; ")
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
			"without evaluations. ",
		wording.Count(n, "run"), wording.Count(len(r.Spec.Seeds), "seed"))
	if r.Processes > 1 {
		text += fmt.Sprintf("%d runs shared the machine at a time: seconds are those of a busy one.", r.Processes)
	}
	return text
}

// hint says to which target the table has costs, and where the methods started.
func (k *Ranking) hint() string {
	origin := "which the task names"
	if k.Task.Target == nil {
		origin = "which all methods that finished reach"
		if len(k.spec.Seeds) > 1 {
			origin += ", each seed a value of its own"
		}
	}
	return fmt.Sprintf("Costs to %s %s, %s, are those of the first record that is as low. The table is of models "+
		"that are solved to the end, figures are of the iterates. A whole matrix counts as one oracle call. %s",
		k.spec.Choose.title(), fiveDigits(k.Target), origin, k.startText())
}

// bestRuns loads the runs of entries that finished at their best points, each with the best
// constant of its data.
func (k *Ranking) bestRuns(entries []*Entry) (all []*report.Run, err error) {
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
