package command

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"dsbo/internal/cli"
)

func TestEnding(t *testing.T) {
	lost := errors.New("no such file")
	for _, tt := range []struct {
		end  ending
		code int
		want string
	}{
		{ending{agent: 1, code: cli.OK}, cli.OK, ""},
		{ending{agent: 1, code: cli.Failure, text: "disk full"}, cli.Failure, "agent 1: disk full"},
		{ending{agent: 1, code: killed, text: "signal: killed"}, cli.Failure, "agent 1: signal: killed"},
		{ending{agent: 1, code: cli.Usage, text: "-K 0: want more"}, cli.Usage, "agent 1: -K 0: want more"},
		{ending{agent: 1, code: cli.Diverged, text: "diverged: norm"}, cli.Diverged, "agent 1: diverged: norm"},
		{ending{agent: 1, code: cli.Interrupted, text: "interrupted"}, cli.Interrupted, "interrupted"},
		{ending{agent: 1, code: cli.Failure, text: "no such file", err: lost}, cli.Failure, "agent 1: no such file"},
	} {
		err := tt.end.error()
		if cli.Code(err) != tt.code || err != nil && cli.OneLine(err) != tt.want {
			t.Errorf("%+v: %v, code %d, want %q, %d", tt.end, err, cli.Code(err), tt.want, tt.code)
		}
	}
}

// TestCause: the run has the error of the first agent that ended with the most severe code.
func TestCause(t *testing.T) {
	full := ending{agent: 2, code: cli.Failure, text: "disk full"}
	silent := ending{agent: 0, code: cli.Failure, text: "agent 2 has been silent for 10m"}
	finished, stopped := ending{agent: 1}, ending{agent: 1, code: cli.Interrupted}
	refused := ending{agent: 3, code: cli.Usage, text: "other settings"}
	lost, diverged := ending{agent: 4, code: killed}, ending{agent: 5, code: cli.Diverged}
	for want, all := range map[ending][]ending{
		full:     {finished, full, silent, stopped},
		silent:   {stopped, silent, full},
		refused:  {silent, full, refused},
		lost:     {stopped, lost, full},
		diverged: {refused, diverged, lost},
		stopped:  {finished, stopped},
	} {
		if got := cause(all); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// An agent that fails is started again -restarts times and no more; a program that is not there is
// not tried again.
func TestRestarts(t *testing.T) {
	failing, err := exec.LookPath("false") // its exit code is 1
	if err != nil {
		t.Skip(err)
	}
	refused, err := exec.LookPath("grep") // its exit code is 2 for a file that is not there
	if err != nil {
		t.Skip(err)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	for _, tt := range []struct {
		ctx     context.Context
		program string
		again   int
	}{{t.Context(), failing, 2}, {t.Context(), refused, 0}, {t.Context(), "/absent/program", 0}, {ended, failing, 0}} {
		var stderr bytes.Buffer
		s := supervisor{executable: tt.program, restarts: 2, stderr: &stderr,
			args: func(int) []string { return []string{"/absent/file"} }}
		if e := s.run(tt.ctx, 1); e.code == cli.OK || strings.Count(stderr.String(), "starting it again") != tt.again {
			t.Errorf("%s: %+v, want %d restarts\n%s", tt.program, e, tt.again, stderr.String())
		}
	}
}

// Restarts are forgotten after an hour: a run of weeks may have many.
func TestRestartsOfAnHour(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	got := lastHour([]time.Time{ago(300 * time.Hour), ago(time.Hour), ago(time.Hour - time.Second), ago(0)}, now)
	if len(got) != 2 || got[0] != ago(time.Hour-time.Second) {
		t.Errorf("%v are of the last hour", got)
	}
}
