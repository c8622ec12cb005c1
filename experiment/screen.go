package experiment

import (
	"fmt"

	"dsbo/internal/cli"
	"dsbo/runs"
)

// onScreen shows a job on a terminal: with barOnly its progress alone.
type onScreen struct {
	*cli.Progress
	barOnly bool
}

// Show shows one bar over all phases.
func (s onScreen) Show(p Progress) { s.Progress.Show(p.Share, p.String()) }

// Log shows a text in lines of 80 columns at most.
func (s onScreen) Log(format string, args ...any) {
	if s.barOnly {
		return
	}
	for _, line := range cli.Wrap(fmt.Sprintf(format, args...), cli.Columns) {
		s.Progress.Log("%s", line)
	}
}

// Note shows a note's text.
func (s onScreen) Note(n Note) { s.Log("%s", n.Text) }

// Record shows the line, and its head.
func (s onScreen) Record(_ runs.Record, text []string) {
	for _, line := range text {
		s.Log("%s", line)
	}
}

// Saved shows nothing: a user need not know of checkpoints.
func (onScreen) Saved(int) {}
