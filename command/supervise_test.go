package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"dsbo/internal/cli"
)

func TestSeverity(t *testing.T) {
	codes := []int{cli.Diverged, cli.OK, cli.Interrupted, cli.Usage, cli.Failure}
	slices.SortFunc(codes, func(a, b int) int { return severity(a) - severity(b) })
	if want := []int{cli.OK, cli.Interrupted, cli.Failure, cli.Usage, cli.Diverged}; !slices.Equal(codes, want) {
		t.Errorf("%v, want %v", codes, want)
	}
	if severity(killed) != severity(cli.Failure) {
		t.Error("a killed agent is another failure")
	}
}

func TestEnding(t *testing.T) {
	lost := errors.New("no such file")
	for _, tt := range []struct {
		end  ending
		code int
		want string
	}{
		{ending{agent: 1, code: cli.OK}, cli.OK, ""},
		{ending{agent: 1, code: cli.Failure, words: "disk full"}, cli.Failure, "agent 1: disk full"},
		{ending{agent: 1, code: killed, words: "signal: killed"}, cli.Failure, "agent 1: signal: killed"},
		{ending{agent: 1, code: cli.Usage, words: "-K 0: want more"}, cli.Usage, "agent 1: -K 0: want more"},
		{ending{agent: 1, code: cli.Diverged, words: "diverged: norm"}, cli.Diverged, "agent 1: diverged: norm"},
		{ending{agent: 1, code: cli.Interrupted, words: "interrupted"}, cli.Interrupted, "interrupted"},
		{ending{agent: 1, code: cli.Failure, words: "no such file", err: lost}, cli.Failure, "agent 1: no such file"},
	} {
		err := tt.end.error()
		if cli.Code(err) != tt.code || err != nil && cli.OneLine(err) != tt.want {
			t.Errorf("%+v: %v, code %d, want %q, %d", tt.end, err, cli.Code(err), tt.want, tt.code)
		}
	}
}

// closer is a log that keeps what is written to it.
type closer struct{ bytes.Buffer }

func (*closer) Close() error { return nil }

// An agent that fails is started again so many times and no more; a program that is not there is not tried again.
func TestRestarts(t *testing.T) {
	failing, err := exec.LookPath("false") // its exit code is 1
	if err != nil {
		t.Skip(err)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	for _, tt := range []struct {
		ctx     context.Context
		program string
		again   int
	}{{t.Context(), failing, 2}, {t.Context(), "/absent/program", 0}, {ended, failing, 0}} {
		var stderr bytes.Buffer
		s := supervisor{
			board: newBoard(&stderr, false, false), program: tt.program, restarts: 2,
			args: func(int) []string { return nil },
			logs: func(int) (io.WriteCloser, error) { return &closer{}, nil },
		}
		if e := s.run(tt.ctx, 1); e.code == cli.OK || strings.Count(stderr.String(), "starting it again") != tt.again {
			t.Errorf("%s: %+v, want %d restarts\n%s", tt.program, e, tt.again, stderr.String())
		}
	}
}

func TestBoard(t *testing.T) {
	lines := []string{
		`{"time":"2026-01-02T03:04:05Z","level":"INFO","msg":"iteration 4","agent":0}`,
		`{"time":"2026-01-02T03:04:05Z","level":"INFO","msg":"progress","agent":0,"phase":"iterations","done":3,"of":6}`,
		`{"time":"2026-01-02T03:04:05Z","level":"WARN","msg":"silent","agent":0,"neighbour":1,"for":"6s","at":12345678901234567890}`,
		`{"level":"ERROR","msg":"no longer listening","reason":"x"}`,
		`panic: runtime error`,
		`{"msg":"no level"}`,
	}
	say := func(agent int, quiet, json bool) string {
		var out bytes.Buffer
		b := newBoard(&out, quiet, json)
		s := splitter{line: func(line []byte) { b.line(agent, line) }}
		text := strings.Join(lines, "\n")
		for part := range slices.Chunk([]byte(text), 7) {
			if _, err := s.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		s.flush()
		s.flush()
		return out.String()
	}
	warnings := func(agent string) string {
		return agent + ": warn: silent, at 12345678901234567890, for 6s, neighbour 1\n" + agent + ": error: no longer listening, reason x\n" +
			agent + ": panic: runtime error\n" + agent + `: {"msg":"no level"}` + "\n"
	}
	if got, want := say(0, false, false), "agent 0: iteration 4\nagent 0: progress, done 3, of 6, phase iterations\n"+warnings("agent 0"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got, want := say(2, false, false), warnings("agent 2"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got, want := say(0, true, false), warnings("agent 0"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got, want := say(0, false, true), strings.Join(lines[:4], "\n")+"\nagent 0: panic: runtime error\nagent 0: "+lines[5]+"\n"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// A warning that is of all agents is shown once, and one of an agent alone always.
func TestSharedWarnings(t *testing.T) {
	var out bytes.Buffer
	b := newBoard(&out, true, false)
	for _, agent := range []int{1, 0, 2, 1} {
		b.line(agent, fmt.Appendf(nil, `{"level":"WARN","msg":"beta is large","agent":%d}`, agent))
		b.line(agent, fmt.Appendf(nil, `{"level":"WARN","msg":"silent","agent":%d,"neighbour":3}`, agent))
	}
	const silent = ": warn: silent, neighbour 3\n"
	want := "agent 1: warn: beta is large\nagent 1" + silent + "agent 0" + silent + "agent 2" + silent + "agent 1: warn: beta is large\nagent 1" + silent
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}

// What an agent writes to stderr can be anything, and comes in pieces of any size.
func FuzzBoard(f *testing.F) {
	f.Add([]byte(`{"level":"INFO","msg":"progress","phase":"x","done":1e400,"of":[]}`+"\n"), 3)
	f.Add([]byte("panic: x\n\ngoroutine 1\n"), 1)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		if size < 1 {
			return
		}
		var out bytes.Buffer
		b := newBoard(&out, false, false)
		b.bars = true
		var lines [][]byte
		s := splitter{line: func(line []byte) {
			lines = append(lines, bytes.Clone(line))
			b.line(0, line)
		}}
		for part := range slices.Chunk(text, size) {
			if _, err := s.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		s.flush()
		b.stop()
		if got := bytes.Join(lines, []byte("\n")); !bytes.Equal(got, bytes.TrimSuffix(text, []byte("\n"))) {
			t.Fatalf("%q as lines, want %q", got, text)
		}
	})
}
