package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"dsbo"
	"dsbo/internal/cli"
)

// stopping is how long an agent that was asked to stop may take, and pause how long it stays down before it is started again.
const (
	stopping = 30 * time.Second
	pause    = time.Second
)

// killed is the exit code of an agent that a signal has ended.
const killed = -1

// A supervisor runs agents as processes, and starts those again that are lost.
type supervisor struct {
	board    *board
	program  string // to start
	name     string // of the program, in error lines
	args     func(agent int) []string
	logs     func(agent int) (io.WriteCloser, error)
	restarts int           // of an agent
	pause    time.Duration // before a restart
}

// An ending is how an agent ended for good.
type ending struct {
	agent int
	code  int
	words string // its last ones
	err   error  // if it could not be started
}

// run runs n agents and returns when all have ended, with the worst ending. When one cannot be started again the others
// are stopped, as they would wait for it.
func (s *supervisor) run(ctx context.Context, n int) ending {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ends := make([]ending, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			ends[i] = s.keep(ctx, i)
			if ends[i].code != cli.OK {
				stop()
			}
		})
	}
	wg.Wait()
	worst := ends[0]
	for _, e := range ends[1:] {
		if severity(e.code) > severity(worst.code) {
			worst = e
		}
	}
	return worst
}

// severity orders exit codes: what ended the run comes before what followed from it.
func severity(code int) int {
	switch code {
	case cli.OK:
		return 0
	case cli.Interrupted:
		return 1
	case cli.Usage:
		return 3
	case cli.Diverged:
		return 4
	}
	return 2
}

// keep runs an agent to its end, through restarts.
func (s *supervisor) keep(ctx context.Context, agent int) ending {
	for again := 1; ; again++ {
		e := s.once(ctx, agent)
		lost := e.code == killed || e.code == cli.Failure || e.code == cli.Interrupted // by somebody else than this run
		if e.err != nil || ctx.Err() != nil || !lost || again > s.restarts {
			return e
		}
		s.board.say("agent %d: %s: starting it again (%d of %d)", agent, e.words, again, s.restarts)
		select {
		case <-ctx.Done():
			return ending{agent: agent, code: cli.Interrupted}
		case <-time.After(s.pause):
		}
	}
}

// once runs an agent once.
func (s *supervisor) once(ctx context.Context, agent int) ending {
	failed := func(err error) ending { return ending{agent: agent, code: cli.Failure, words: err.Error(), err: err} }
	log, err := s.logs(agent)
	if err != nil {
		return failed(err)
	}
	words := ""
	lines := &splitter{line: func(line []byte) {
		_, _ = log.Write(append(bytes.Clone(line), '\n')) // the run does not depend on it
		if text, said := bytes.CutPrefix(line, []byte(s.name+": agent: ")); said {
			words = strings.TrimPrefix(string(text), fmt.Sprintf("agent %d: ", agent))
			return
		}
		s.board.line(agent, line)
	}}
	c := exec.CommandContext(ctx, s.program)
	c.Args = append([]string{s.name, "agent"}, s.args(agent)...)
	c.Stderr = lines
	c.SysProcAttr = attributes()
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = stopping
	if _, err = c.StdinPipe(); err == nil { // ends with this process, see -attached
		err = c.Run()
	}
	lines.flush()
	if e := log.Close(); e != nil {
		s.board.say("agent %d: its log: %v", agent, e)
	}
	if c.ProcessState == nil {
		return failed(err)
	}
	e := ending{agent: agent, code: c.ProcessState.ExitCode(), words: words}
	if e.words == "" {
		e.words = c.ProcessState.String()
	}
	return e
}

// error returns an agent's ending as the error of the run, nil if it is a good one.
func (e ending) error() error {
	text := fmt.Sprintf("agent %d: %s", e.agent, e.words)
	switch e.code {
	case cli.OK:
		return nil
	case cli.Interrupted:
		return context.Canceled
	case cli.Usage:
		return dsbo.Errorf(dsbo.ErrConfig, "%s", text)
	case cli.Diverged:
		return dsbo.Errorf(dsbo.ErrDiverged, "%s", text)
	}
	return dsbo.Errorf(e.err, "%s", text)
}

// logFile opens the file that has all that an agent says.
func logFile(path string) (io.WriteCloser, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("log: %s", strings.TrimPrefix(err.Error(), "open "))
	}
	return f, nil
}
