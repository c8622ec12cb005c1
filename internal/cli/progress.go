package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress shows how far a command is, with the time left, as a bar on a terminal, and nothing elsewhere. Lines go
// through Log, so that the bar does not break them. Its methods may be called by many goroutines.
type Progress struct {
	out      io.Writer
	terminal bool

	mu  sync.Mutex
	bar *progressbar.ProgressBar
}

// NewProgress makes one that writes to out; quiet leaves out bars and lines alike.
func NewProgress(out io.Writer, quiet bool) *Progress {
	if quiet {
		out = io.Discard
	}
	return &Progress{out: out, terminal: IsTerminal(out)}
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Start begins a bar of so many steps, in place of the one that is shown.
func (p *Progress) Start(what string, steps int) {
	p.Stop()
	if !p.terminal {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bar = progressbar.NewOptions(steps,
		progressbar.OptionSetWriter(p.out),
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetWidth(30),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetRenderBlankState(true),
		progressbar.OptionClearOnFinish(),
	)
}

// Set moves the bar to a step.
func (p *Progress) Set(step int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Set(step) // a bar that cannot be drawn is no failure of the run
	}
}

// Log writes a line, above the bar.
func (p *Progress) Log(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := fmt.Sprintf(format, args...) + "\n"
	if p.terminal {
		line = "\r\x1b[K" + line // this line may hold the bar, or that of another process
	}
	_, _ = io.WriteString(p.out, line)
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
