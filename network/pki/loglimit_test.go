package pki

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dsbo/internal/wording"
)

// TestOthersTextInLogs: what others have sent moves no terminal, in none of the forms of a log.
func TestOthersTextInLogs(t *testing.T) {
	for name, handler := range map[string]func(io.Writer) slog.Handler{
		"text": func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) },
		"json": func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, nil) },
	} {
		var b bytes.Buffer
		const sent = "bad\x1b[2J\u202e\nlevel=ERROR"
		LimitLog(slog.New(handler(&b))).Warn("refused", "reason", errors.New(sent), "says", sent)
		line := strings.TrimSuffix(b.String(), "\n")
		if !wording.Printable(line) || strings.Count(line, "202e") != 2 {
			t.Errorf("%s: the line is %q; it must be one, and show what was sent twice", name, line)
		}
	}
}

// TestLimit: lines of a kind come ten at once, then one each ten seconds with the number of those
// left out; other kinds come beside them.
func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		log := LimitLog(slog.New(slog.NewTextHandler(&b, nil))).With("agent", 3)
		lines := func() int {
			n := strings.Count(b.String(), "\n")
			return n
		}
		for range 1000 {
			log.Info("refused", "from", "a stranger")
		}
		if lines() != burst {
			t.Errorf("%d lines of 1000 came; they must be %d", lines(), burst)
		}
		log.Info("lost", "neighbour", 1)
		log.Info("lost", "neighbour", 2)
		if lines() != burst+2 {
			t.Errorf("%d lines; those of other kinds must come", lines())
		}
		b.Reset()
		for range 100 {
			time.Sleep(time.Second)
			log.Info("refused")
		}
		if got := b.String(); lines() != 10 || !strings.Contains(got, `agent=3 left_out=999`) ||
			!strings.Contains(got, `left_out=9`+"\n") {
			t.Errorf(
				"in 100 s came\n%s\nthey must be 10 lines, the first of which says that 999 were left out, the "+
					"others 9", got)
		}
	})
}
