package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"dsbo"
	"dsbo/internal/cli"
)

const (
	stopTimeout  = 30 * time.Second // time that an agent has to stop before it is killed
	restartPause = time.Second      // wait before an agent is started again
)

// killed is the exit code of a process that a signal has ended.
const killed = -1

// A supervisor runs agents as processes, and restarts those that are lost.
type supervisor struct {
	executable string
	name       string // name of the program
	args       func(agent int) []string
	stderr     io.Writer     // stderr of all agents
	restarts   int           // bound of the restarts of each agent in an hour
	pause      time.Duration // wait before a restart
}

// An ending is how an agent ended for good.
type ending struct {
	agent int
	code  int
	text  string // the agent's error, or the state of its process
	err   error  // why the process could not be started; nil if it was
}

// run runs n agents and returns the ending that is the cause of the run's when all have ended. When
// one cannot be restarted the others are stopped, as they would wait for it.
func (s *supervisor) run(ctx context.Context, n int) ending {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ends := make(chan ending, n)
	for i := range n {
		go func() { ends <- s.runAgent(ctx, i) }()
	}
	var all []ending // in their order in time
	for range n {
		e := <-ends
		if all = append(all, e); e.code != cli.OK {
			stop()
		}
	}
	return cause(all)
}

// cause returns the first of the most severe of endings, in their order in time: the others may
// have followed from it.
func cause(all []ending) ending {
	return slices.MaxFunc(all, func(a, b ending) int { return severity(a.code) - severity(b.code) })
}

// severity orders exit codes: the cause of a run's end is more severe than an ending that may have
// followed from it.
func severity(code int) int {
	if code == killed {
		code = cli.Failure
	}
	return slices.Index([]int{cli.OK, cli.Interrupted, cli.Failure, cli.Usage, cli.Diverged}, code)
}

// runAgent runs an agent until it ends for good, and starts it again after a loss, at most restarts
// times in an hour. Wrong settings and divergence would come again, and are no loss; nor is an
// agent lost that cannot be started, or that ended because all are stopped.
func (s *supervisor) runAgent(ctx context.Context, agent int) ending {
	var recent []time.Time // restarts of the last hour
	for {
		e := s.runProcess(ctx, agent)
		recent = lastHour(recent, time.Now())
		// Interrupted counts: while ctx lives, somebody else has stopped the process.
		lost := e.code == killed || e.code == cli.Failure || e.code == cli.Interrupted
		if e.err != nil || ctx.Err() != nil || !lost || len(recent) >= s.restarts {
			return e
		}
		cli.NewProgress(s.stderr, false).Log("agent %d: %s: starting it again (%d of %d in an hour)", agent, e.text,
			len(recent)+1, s.restarts)
		recent = append(recent, time.Now())
		select {
		case <-ctx.Done():
			return ending{agent: agent, code: cli.Interrupted}
		case <-time.After(s.pause):
		}
	}
}

// lastHour returns the times that are less than an hour ago.
func lastHour(all []time.Time, now time.Time) []time.Time {
	return slices.DeleteFunc(all, func(t time.Time) bool { return now.Sub(t) >= time.Hour })
}

// runProcess runs an agent's process once.
func (s *supervisor) runProcess(ctx context.Context, agent int) ending {
	var out bytes.Buffer // the agent's stdout, to which an attached agent writes its error
	c := exec.CommandContext(ctx, s.executable, append([]string{"agent"}, s.args(agent)...)...)
	c.Args[0] = s.name
	c.Stdout, c.Stderr = &out, s.stderr
	err := cli.RunAttached(c, stopTimeout)
	if c.ProcessState == nil {
		return ending{agent: agent, code: cli.Failure, text: err.Error(), err: err}
	}
	text := strings.TrimPrefix(strings.TrimSpace(out.String()), fmt.Sprintf("agent %d: ", agent))
	return ending{agent: agent, code: c.ProcessState.ExitCode(), text: cmp.Or(text, c.ProcessState.String())}
}

// error returns an agent's ending as the error of the run, nil if the agent has finished.
func (e ending) error() error {
	switch e.code {
	case cli.OK:
		return nil
	case cli.Interrupted:
		return context.Canceled
	}
	kinds := map[int]error{cli.Usage: dsbo.ErrConfig, cli.Diverged: dsbo.ErrDiverged}
	return dsbo.Errorf(cmp.Or(kinds[e.code], e.err, errors.New("an agent failed")), "agent %d: %s", e.agent, e.text)
}
