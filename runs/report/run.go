package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"dsbo"
	"dsbo/internal/wording"
	"dsbo/network/membership"
	"dsbo/runs"
)

// A Run is the content of a run folder.
type Run struct {
	Name    string        // name of the folder
	Label   string        // name of its line, for runs that differ in their seed alone; "": one is made
	Config  runs.Config   // what was asked for
	Records []runs.Record // how it went: at least one, by growing iteration
	Summary runs.Summary  // how it ended; its State is "" if it has not
	Lambda  []float64     // at the end; nil: there is none
	Names   []string      // of the entries of λ, by lambda.csv; nil: there is none
	// Assessment is the quality of the predictions; the zero value: the run's task has none.
	Assessment runs.Assessment
	Levels     []string       // sentences on levels of sites, of the folder's own alone
	Changes    membership.Log // of who took part
	Notes      []string       // what was found odd in the folder, but not wrong

	settings, build runs.Differences // all values of Config
	lowest          float64          // Φ of all runs of the same data beside which it is shown
}

// Load reads a run folder: config.json and metrics.jsonl, and summary.json, lambda.npy and
// lambda.csv if they are there. Anything missing or broken is an error of one line that names the
// file, and the line in it, and matches [dsbo.ErrConfig]; what a killed process may leave behind, a
// last line cut short, is dropped with a note.
func Load(dir string) (*Run, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	folder := runs.Folder(dir)
	r := &Run{Name: filepath.Base(abs)}
	if r.Config, err = folder.ReadConfig(); err != nil {
		return nil, cmp.Or(runsBelow(folder), dsbo.ConfigErrorf("run folder %s: %w", dir, err))
	}
	if r.settings, r.build, err = r.Config.Values(); err != nil {
		return nil, err
	}
	if err := r.loadRecords(folder); err != nil {
		return nil, err
	}
	if r.Summary, err = folder.ReadSummary(); present(err) != nil {
		return nil, dsbo.ConfigErrorf("run folder %s: %w", dir, err)
	}
	if r.Changes, err = folder.ReadChanges(); err != nil {
		return nil, err
	}
	r.explainChanges()
	if r.Lambda, err = folder.ReadLambda(); present(err) != nil { // worth a picture, not an error
		r.Notes = append(r.Notes, fmt.Sprintf("The hyperparameters have no picture: %v.", err))
	}
	named, err := folder.ReadLambdaTable()
	if present(err) != nil {
		return nil, err
	}
	for _, p := range named {
		r.Names = append(r.Names, p.Name)
	}
	if r.Assessment, err = folder.ReadAssessment(); present(err) != nil {
		return nil, err
	}
	if r.Levels, err = runs.ReadLevels(folder); err != nil {
		return nil, err
	}
	return r, folder.Verify() // with what has no place on the page
}

// present returns an error of a file that is there.
func present(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// runsBelow returns an error that names run folders in a folder that is none, nil without such.
func runsBelow(folder runs.Folder) error {
	within, read := os.DirFS(string(folder)), ""
	parts, _ := fs.Glob(within, "*/"+runs.MetricsFile)
	if parts == nil {
		parts, _ = fs.Glob(within, "*/*/"+runs.MetricsFile)
	}
	if has, _ := folder.Has(runs.MetricsFile); has || parts == nil {
		return nil
	}
	if is, _ := folder.Has(ComparisonPage); is {
		read = "; the page of the comparison is " + folder.Path(ComparisonPage)
	}
	return dsbo.ConfigErrorf("%s has no metrics of its own, but holds %s: their folders must be named, such as %s%s",
		folder, wording.Count(len(parts), "run"), folder.Path(filepath.Dir(parts[0])), read)
}

// ComparisonPage is the page of a comparison, in a folder with its runs two levels below.
const ComparisonPage = "compare.html"

// loadRecords reads metrics.jsonl. The error of a folder without one names run folders below it.
func (r *Run) loadRecords(folder runs.Folder) error {
	path := folder.Path(runs.MetricsFile)
	data, err := folder.ReadFile(runs.MetricsFile)
	if err != nil {
		return cmp.Or(runsBelow(folder), dsbo.ConfigErrorf("run folder %s has no metrics: %w", folder, err))
	}
	var cut bool
	if r.Records, cut, err = runs.ReadRecords(path, bytes.NewReader(data)); err != nil {
		return err
	}
	if len(r.Records) == 0 {
		return dsbo.ConfigErrorf("run folder %s has no metrics: %s holds no whole evaluation", folder, path)
	}
	if cut {
		r.Notes = append(r.Notes, "The last line of "+runs.MetricsFile+
			" is cut short and was left out: the run was stopped while writing it.")
	}
	// Where an epoch begins when all iterations are done, its members' record takes the place of
	// the record of the members before.
	r.Records = slices.DeleteFunc(r.Records, func(rec runs.Record) bool {
		return rec.Iteration == r.Records[len(r.Records)-1].Iteration && rec.Epoch < r.lastRecord().Epoch
	})
	for i := range r.Records {
		if i > 0 && r.Records[i].Iteration <= r.Records[i-1].Iteration {
			return dsbo.ConfigErrorf("%s: iteration %d comes after iteration %d: iterations must grow",
				path, r.Records[i].Iteration, r.Records[i-1].Iteration)
		}
	}
	return nil
}

// lastRecord is the last evaluation of the run.
func (r *Run) lastRecord() *runs.Record { return &r.Records[len(r.Records)-1] }

// usage returns what all agents together had spent when the run ended, which is after the last
// evaluation where the run was interrupted.
func (r *Run) usage() runs.Usage {
	if len(r.Summary.PerAgent) == 0 {
		last := r.lastRecord()
		return runs.Usage{Calls: last.Calls, Traffic: last.Traffic, Times: last.Times}
	}
	return runs.Total(r.Summary.PerAgent)
}

// task identifies the problem of a run: runs of different tasks are not comparable.
func (r *Run) task() string {
	if model := r.Config.Model(); model != "" {
		return strings.TrimSpace(r.Config.Task + " with " + model)
	}
	return cmp.Or(r.Config.Task, "unknown")
}

// method names what solved it.
func (r *Run) method() string { return cmp.Or(r.Config.Algorithm, "unknown") }

// Origin returns the time and place of a run's start, as far as the run has them.
func (r *Run) Origin() (text string) {
	b := r.Config.Build
	if t, err := time.Parse(time.RFC3339, b.Started); err == nil {
		text = " of " + t.Format("2 January 2006, 15:04 MST")
	}
	if b.Host != "" {
		text += " on " + b.Host
	}
	return text
}

// Command returns the command line that does the same again, "" where the folder does not name
// the program.
func (r *Run) Command() string {
	program := r.Config.Build.Program
	if program == "" {
		return ""
	}
	words := []string{program}
	if program != r.Config.Task {
		words = append(words, r.Config.Task)
	}
	for _, f := range r.Config.Flags {
		if strings.ContainsFunc(f, func(c rune) bool {
			return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("-_=.,:/+@%", c)
		}) {
			f = "'" + strings.ReplaceAll(f, "'", `'\''`) + "'"
		}
		words = append(words, f)
	}
	return strings.Join(words, " ")
}

// meanPerExample is the unit of a Φ that is on the scale of the losses.
const meanPerExample = ", mean per example"

// phiUnit returns the unit over which Φ is summed, as far as the problem's settings give it.
func (r *Run) phiUnit() string {
	var own struct {
		Reduce string `json:"reduce"` // "sum" or "mean": how the losses of an agent's examples are put together
	}
	switch err := json.Unmarshal(r.Config.Problem, &own); {
	case err != nil: // settings of another form
	case own.Reduce == "sum":
		return ", sum over an agent's examples"
	case own.Reduce == "mean", r.Config.Model() != "":
		return meanPerExample
	}
	return ""
}

// End is the state of a run at its end. A killed or active run has no summary.
func (r *Run) End() runs.State { return cmp.Or(r.Summary.State, runs.Unfinished) }

// Iteration is at which the last evaluation was.
func (r *Run) Iteration() int { return r.lastRecord().Iteration }

// Warnings returns the run's warnings, a note where Φ is not an exact value, and oddities of the
// folder.
func (r *Run) Warnings() []string {
	list := slices.Concat(r.Summary.Warnings, r.Summary.Unknown)
	var inexact []string
	tolerance := r.Config.ExactTol
	for _, rec := range r.Records {
		if tolerance > 0 && float64(rec.LowerResidual) > 2*tolerance {
			inexact = append(inexact, wholeNumber(float64(rec.Iteration)))
		}
	}
	if len(inexact) > 0 {
		list = append(list, fmt.Sprintf("Φ and its gradient are not exact at iteration %s: "+
			"the lower problem was not solved there to the tolerance of %s.", strings.Join(inexact, ", "),
			number(tolerance)))
	}
	return append(list, r.Notes...)
}
