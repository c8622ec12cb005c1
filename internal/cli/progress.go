package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress shows how far a command is, with the time left, as a bar on a terminal, and nothing
// elsewhere. Lines go through Log, so that the bar does not break them. It belongs to one goroutine at a time.
type Progress struct {
	out      io.Writer
	quiet    bool
	terminal bool
	bar      *progressbar.ProgressBar
}

// NewProgress makes one that writes to out. quiet leaves out bars and lines alike.
func NewProgress(out io.Writer, quiet bool) *Progress {
	f, ok := out.(*os.File)
	return &Progress{out: out, quiet: quiet, terminal: ok && term.IsTerminal(int(f.Fd()))}
}

// Start begins a bar of so many steps; a bar that is shown is ended.
func (p *Progress) Start(what string, steps int) {
	p.Stop()
	if p.quiet || !p.terminal {
		return
	}
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
	if p.bar != nil {
		_ = p.bar.Set(step) // a bar that cannot be drawn is no failure of the run
	}
}

// Log writes a line.
func (p *Progress) Log(format string, args ...any) {
	if p.quiet {
		return
	}
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	fmt.Fprintf(p.out, format+"\n", args...)
	if p.bar != nil {
		_ = p.bar.RenderBlank()
	}
}

// Stop takes the bar away.
func (p *Progress) Stop() {
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
}
