package experiment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"dsbo"
	"dsbo/internal/cli"
	"dsbo/runs"
	"dsbo/train"
)

// A Series is runs of one command side by side: their folders lie in that of the series, which has a
// config.json and a summary.json of its own and can be resumed and replaced as a run can.
type Series struct {
	// Make makes the job of a command line, without running it.
	Make func(flags []string) (*Job, error)
	// Bare is for many short parts: what comes after the method is left out, see Job, and the progress is that of the
	// series, which has Parts of them.
	Bare  bool
	Parts int

	base     *Job
	folder   runs.Folder
	mode     runs.Mode
	opened   bool
	stderr   io.Writer
	progress *cli.Progress // if Bare
	done     int           // parts
}

// A Part is one run of a series.
type Part struct {
	Name  string   // of its folder
	Label string   // what the report calls it; "": by its method and settings
	Flags []string // what its command line has beyond that of the series
}

// An Outcome is what a part has left in its folder.
type Outcome struct {
	Folder  runs.Folder
	Config  runs.Config
	Summary runs.Summary
	Records []runs.Record
}

// Open checks the settings that all parts share, and the folder, which is that of base. It is made when
// the first part has been checked too.
func (s *Series) Open(base *Job, stderr io.Writer) error {
	if base.Settings.Transport != local {
		return bad("-transport %s is for one run: want one rate and no -compare", base.Settings.Transport)
	}
	if err := base.Check(); err != nil {
		return err
	}
	s.base, s.stderr = base, stderr
	s.folder, s.mode = base.runFolder()
	if err := s.folder.Check(s.mode); err != nil {
		return err
	}
	s.progress = cli.NewProgress(stderr, base.Settings.Quiet || !s.Bare)
	s.progress.Start("runs", s.Parts)
	return nil
}

// open makes the folder, once.
func (s *Series) open() error {
	if s.opened {
		return nil
	}
	if err := s.folder.Open(s.mode); err != nil {
		return err
	}
	s.opened = true
	return s.folder.WriteConfig(runs.SeriesConfig{Task: s.base.Task, Flags: s.base.flags, Build: runs.ThisBuild()})
}

// Run runs a part. In a series that is resumed, one that has come to its end is not run again. The outcome is
// there too if the part diverged, which is an error; not in a bare series, where the state says so.
func (s *Series) Run(ctx context.Context, p Part) (Outcome, error) {
	o := Outcome{Folder: runs.Folder(filepath.Join(string(s.folder), p.Name))}
	state, err := o.Folder.State()
	if err != nil {
		return o, err
	}
	var failed error
	if s.mode != runs.Resume || state != runs.Finished && (!s.Bare || state != runs.Diverged) {
		failed = s.run(ctx, p, o.Folder, state)
	}
	if failed != nil && !errors.Is(failed, dsbo.ErrDiverged) {
		return o, failed
	}
	if err := o.load(); err != nil {
		return o, err
	}
	s.done++
	s.progress.Set(s.done)
	s.progress.Log("%s: %s, Φ %.4f to %.4f in %d iterations, %.3g s", p.Name, o.Summary.State, o.Summary.PhiStart, o.Summary.PhiEnd, o.Summary.Iterations, o.Summary.Seconds)
	if s.Bare {
		return o, nil
	}
	return o, failed
}

func (s *Series) run(ctx context.Context, p Part, folder runs.Folder, state runs.State) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w before %s", train.ErrInterrupted, p.Name)
	}
	flags := append(append([]string{}, s.base.flags...), p.Flags...)
	flags = append(flags, "-out="+string(folder), fmt.Sprintf("-quiet=%t", s.base.Settings.Quiet || s.Bare))
	switch {
	case s.mode == runs.Resume && state != runs.Absent:
		flags = append(flags, "-resume")
	case s.mode == runs.Replace:
		flags = append(flags, "-force")
	}
	j, err := s.Make(flags)
	if err != nil {
		return err
	}
	j.Bare, j.Label, j.part, j.open = s.Bare, p.Label, true, s.open
	return j.Run(ctx, nil, s.stderr)
}

// load reads what the part has left.
func (o *Outcome) load() (err error) {
	if o.Config, err = o.Folder.ReadConfig(); err != nil {
		return err
	}
	if o.Summary, err = o.Folder.ReadSummary(); err != nil {
		return err
	}
	o.Records, err = o.Folder.Records()
	return err
}

// Close writes how the series ended, with its result, and the page about the outcomes, whose path it
// returns; "" if there is to be none.
func (s *Series) Close(title string, result any, outcomes []Outcome) (string, error) {
	var parts []string
	var folders []runs.Folder
	for _, o := range outcomes {
		parts = append(parts, filepath.Base(string(o.Folder)))
		folders = append(folders, o.Folder)
	}
	s.progress.Stop()
	path := ""
	if s.base.Settings.Report {
		var err error
		if path, err = page(s.folder, title, folders...); err != nil {
			return "", err
		}
	}
	return path, s.folder.WriteSummary(runs.SeriesSummary{State: runs.Finished, Parts: parts, Result: result})
}

// Failed writes that the series ended with an error, if it had begun, and returns that error.
func (s *Series) Failed(err error) error {
	s.progress.Stop()
	if !s.opened {
		return err
	}
	state := runs.StateOf(err)
	sum := runs.SeriesSummary{State: state, Error: cli.OneLine(err), Parts: []string{}}
	if w := s.folder.WriteSummary(sum); w != nil {
		return fmt.Errorf("%w; summary: %w", err, w)
	}
	if state == runs.Interrupted {
		return fmt.Errorf("%w; -resume -out %s goes on", err, s.folder)
	}
	return err
}
