package command

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"dsbo/internal/cli"
)

// A screen is what an agent says on stderr: log lines, and how far it is, as a bar on a terminal and as a line now and then
// elsewhere. It is the [job.Viewer] of the agent's job and keeps its monitor up to date.
type screen struct {
	log      *slog.Logger
	monitor  *monitor
	bars     bool
	every    time.Duration // between lines of progress; 0: none
	now      func() time.Time
	phase    string
	of       int
	reported time.Time

	mu       sync.Mutex // of the bar: lines come from many goroutines
	progress *cli.Progress
}

func newScreen(o agentOptions, m *monitor, stderr io.Writer) *screen {
	s := &screen{monitor: m, every: o.progress, now: time.Now, progress: cli.NewProgress(stderr, false)}
	terminal := isTerminal(stderr)
	s.bars = terminal && !o.quiet
	if terminal || o.quiet {
		s.every = 0
	}
	options := &slog.HandlerOptions{}
	if o.quiet {
		options.Level = slog.LevelWarn
	}
	if o.log == "json" {
		s.log = slog.New(slog.NewJSONHandler(s, options))
	} else {
		s.log = slog.New(slog.NewTextHandler(s, options))
	}
	s.log = s.log.With("agent", o.agent)
	return s
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Write writes a line of the log.
func (s *screen) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.progress.Log("%s", bytes.TrimSuffix(line, []byte("\n")))
	return len(line), nil
}

// Start begins a phase.
func (s *screen) Start(what string, steps int) {
	s.monitor.start(what, steps)
	s.phase, s.of = what, steps
	if s.every > 0 {
		s.report(0)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bars {
		s.progress.Start(what, steps)
	}
}

// Set says how far the phase is.
func (s *screen) Set(step int) {
	s.monitor.set(step)
	if s.every > 0 && s.now().Sub(s.reported) >= s.every {
		s.report(step)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.progress.Set(step)
}

// progressMessage marks the log lines that say how far an agent is.
const progressMessage = "progress"

// report logs how far the phase is.
func (s *screen) report(step int) {
	s.reported = s.now()
	s.log.Info(progressMessage, "phase", s.phase, "done", step, "of", s.of)
}

// Log logs a line of the job.
func (s *screen) Log(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if warning, ok := strings.CutPrefix(text, "warning: "); ok {
		s.log.Warn(warning)
		return
	}
	s.log.Info(text)
}

// Saved keeps that there is a checkpoint.
func (s *screen) Saved(iteration int) { s.monitor.checkpoint(iteration, s.now()) }

// Stop ends a phase.
func (s *screen) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.progress.Stop()
}
