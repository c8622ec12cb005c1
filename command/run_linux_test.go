package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"dsbo/internal/cli"
	"dsbo/runs"
)

// startRun starts the command and returns what it wrote.
func startRun(ctx context.Context, t *testing.T, stderr io.Writer, args ...string) (string, error) {
	t.Helper()
	var stdout bytes.Buffer
	err := run(ctx, append([]string{"run"}, args...), &stdout, &oneAtATime{w: stderr})
	return stdout.String(), err
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	file, out := writeCluster(t, dir, 3, nil), filepath.Join(dir, "out")
	var stderr bytes.Buffer
	stdout, err := startRun(t.Context(), t, &stderr, "-cluster="+file, "-out="+out)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	sameRun(t, out, alone(t, dir, "-agents=3"))
	for _, want := range []string{"small: 3 agents, which agree to the last bit; ", "\nλ tuned ", "\nreport "} {
		if !strings.Contains(stdout, want) {
			t.Errorf("stdout lacks %q:\n%s", want, stdout)
		}
	}
	if !strings.Contains(stderr.String(), "\nagent 0: iteration 6  Φ ") || strings.Contains(stderr.String(), "agent 1: iteration") {
		t.Errorf("stderr:\n%s", stderr.String())
	}
	if log, err := os.ReadFile(filepath.Join(out, "agent-1.log")); err != nil || !bytes.Contains(log, []byte("iteration 6  Φ ")) {
		t.Errorf("the log of agent 1: %v\n%s", err, log)
	}
	if info, err := os.Stat(filepath.Join(out, "report.html")); err != nil || info.Size() == 0 {
		t.Errorf("no report: %v", err)
	}
	if state, err := runs.Folder(out).State(); state != runs.Finished || err != nil {
		t.Errorf("state %q, %v", state, err)
	}

	// A finished run stays, but for -force.
	if _, err := startRun(t.Context(), t, io.Discard, "-cluster="+file, "-out="+out); cli.Code(err) != cli.Usage || !strings.Contains(err.Error(), "-force replaces it") {
		t.Errorf("again: %v", err)
	}
	stderr.Reset()
	if _, err := startRun(t.Context(), t, &stderr, "-cluster="+writeCluster(t, dir, 3, map[string]any{"seed": 5}), "-out="+out, "-force", "-insecure", "-quiet", "-report=false"); err != nil || stderr.Len() > 0 {
		t.Fatalf("-force: %v\n%s", err, stderr.String())
	}
	if _, err := os.Stat(filepath.Join(out, "certs")); err == nil {
		t.Error("-insecure has certificates")
	}
	sameRun(t, out, alone(t, t.TempDir(), "-agents=3", "-seed=5"))
}

// oneAtATime is a stderr to which processes may write at the same time.
type oneAtATime struct {
	mu sync.Mutex
	w  io.Writer
}

func (o *oneAtATime) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(p)
}

// A loss is a signal for an agent.
type loss struct {
	agent  int
	signal syscall.Signal
}

// A killer takes the run's stderr and kills agents when a line with a text comes.
type killer struct {
	out   string // run folder
	when  map[string][]loss
	all   bytes.Buffer
	kills int
}

func (k *killer) Write(p []byte) (int, error) {
	for text, losses := range k.when {
		if !bytes.Contains(p, []byte(text)) {
			continue
		}
		delete(k.when, text)
		for _, l := range losses {
			if pid := newestProcess(filepath.Join(k.out, fmt.Sprintf("agent-%d.log", l.agent))); pid > 0 && syscall.Kill(pid, l.signal) == nil {
				k.kills++
			}
		}
	}
	return k.all.Write(p)
}

// newestProcess returns the id of the newest process in an agent's log.
func newestProcess(log string) (pid int) {
	f, err := os.Open(log)
	if err != nil {
		return 0
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		var line struct {
			Msg     string
			Process int
		}
		if json.Unmarshal(in.Bytes(), &line) == nil && line.Msg == "starting" {
			pid = line.Process
		}
	}
	return pid
}

// Agents that are killed are started again, and the run ends with the bits of one that nothing has happened to.
func TestRunSurvives(t *testing.T) {
	dir := t.TempDir()
	file, out := writeCluster(t, dir, 3, nil), filepath.Join(dir, "out")
	k := &killer{out: out, when: map[string][]loss{
		"agent 0: iteration 2 ": {{1, syscall.SIGKILL}},
		"agent 0: iteration 4 ": {{0, syscall.SIGKILL}, {2, syscall.SIGTERM}},
		"refit at λ = 0":        {{1, syscall.SIGKILL}},
	}}
	stdout, err := startRun(t.Context(), t, k, "-cluster="+file, "-out="+out, "-report=false", "-keep-frames=2")
	if err != nil {
		t.Fatalf("%v\n%s", err, k.all.String())
	}
	if k.kills < 3 || !strings.Contains(k.all.String(), "agent 1: signal: killed: starting it again (1 of 3)\n") || !strings.Contains(stdout, "which agree to the last bit") {
		t.Errorf("%d kills\n%s", k.kills, k.all.String())
	}
	sameRun(t, out, alone(t, dir, "-agents=3"))
}

func TestInterruptedRun(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes")
	}
	dir := t.TempDir()
	file, out := writeCluster(t, dir, 3, nil), filepath.Join(dir, "out")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	_, err := startRun(ctx, t, &breaker{text: "iteration 3 ", end: stop}, "-cluster="+file, "-out="+out, "-report=false")
	if cli.Code(err) != cli.Interrupted || cli.OneLine(err) != "run: interrupted; -resume -out "+out+" goes on" {
		t.Fatalf("error %v", err)
	}
	if state, err := runs.Folder(out).State(); state != "interrupted" || err != nil {
		t.Errorf("state %q, %v", state, err)
	}
	other := writeCluster(t, t.TempDir(), 3, map[string]any{"seed": 2})
	if _, err := startRun(t.Context(), t, io.Discard, "-cluster="+other, "-out="+out, "-resume"); cli.Code(err) != cli.Usage || !strings.Contains(err.Error(), "-resume needs the cluster file with which the run") {
		t.Errorf("another cluster file: %v", err)
	}
	if _, err := startRun(t.Context(), t, io.Discard, "-cluster="+file, "-out="+out, "-resume", "-report=false"); err != nil {
		t.Fatal(err)
	}
	sameRun(t, out, alone(t, dir, "-agents=3"))
}

// How a run ends when an agent does not come to its end.
func TestRunFails(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes")
	}
	for _, tt := range []struct {
		name  string
		flags []string
		args  []string
		code  int
		want  string
		state runs.State
	}{
		{"divergence", []string{"-beta=1e6", "-K=50"}, nil, cli.Diverged, "diverged: agent ", "diverged"},
		{"a setting", []string{"-batch=31"}, nil, cli.Usage, "-batch 31: an agent has 30 examples", "failed"},
		{"certificates that are not there", nil, []string{"-certs=absent"}, cli.Usage, "-certs: open absent", "failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			file, out := writeCluster(t, dir, 2, map[string]any{"flags": append(append([]string{}, small...), tt.flags...)}), filepath.Join(dir, "out")
			var stderr bytes.Buffer
			_, err := startRun(t.Context(), t, &stderr, append([]string{"-cluster=" + file, "-out=" + out}, tt.args...)...)
			if cli.Code(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, code %d: want %q, %d\n%s", err, cli.Code(err), tt.want, tt.code, stderr.String())
			}
			if state, err := runs.Folder(out).State(); state != tt.state || err != nil {
				t.Errorf("state %q, %v, want %s", state, err, tt.state)
			}
		})
	}
}
