package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// Progress shows how far a command is, as a bar on a terminal, and nothing elsewhere. Lines go
// through Log, so that the bar does not break them. Its methods may be called by many goroutines.
type Progress struct {
	out      io.Writer
	terminal bool

	mu    sync.Mutex
	bar   string    // as it is shown; "": none is
	drawn time.Time // time when Show last drew it
}

// NewProgress makes one that writes to out; quiet leaves out bars and lines alike.
func NewProgress(out io.Writer, quiet bool) *Progress {
	if quiet {
		out = io.Discard
	}
	return &Progress{out: out, terminal: IsTerminal(out)}
}

// IsTerminal reports whether w is a terminal that may have colours and bars: not where NO_COLOR is
// set or TERM is dumb, nor for a rank of mpirun, whose lines the launcher puts among others'.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && !wantsPlain(os.Getenv) && term.IsTerminal(int(f.Fd()))
}

// wantsPlain reports whether the environment asks for plain text.
func wantsPlain(env func(name string) string) bool {
	for _, name := range []string{"NO_COLOR", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"} {
		if env(name) != "" {
			return true
		}
	}
	return env("TERM") == "dumb"
}

const (
	barWidth  = 24
	barPause  = 100 * time.Millisecond // least time between two drawings
	clearLine = "\r\x1b[K"             // the line may hold the bar, or the line of another process
)

// Show draws the bar at a share of the whole, from 0 to 1, with a text beside it.
func (p *Progress) Show(share float64, text string) {
	if !p.terminal {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar == "" || time.Since(p.drawn) >= barPause {
		p.bar, p.drawn = barOf(share, text), time.Now()
		p.write(clearLine + p.bar)
	}
}

// barOf returns the line of a bar.
func barOf(share float64, text string) string {
	full := int(barWidth * min(max(share, 0), 1))
	return fmt.Sprintf("%3.0f %% |%s%s| %s", 100*share, strings.Repeat("█", full), strings.Repeat(" ", barWidth-full),
		text)
}

// write writes a text. One that cannot be shown is no failure of the command.
func (p *Progress) write(text string) { _, _ = io.WriteString(p.out, text) }

// Log writes a line, above the bar.
func (p *Progress) Log(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := plainLines(fmt.Sprintf(format, args...)) + "\n"
	if p.terminal {
		line = clearLine + line + p.bar
	}
	p.write(line)
}

// Stop takes the bar away.
func (p *Progress) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != "" {
		p.write(clearLine)
		p.bar = ""
	}
}
