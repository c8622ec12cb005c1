package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"dsbo/internal/wording"
)

// Progress shows how far a command is, as a bar on a terminal, and nothing elsewhere. Lines go
// through Log, so that the bar does not break them. Its methods may be called by many goroutines.
type Progress struct {
	out      io.Writer
	terminal bool

	mu    sync.Mutex
	bar   *progressbar.ProgressBar // nil: none is shown
	drawn time.Time                // time when Show last drew it
}

// NewProgress makes a Progress that writes to out; quiet drops bars and lines alike.
func NewProgress(out io.Writer, quiet bool) *Progress {
	if quiet {
		out = io.Discard
	}
	return &Progress{out: out, terminal: IsTerminal(out)}
}

// IsTerminal reports whether w is a terminal that may have colours and bars. It is false if
// NO_COLOR is set, if TERM is dumb, and for a rank of mpirun, whose launcher interleaves the lines
// of ranks.
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
	barSteps  = 100
	barPause  = 100 * time.Millisecond // least time between two drawings
	clearLine = "\r\x1b[K"             // for a line with the bar, or with another process's line
)

// Show draws the bar at a share of the whole, from 0 to 1, with a text beside it. The text has the
// time left, if that is to be shown: the bar's own estimate would be of steps that take equally
// long, which the phases of a run do not.
func (p *Progress) Show(share float64, text string) {
	if !p.terminal {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar == nil {
		p.bar = progressbar.NewOptions(barSteps,
			progressbar.OptionSetWriter(p.out),
			progressbar.OptionSetWidth(24),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionShowDescriptionAtLineEnd(),
			progressbar.OptionUseANSICodes(true),
		)
	} else if time.Since(p.drawn) < barPause {
		return
	}
	p.drawn = time.Now()
	// The last step is left to Stop, as a bar that is full is not drawn again. One that cannot be
	// drawn is no failure of the command.
	_ = p.bar.Set(min(int(barSteps*max(share, 0)), barSteps-1))
	p.bar.Describe(text)
}

// Log writes a line, above the bar.
func (p *Progress) Log(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := wording.Plain(fmt.Sprintf(format, args...)) + "\n"
	if p.terminal {
		line = clearLine + line
	}
	_, _ = io.WriteString(p.out, line) // a line that cannot be shown is no failure either
	if p.bar != nil {
		_ = p.bar.RenderBlank()
	}
}

// Stop takes the bar away.
func (p *Progress) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
}
