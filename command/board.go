package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"dsbo/internal/cli"
)

// A board is the stderr of a run whose agents are processes of it: their log lines, each with the agent's number, and one
// bar on a terminal. All that an agent says is in its log file; of agents other than 0, which say the same, the board
// has warnings and errors alone, and those that are of all agents once. Any goroutine may call its methods.
type board struct {
	quiet bool // warnings and errors alone, of agent 0 too
	json  bool // lines as the agents wrote them

	mu       sync.Mutex
	said     map[string]int // who said a warning first
	progress *cli.Progress
	bars     bool
	phase    string // of the bar
}

func newBoard(stderr io.Writer, quiet, json bool) *board {
	return &board{quiet: quiet, json: json, said: map[string]int{}, progress: cli.NewProgress(stderr, false), bars: isTerminal(stderr) && !quiet}
}

// An entry is a line of an agent's log.
type entry struct {
	level slog.Level
	msg   string
	attrs map[string]any
}

// parseEntry reads a line; one that is no log line, as of a panic, is not ok.
func parseEntry(line []byte) (e entry, ok bool) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber() // shown as it was written
	if d.Decode(&e.attrs) != nil {
		return e, false
	}
	level, _ := e.attrs[slog.LevelKey].(string)
	e.msg, ok = e.attrs[slog.MessageKey].(string)
	if !ok || e.level.UnmarshalText([]byte(level)) != nil {
		return e, false
	}
	for _, key := range []string{slog.LevelKey, slog.MessageKey, slog.TimeKey, "agent"} {
		delete(e.attrs, key)
	}
	return e, true
}

// String shows an entry to people.
func (e entry) String() string {
	var b strings.Builder
	if e.level >= slog.LevelWarn {
		b.WriteString(strings.ToLower(e.level.String()) + ": ")
	}
	b.WriteString(e.msg)
	for _, key := range slices.Sorted(maps.Keys(e.attrs)) {
		fmt.Fprintf(&b, ", %s %v", key, e.attrs[key])
	}
	return b.String()
}

// line shows a line of an agent.
func (b *board) line(agent int, line []byte) {
	e, ok := parseEntry(line)
	switch {
	case !ok:
		b.say("agent %d: %s", agent, line)
	case e.msg == progressMessage && b.bars:
		b.move(e)
	case e.level < slog.LevelWarn && (b.quiet || agent != 0):
	case e.level >= slog.LevelWarn && b.repeats(agent, e):
	case b.json:
		b.say("%s", line)
	default:
		b.say("agent %d: %v", agent, e)
	}
}

// repeats reports whether another agent has said the same, if that is about the run: what is about an agent alone, as that a
// neighbour is silent, has attributes.
func (b *board) repeats(agent int, e entry) bool {
	if len(e.attrs) > 0 {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	first, known := b.said[e.String()]
	if !known {
		b.said[e.String()] = agent
	}
	return known && first != agent
}

// move moves the bar to where an agent is.
func (b *board) move(e entry) {
	count := func(key string) int {
		n, _ := e.attrs[key].(json.Number)
		v, _ := n.Int64()
		return int(v)
	}
	phase, _ := e.attrs["phase"].(string)
	b.mu.Lock()
	defer b.mu.Unlock()
	if phase != b.phase {
		b.phase = phase
		b.progress.Start(phase, count("of"))
	}
	b.progress.Set(count("done"))
}

// say writes a line of the run's own.
func (b *board) say(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.progress.Log(format, args...)
}

func (b *board) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.progress.Stop()
}

// A splitter cuts what is written to it into lines. Nothing follows the last write: flush hands out what is left.
type splitter struct {
	line func([]byte)
	rest []byte
}

func (s *splitter) Write(p []byte) (int, error) {
	s.rest = append(s.rest, p...)
	for {
		line, rest, ok := bytes.Cut(s.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		s.line(line)
		s.rest = rest
	}
}

func (s *splitter) flush() {
	if len(s.rest) > 0 {
		s.line(s.rest)
		s.rest = nil
	}
}
