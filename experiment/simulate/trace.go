package simulate

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Line is something that happened in a run.
type Line struct {
	At     time.Duration // since the run began
	Text   string
	Logged bool // the log of a session has it
}

// String returns the line for people.
func (l Line) String() string { return fmt.Sprintf("%12v  %s", l.At, l.Text) }

// A trace is what happened in a run. Lines of one moment are in no order that means anything.
type trace struct {
	mu    sync.Mutex
	lines []Line
}

func (t *trace) note(format string, args ...any) { t.add(fmt.Sprintf(format, args...), false) }

func (t *trace) add(text string, logged bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, Line{time.Since(begin), text, logged})
}

// sorted returns the lines by moment and text.
func (t *trace) sorted() []Line {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.SortedFunc(slices.Values(t.lines), func(a, b Line) int {
		return cmp.Or(cmp.Compare(a.At, b.At), strings.Compare(a.Text, b.Text))
	})
}

// A tracing handler of package slog writes an agent's lines to a trace.
type tracing struct {
	*trace
	agent int
	slog.Handler
}

// logger returns one whose lines are an agent's part of the trace.
func (t *trace) logger(agent int) *slog.Logger {
	return slog.New(tracing{t, agent, slog.DiscardHandler})
}

// Enabled implements [slog.Handler].
func (tracing) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements [slog.Handler].
func (t tracing) Handle(_ context.Context, r slog.Record) error {
	text := fmt.Sprintf("agent %d: %s", t.agent, r.Message)
	r.Attrs(func(a slog.Attr) bool {
		text += fmt.Sprintf(" %s=%v", a.Key, a.Value)
		return true
	})
	t.add(text, true)
	return nil
}
