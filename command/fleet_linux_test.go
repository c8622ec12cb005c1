package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"dsbo/internal/cli"
	"dsbo/runs"
	"dsbo/train"
)

// patience bounds a fault test.
const patience = 2 * time.Minute

// A fleet is the agents of a run, each a process that comes and goes.
type fleet struct {
	t     *testing.T
	n     int
	dir   string
	out   string
	flags []string // of the task
	args  []string // of every agent
	usual mischief // what happens to each
	ctx   context.Context
	lives []*life
	ends  chan *life // those that have ended
}

// newFleet returns a fleet on a ring, with certificates, for a run of the task with these flags; link flags go to the agents.
func newFleet(t *testing.T, addresses []string, flags []string, link ...string) *fleet {
	t.Helper()
	f := &fleet{t: t, n: len(addresses), dir: t.TempDir(), flags: append(slices.Clone(small), flags...), ends: make(chan *life, 1000)}
	f.out, f.usual.Heartbeat = filepath.Join(f.dir, "out"), 10*time.Millisecond
	file := writeCluster(t, f.dir, f.n, map[string]any{"agents": addresses, "flags": f.flags})
	certs := filepath.Join(f.dir, "certs")
	if err := run(t.Context(), []string{"pki", "-cluster=" + file, "-out=" + certs}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	f.args = append([]string{"agent", "-cluster=" + file, "-out=" + f.out, "-certs=" + certs, "-log=json"}, link...)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	f.ctx = ctx
	t.Cleanup(func() {
		cancel()
		f.end()
	})
	return f
}

var ports atomic.Int64

// addresses returns addresses of loopback that are this process's own, so that nobody takes the port of an agent that is down.
func addresses(n int) (all []string) {
	pid := os.Getpid()
	for range n {
		all = append(all, fmt.Sprintf("127.%d.%d.%d:%d", 64+pid>>16&63, pid>>8&255, pid&255, 7000+ports.Add(1)))
	}
	return all
}

// end ends what still lives, and after a failure says what it said.
func (f *fleet) end() {
	for _, l := range f.lives {
		_ = l.cmd.Process.Kill() // an error says that it has ended
		<-l.ended
		if f.t.Failed() {
			lines := l.said()
			f.t.Logf("agent %d, which ended with %s, said at the end:\n%s", l.agent, l.cmd.ProcessState, strings.Join(lines[max(0, len(lines)-12):], "\n"))
		}
	}
}

// A life is an agent's process from its start to its end.
type life struct {
	f     *fleet
	agent int
	cmd   *exec.Cmd
	ended chan struct{}

	mu    sync.Mutex
	lines []string // of its log
	rest  []byte
	grown chan struct{} // closed when there is more
}

// start starts an agent, with what is to go wrong beside the usual. more are flags of this life, after those of all.
func (f *fleet) start(agent int, m mischief, more ...string) *life {
	f.t.Helper()
	return f.startBy(nil, agent, m, more...)
}

// startBy starts an agent by a command before its own.
func (f *fleet) startBy(by []string, agent int, m mischief, more ...string) *life {
	f.t.Helper()
	m.Heartbeat, m.Rates, m.Seed = f.usual.Heartbeat, f.usual.Rates, uint64(len(f.lives))
	text, err := json.Marshal(m)
	if err != nil {
		f.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		f.t.Fatal(err)
	}
	line := slices.Concat(by, []string{self}, f.args, []string{fmt.Sprintf("-agent=%d", agent)}, more)
	l := &life{f: f, agent: agent, cmd: exec.Command(line[0], line[1:]...), ended: make(chan struct{}), grown: make(chan struct{})}
	l.cmd.Env = append(os.Environ(), mischiefVariable+"="+string(text))
	l.cmd.Stderr = l
	l.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := l.cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.lives = append(f.lives, l)
	go func() {
		_ = l.cmd.Wait() // see ProcessState
		close(l.ended)
		f.ends <- l
	}()
	return l
}

// startAll starts all agents, with what goes wrong with some.
func (f *fleet) startAll(what map[int]mischief, more ...string) []*life {
	f.t.Helper()
	var all []*life
	for i := range f.n {
		all = append(all, f.start(i, what[i], more...))
	}
	return all
}

// Write takes what the agent says.
func (l *life) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, p...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		l.lines, l.rest = append(l.lines, string(line)), rest
		close(l.grown)
		l.grown = make(chan struct{})
	}
}

func (l *life) said() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines)
}

// await waits until the agent says something in which all these texts are, after so many lines, and returns how many it has
// said then.
func (l *life) await(after int, texts ...string) int {
	l.f.t.Helper()
	for {
		l.mu.Lock()
		lines, grown := l.lines, l.grown
		l.mu.Unlock()
		for i := after; i < len(lines); i++ {
			if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(lines[i], text) }) {
				return i + 1
			}
		}
		after = len(lines)
		select {
		case <-grown:
		case <-l.ended:
			if after == len(l.said()) {
				l.f.t.Fatalf("agent %d ended with %s before it said %q", l.agent, l.cmd.ProcessState, texts)
			}
		case <-l.f.ctx.Done():
			l.f.t.Fatalf("agent %d has not said %q in %v", l.agent, texts, patience)
		}
	}
}

// awaitStop waits until the process is stopped.
func (l *life) awaitStop() {
	l.f.t.Helper()
	if err := unix.Waitid(unix.P_PID, l.cmd.Process.Pid, nil, unix.WSTOPPED|unix.WNOWAIT, nil); err != nil {
		l.f.t.Fatalf("agent %d was to be stopped and ended with %s: %v", l.agent, l.cmd.ProcessState, err)
	}
}

// signal sends the process a signal.
func (l *life) signal(s os.Signal) {
	l.f.t.Helper()
	if err := l.cmd.Process.Signal(s); err != nil {
		l.f.t.Fatalf("agent %d: %v", l.agent, err)
	}
}

// code waits for the process and returns its exit code, killed if a signal has ended it.
func (l *life) code() int {
	l.f.t.Helper()
	select {
	case <-l.ended:
		return l.cmd.ProcessState.ExitCode()
	case <-l.f.ctx.Done():
		l.f.t.Fatalf("agent %d has not come to its end in %v", l.agent, patience)
		return 0
	}
}

// wantCode waits for the process, whose exit code is to be this one.
func (l *life) wantCode(want int) {
	l.f.t.Helper()
	if got := l.code(); got != want {
		l.f.t.Fatalf("agent %d ended with exit code %d, want %d", l.agent, got, want)
	}
}

// words returns the last line that it said: that of an error, where there was one.
func (l *life) words() string {
	lines := append([]string{""}, l.said()...)
	return lines[len(lines)-1]
}

// next waits for the next end of a process.
func (f *fleet) next() *life {
	f.t.Helper()
	select {
	case l := <-f.ends:
		return l
	case <-f.ctx.Done():
		f.t.Fatalf("the run has not come to its end in %v", patience)
		return nil
	}
}

// wantFinished waits until these agents have finished.
func (f *fleet) wantFinished(lives ...*life) {
	f.t.Helper()
	for _, l := range lives {
		l.wantCode(cli.OK)
	}
}

// wantSame checks that all agents, which have finished, have the bits of a run in one process.
func (f *fleet) wantSame() {
	f.t.Helper()
	same(f.t, f.out, alone(f.t, f.dir, append(f.flags, fmt.Sprintf("-agents=%d", f.n))...), f.n)
}

// folder returns an agent's run folder.
func (f *fleet) folder(agent int) runs.Folder {
	return runs.Folder(filepath.Join(f.out, fmt.Sprintf("agent-%d", agent)))
}

// points returns the iterations of an agent's checkpoints that are whole, the newest first.
func (f *fleet) points(agent int) (at []int) {
	f.t.Helper()
	points, _, err := train.Points(f.folder(agent), []int{agent})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, p := range points {
		at = append(at, p.Iteration)
	}
	return at
}

// wantState checks what an agent's run folder says of the run.
func (f *fleet) wantState(agent int, want runs.State) {
	f.t.Helper()
	if got, err := f.folder(agent).State(); got != want || err != nil {
		f.t.Errorf("the run of agent %d is %q, %v; want %q", agent, got, err, want)
	}
}
