// LimitLog bounds the lines of a log under any input: each kind of line has a rate, and the next
// line of a kind reports the number dropped before it.

package pki

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"dsbo/internal/wording"
)

// Of each kind, as many lines as burst come at once, and then one each every.
const (
	burst = 10
	every = 10 * time.Second
)

// neighbour is the attribute that makes lines with one message of several kinds.
const neighbour = "neighbour"

// LimitLog returns a logger that passes lines on to to, at a bounded rate for each kind. Lines of a
// kind have the same message, and the same attribute "neighbour" if any. Both are the program's own
// texts, so kinds are few. Other attributes may come from peers, and lose their unprintable
// characters. A nil logger drops all lines.
func LimitLog(to *slog.Logger) *slog.Logger {
	if to == nil {
		to = slog.New(slog.DiscardHandler)
	}
	return slog.New(&handler{to.Handler(), &kinds{all: map[kind]*count{}}})
}

// A kind of lines is their message and their neighbour, if any.
type kind [2]string

// A count is the rate limiter's state of a kind.
type count struct {
	credit  time.Duration // every for each line that may come at once
	updated time.Time
	omitted int // left out since the last line
}

type kinds struct {
	mu  sync.Mutex
	all map[kind]*count
}

// allow reports whether a line of a kind may come, and how many were left out before it.
func (k *kinds) allow(of kind, now time.Time) (missed int, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.all[of]
	if c == nil {
		c = &count{credit: burst * every, updated: now}
		k.all[of] = c
	}
	c.credit = min(burst*every, c.credit+now.Sub(c.updated)) // time is credit: a token bucket
	c.updated = now
	if c.credit < every {
		c.omitted++
		return 0, false
	}
	c.credit -= every
	missed, c.omitted = c.omitted, 0
	return missed, true
}

type handler struct {
	slog.Handler
	kinds *kinds
}

// Handle implements slog.Handler: it passes a line on if its kind has credit, with the number of
// lines of the kind that were left out before it.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	of := kind{r.Message}
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == neighbour {
			of[1] = a.Value.String()
		}
		return a.Key != neighbour
	})
	missed, ok := h.kinds.allow(of, r.Time)
	if !ok {
		return nil
	}
	shown := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		shown.AddAttrs(printable(a))
		return true
	})
	if missed > 0 {
		shown.AddAttrs(slog.Int("left_out", missed))
	}
	return h.Handler.Handle(ctx, shown)
}

// printable returns an attribute without unprintable characters, which a peer may have sent.
func printable(a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case string:
		a.Value = slog.StringValue(wording.Plain(v))
	case error:
		a.Value = slog.StringValue(wording.Plain(v.Error()))
	}
	return a
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.Handler.WithAttrs(attrs), h.kinds}
}

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.Handler.WithGroup(name), h.kinds}
}
