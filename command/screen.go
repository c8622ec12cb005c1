package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"dsbo"
	"dsbo/experiment"
	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/internal/wording"
	"dsbo/runs"
)

// A screen shows an agent's run: log lines on stderr and in a file, and progress as a bar on a
// terminal, elsewhere as a log line now and then. It is the [experiment.Viewer] of the agent's job
// and keeps its monitor up to date.
type screen struct {
	*cli.Progress
	log      *slog.Logger     // for lines about this agent
	events   *slog.Logger     // for lines about this agent that are in its audit too
	audit    *site.Audit      // of the agent
	common   *slog.Logger     // for lines of the job, which all agents log alike
	people   bool             // whether lines on stderr are for people
	shown    *slog.Logger     // for lines to stderr alone
	fileLog  *slog.Logger     // for lines to the log file alone
	file     *os.File         // the log file; nil: none
	monitor  *monitor         // state for the pages
	bars     bool             // whether progress is a bar
	every    time.Duration    // time between lines of progress; 0: none
	now      func() time.Time // the clock
	reported time.Time        // time of the last line of progress
}

// newScreen returns the agent's display: a bar on a terminal, else a line of progress every
// -progress; with -quiet only warnings and errors. A log file gets all lines as JSON. Of agents
// started by the verb run, only agent 0 shows lines that all agents log alike.
func newScreen(o agentOptions, m *monitor, stderr io.Writer) (*screen, error) {
	s := &screen{Progress: cli.NewProgress(stderr, false), monitor: m, now: time.Now}
	level := slog.LevelInfo
	switch {
	case o.quiet:
		level = slog.LevelWarn
	case cli.IsTerminal(stderr):
		s.bars = true
	default:
		s.every = o.progress
	}
	agent := []slog.Attr{slog.Int("agent", o.agent)}
	shown := logHandler(o.log, s, level)
	s.people = o.log == "plain"
	filed := slog.DiscardHandler
	if o.logFile != "" {
		var err error
		if s.file, err = os.OpenFile(o.logFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
			return nil, dsbo.ConfigErrorf("-log-file: %w", err)
		}
		filed = logHandler("json", s.file, slog.LevelInfo).WithAttrs(agent)
	}
	s.shown, s.fileLog = slog.New(shown.WithAttrs(agent)), slog.New(filed)
	s.log = slog.New(slog.NewMultiHandler(s.shown.Handler(), filed))
	s.audit = new(site.Audit)
	s.events = slog.New(slog.NewMultiHandler(s.log.Handler(), s.audit.Handler()))
	if s.common = s.log; o.attached && o.agent > 0 {
		s.common = s.fileLog
	}
	return s, nil
}

// logHandler writes log lines in one of the forms of -log.
func logHandler(form string, to io.Writer, level slog.Level) slog.Handler {
	switch form {
	case "json":
		return slog.NewJSONHandler(to, &slog.HandlerOptions{Level: level, ReplaceAttr: wording.LogUnits})
	case "text":
		return slog.NewTextHandler(to, &slog.HandlerOptions{Level: level})
	}
	return plainHandler{to, level, ""}
}

// checkLogForm returns an error unless form is a form of -log.
func checkLogForm(form string) error {
	if form != "plain" && form != "text" && form != "json" {
		return dsbo.ConfigErrorf("-log must be plain, text or json; it is %s", form)
	}
	return nil
}

// close writes the error with which the agent ended, if any, to the log file and closes it.
func (s *screen) close(ended error) error {
	if ended != nil {
		s.fileLog.Error(cli.OneLine(ended))
	}
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// Write writes a line of the log to stderr.
func (s *screen) Write(line []byte) (int, error) {
	s.Progress.Log("%s", bytes.TrimSuffix(line, []byte("\n")))
	return len(line), nil
}

// Show passes the progress to the monitor and shows it: as a bar, as a line if the last one is at
// least s.every old, or not at all. A negative remaining time is unknown.
func (s *screen) Show(p experiment.Progress) {
	s.monitor.update(func(at *position) { at.Progress = p })
	if s.bars {
		s.Progress.Show(p.Share, p.String())
	}
	if s.every > 0 && s.now().Sub(s.reported) >= s.every {
		s.reported = s.now()
		attributes := []any{"phase", p.Phase, "done", p.Done, "of", p.Total, "percent", int(100 * p.Share)}
		if p.Remaining >= 0 {
			attributes = append(attributes, "left", p.Remaining.Round(time.Second))
		}
		s.log.Info("progress", attributes...)
	}
}

// Log logs a line of the job.
func (s *screen) Log(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if warning, ok := strings.CutPrefix(text, "warning: "); ok {
		s.common.Warn(warning)
		return
	}
	s.common.Info(text)
}

// Note logs what the job has found out: to people in a sentence, elsewhere as fields.
func (s *screen) Note(n experiment.Note) { s.note(n, []string{n.Text}) }

// note is Note with several lines for people. If the log is for people, the lines go to stderr,
// unless another agent shows them, and the fields to the log file. Otherwise the fields go to both.
func (s *screen) note(n experiment.Note, text []string) {
	facts := knownFacts(n.Facts)
	switch {
	case !s.people:
		s.common.Info(n.Name, facts...)
		return
	case s.common == s.log:
		for _, line := range text {
			s.shown.Info(line)
		}
	}
	s.fileLog.Info(n.Name, facts...)
}

// knownFacts returns names and values without the numbers that are not known.
func knownFacts(facts []any) []any {
	var known []any
	for pair := range slices.Chunk(facts, 2) {
		name, value := pair[0], pair[1]
		if n, ok := value.(runs.Number); ok {
			if !n.Known() {
				continue
			}
			value = float64(n)
		}
		known = append(known, name, value)
	}
	return known
}

// Record logs an evaluation and passes it to the monitor.
func (s *screen) Record(r runs.Record, text []string) {
	s.monitor.update(func(p *position) { p.record = &r })
	s.note(experiment.Note{Name: "record", Facts: []any{
		"iteration", r.Iteration, "phi", r.Phi, "grad_norm", r.GradNorm, "train_loss", r.TrainLoss,
		"val_loss", r.ValLoss,
		"holdout_loss", r.HoldoutLoss, "test_loss", r.TestLoss, "test_accuracy", r.TestAccuracy,
		"ms_per_iteration", r.MsPerIteration, "seconds", r.Seconds,
	}}, text)
}

// Saved passes a new checkpoint to the monitor.
func (s *screen) Saved(iteration int) {
	s.monitor.update(func(p *position) { p.saved, p.savedAt = iteration, s.now() })
}

// A plainHandler writes log lines for people, such as "agent 3: warning: a neighbour is silent,
// neighbour 2".
type plainHandler struct {
	out   io.Writer
	level slog.Level
	head  string
}

func (h plainHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

// Handle writes a line: the attributes of all lines, the level unless it is information, the
// message and its own attributes.
func (h plainHandler) Handle(_ context.Context, r slog.Record) error {
	line := h.head
	switch {
	case r.Level >= slog.LevelError:
		line += "error: "
	case r.Level >= slog.LevelWarn:
		line += "warning: "
	}
	line += r.Message
	r.Attrs(func(a slog.Attr) bool {
		line += fmt.Sprintf(", %s %v", strings.ReplaceAll(a.Key, "_", " "), a.Value)
		return true
	})
	return cli.Paragraph(h.out, line)
}

// WithAttrs returns a handler that writes the attributes in each line.
func (h plainHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		h.head += fmt.Sprintf("%s %v: ", a.Key, a.Value)
	}
	return h
}

// WithGroup returns h: names are not grouped.
func (h plainHandler) WithGroup(string) slog.Handler { return h }

// hung ends the process because of an error that leaves the run's own goroutine waiting for ever,
// as soon as the neighbours can know.
func (s *screen) hung(err error) {
	s.log.Error("the process ends", "reason", err)
	time.Sleep(hungPause)
	os.Exit(cli.Failure)
}

// hungPause is within which the neighbours of an agent that hangs learn why it ends.
const hungPause = time.Second
