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
	At   time.Duration // since the run began
	Text string
	// the exchange's log has it: of connections, which may be noticed to be lost in another order
	// when a seed is repeated
	Logged bool
}

// String returns the line for people.
func (l Line) String() string { return fmt.Sprintf("%12v  %s", l.At, l.Text) }

// A trace is what happened in a run. Lines of one moment are in no order that means anything.
type trace struct {
	forgo func(agent int) // is called for a member that another one counts as failed for what it sends
	mu    sync.Mutex
	lines []Line
}

// failed is what an agent says of a member whose process sends again and again what it must not.
const failed = "a member is at fault again and again"

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

// logger returns one whose lines are an agent's part of the trace.
func (t *trace) logger(agent int) *slog.Logger {
	return slog.New(tracing{t, agent, nil})
}

// A tracing handler of package slog writes to a trace.
type tracing struct {
	*trace
	agent int
	attrs []slog.Attr
}

// Enabled implements [slog.Handler].
func (tracing) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements [slog.Handler].
func (t tracing) Handle(_ context.Context, r slog.Record) error {
	text := fmt.Sprintf("agent %d: %s", t.agent, r.Message)
	add := func(a slog.Attr) bool {
		text += fmt.Sprintf(" %s=%v", a.Key, a.Value)
		if a.Key == "neighbour" && strings.HasPrefix(r.Message, failed) {
			t.forgo(int(a.Value.Int64()))
		}
		return true
	}
	for _, a := range t.attrs {
		add(a)
	}
	r.Attrs(add)
	t.add(text, true)
	return nil
}

// WithAttrs implements [slog.Handler].
func (t tracing) WithAttrs(attrs []slog.Attr) slog.Handler {
	t.attrs = append(t.attrs[:len(t.attrs):len(t.attrs)], attrs...)
	return t
}

// WithGroup implements [slog.Handler].
func (t tracing) WithGroup(string) slog.Handler { return t }
