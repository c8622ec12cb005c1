package command

import (
	"bufio"
	"bytes"
	"cmp"
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

	"dsbo/experiment"
	"dsbo/experiment/tasks"
	"dsbo/internal/cli"
	"dsbo/internal/files"
	"dsbo/internal/testkit"
	"dsbo/network/networktest"
	"dsbo/network/session"
	"dsbo/runs"
)

// A testRun is a run whose agents are processes that come and go.
type testRun struct {
	t         *testing.T
	agents    int
	dir, out  string
	task      experiment.Task
	flags     []string                 // of the task
	args      []string                 // of every agent
	launch    func(agent int) []string // the command before an agent's own; nil: none
	ctx       context.Context
	processes []*process
	ended     chan *process
}

// newTestRun returns a run on a ring, with certificates. flags are of the task, more is added to
// each agent's command line.
func newTestRun(t *testing.T, addresses, flags []string, more ...string) *testRun {
	t.Helper()
	return newTaskRun(t, tasks.Synthetic(), addresses, slices.Concat([]string{"-r=1"}, small, flags), more...)
}

// newTaskRun is newTestRun for a task, with all of its flags.
func newTaskRun(t *testing.T, task experiment.Task, addresses, flags []string, more ...string) *testRun {
	t.Helper()
	r := &testRun{t: t, agents: len(addresses), dir: t.TempDir(), task: task, flags: flags,
		ended: make(chan *process, 1000)}
	file, certs, out := writeCertified(t, r.dir, r.agents,
		map[string]any{"agents": addresses, "task": task.Name, "flags": flags})
	r.out = out
	r.args = append([]string{"agent", "-cluster=" + file, "-out=" + r.out, "-certs=" + certs, "-log=json"}, more...)
	r.ctx = networktest.Context(t)
	t.Cleanup(func() {
		for _, p := range r.processes {
			_ = p.cmd.Process.Kill() // an error means that it has ended
			<-p.ended
			if t.Failed() {
				t.Logf("agent %d (%s) logged last:\n%s", p.agent, p.cmd.ProcessState,
					strings.Join(p.log[max(0, len(p.log)-12):], "\n"))
			}
		}
	})
	return r
}

// start starts an agent with a fault.
func (r *testRun) start(agent int, f fault) *process {
	r.t.Helper()
	text := testkit.Get(json.Marshal(f))
	line := append([]string{testkit.Get(os.Executable())}, r.args...)
	if r.launch != nil {
		line = append(r.launch(agent), line...)
	}
	p := &process{run: r, agent: agent, ended: make(chan struct{}), lines: make(chan string, 1<<16)}
	p.cmd = exec.Command(line[0], append(line[1:], fmt.Sprintf("-agent=%d", agent))...)
	// which saves a seventh of the time
	p.cmd.Env = append(os.Environ(), faultVariable+"="+string(text), "GOMAXPROCS=1")
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stderr := testkit.Get(p.cmd.StderrPipe())
	testkit.OK(p.cmd.Start())
	r.processes = append(r.processes, p)
	go func() {
		for in := bufio.NewScanner(stderr); in.Scan(); {
			p.log = append(p.log, in.Text())
			p.lines <- in.Text()
		}
		close(p.lines)
		_ = p.cmd.Wait() // see ProcessState
		close(p.ended)
		r.ended <- p
	}()
	return p
}

// startAll starts all agents, some with a fault.
func (r *testRun) startAll(faults map[int]fault) []*process {
	r.t.Helper()
	all := make([]*process, r.agents)
	for i := range all {
		all[i] = r.start(i, faults[i])
	}
	return all
}

// survive runs all agents, and each again after each of its faults has killed it, until all have
// finished. They must have found what a run in one process finds. afterKill may be nil.
func (r *testRun) survive(faults map[int][]fault, afterKill func(agent int)) {
	r.t.Helper()
	for i := range r.agents {
		r.start(i, next(faults[i]))
	}
	for left := r.agents; left > 0; {
		var p *process
		select {
		case p = <-r.ended:
		case <-r.ctx.Done():
			r.t.Fatal("the run does not end")
		}
		switch code := p.code(); {
		case code == cli.OK && len(faults[p.agent]) == 0:
			left--
		case code == killed && len(faults[p.agent]) > 0:
			if afterKill != nil {
				afterKill(p.agent)
			}
			faults[p.agent] = faults[p.agent][1:]
			r.start(p.agent, next(faults[p.agent]))
		default:
			r.t.Fatalf("agent %d ended with %s and was to be killed %d times more", p.agent, p.cmd.ProcessState,
				len(faults[p.agent]))
		}
	}
	r.wantSame()
}

// next returns the first of some faults, the zero value if there is none.
func next(faults []fault) fault { return append(slices.Clone(faults), fault{})[0] }

// wantFinished waits until some agents have finished, and checks what all have found.
func (r *testRun) wantFinished(processes []*process) {
	r.t.Helper()
	for _, p := range processes {
		p.wantCode(cli.OK)
	}
	r.wantSame()
}

// wantSame checks that all agents have the bits of a run in one process.
func (r *testRun) wantSame() {
	r.t.Helper()
	same(r.t, r.out, aloneOf(r.t, r.task, r.dir, append(r.flags, fmt.Sprintf("-agents=%d", r.agents))...), r.agents)
}

// countLogged returns how often the agents, which have ended, have logged a text.
func (r *testRun) countLogged(text string) (n int) {
	for _, p := range r.processes {
		n += strings.Count(strings.Join(p.log, "\n"), text)
	}
	return n
}

func (r *testRun) folder(agent int) runs.Folder {
	return runs.Folder(filepath.Join(r.out, fmt.Sprintf("agent-%d", agent)))
}

// newest returns the path of an agent's newest checkpoint, "" if there is none.
func (r *testRun) newest(agent int) string {
	r.t.Helper()
	paths := testkit.Get(r.folder(agent).Checkpoints([]int{agent}))
	return append([]string{""}, paths...)[len(paths)]
}

// wantState checks the state of the run in an agent's folder, and that it has a checkpoint of an
// iteration or a later one.
func (r *testRun) wantState(agent int, want runs.State, iteration int) {
	r.t.Helper()
	wantState(r.t, string(r.folder(agent)), want)
	if path := r.newest(agent); iteration > 0 && path < r.folder(agent).CheckpointPath([]int{agent}, iteration) {
		r.t.Errorf("the newest checkpoint of agent %d is %s, want one of iteration %d or later", agent, path, iteration)
	}
}

// A process is one of an agent, with what it writes to stderr.
type process struct {
	run   *testRun
	agent int
	cmd   *exec.Cmd
	lines chan string // for await; closed at the end
	ended chan struct{}
	log   []string // all lines, once it has ended
}

// await waits for a line in which all these texts are, after the line that it has waited
// for before.
func (p *process) await(texts ...string) {
	p.run.t.Helper()
	for {
		select {
		case line, running := <-p.lines:
			if !running {
				p.run.t.Fatalf("agent %d ended before it logged %q", p.agent, texts)
			}
			if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) }) {
				return
			}
		case <-p.run.ctx.Done():
			p.run.t.Fatalf("agent %d has not logged %q", p.agent, texts)
		}
	}
}

// resume lets a process go on that has stopped or is about to.
func (p *process) resume() {
	p.run.t.Helper()
	p.awaitStop()
	p.signal(syscall.SIGCONT)
}

func (p *process) awaitStop() {
	p.run.t.Helper()
	if err := unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WSTOPPED|unix.WNOWAIT, nil); err != nil {
		p.run.t.Fatalf("agent %d was to be stopped and ended with %s: %v", p.agent, p.cmd.ProcessState, err)
	}
}

func (p *process) signal(s os.Signal) {
	p.run.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.run.t.Fatalf("agent %d: %v", p.agent, err)
	}
}

// code waits for the process and returns its exit code, killed if a signal has ended it.
func (p *process) code() int {
	p.run.t.Helper()
	select {
	case <-p.ended:
	case <-p.run.ctx.Done():
		p.run.t.Fatalf("agent %d does not end", p.agent)
	}
	return p.cmd.ProcessState.ExitCode()
}

// wantCode waits for the process and checks its exit code, and a text in its last line.
func (p *process) wantCode(want int, text ...string) {
	p.run.t.Helper()
	if got := p.code(); got != want {
		p.run.t.Fatalf("agent %d ended with exit code %d, want %d", p.agent, got, want)
	}
	if last := append([]string{""}, p.log...)[len(p.log)]; len(text) > 0 && !strings.Contains(last, text[0]) {
		p.run.t.Errorf("agent %d ended with %q, want %q", p.agent, last, text[0])
	}
}

// faultVariable is the fault of a process that is an agent of a testRun, as JSON.
const faultVariable = "DSBO_TEST_FAULT"

// faultsVariable holds the path of a file with the faults of the agents that the verb run starts,
// as JSON: a list for each agent, of which each of its processes takes the first one.
const faultsVariable = "DSBO_TEST_FAULTS"

// takeFault takes the next fault of an agent from a file. Processes of several agents may do so at
// the same time.
func takeFault(path string, agent int) (f fault) {
	lock := testkit.Get(os.Open(path))
	defer lock.Close()
	testkit.OK(unix.Flock(int(lock.Fd()), unix.LOCK_EX))
	var faults map[int][]fault
	testkit.OK(json.Unmarshal(testkit.Get(os.ReadFile(path)), &faults))
	if list := faults[agent]; len(list) > 0 {
		f, faults[agent] = list[0], list[1:]
		testkit.OK(os.WriteFile(path, testkit.Get(json.Marshal(faults)), 0o600))
	}
	return f
}

// A fault is a signal that an agent's process sends to itself, so that the moment is exact: once it
// has sent a number of Vectors, at the next log line with a text, before the next file gets a name
// that begins like File, or at once; with none of these never.
type fault struct {
	Vectors int64
	Line    string
	File    string
	Signal  unix.Signal // 0: SIGKILL
}

// init makes such a process the command, before it would become a test.
func init() {
	text, file := os.Getenv(faultVariable), os.Getenv(faultsVariable)
	if text == "" && file == "" {
		return
	}
	os.Exit(cli.Main("dsbo", func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
		f := faultyAgent{log: stderr}
		p, o, c, err := agentLine(args)
		if err != nil {
			return err
		}
		if file != "" {
			f.fault = takeFault(file, o.agent)
		} else if err := json.Unmarshal([]byte(text), &f.fault); err != nil {
			return err
		}
		omitPage(&o)
		o.adjust = func(c *session.Config) {
			c.Heartbeat = 50 * time.Millisecond
			c.Wrap = func(_ int, to session.Sender) session.Sender { return faultySender{to, &f} }
		}
		if f.File != "" {
			files.Mount("/", faultyDisk{f: &f})
		}
		return o.passError(stdout, p.startAgent(ctx, o, c, stdout, &f))
	}))
}

// A faultyAgent is the process that its fault strikes; it is its own stderr.
type faultyAgent struct {
	fault
	log  io.Writer
	sent atomic.Int64
	once sync.Once
}

func (f *faultyAgent) strike() {
	f.once.Do(func() { _ = unix.Kill(unix.Getpid(), cmp.Or(f.Signal, unix.SIGKILL)) }) // to oneself it cannot fail
}

// armed reports whether the agent has sent as many vectors as it is to send before the fault.
func (f *faultyAgent) armed() bool { return f.sent.Load() >= f.Vectors }

func (f *faultyAgent) Write(line []byte) (int, error) {
	n, err := f.log.Write(line)
	if f.Line != "" && f.armed() && bytes.Contains(line, []byte(f.Line)) {
		f.strike()
	}
	return n, err
}

// A faultyDisk strikes when the content of a file is on the disk and the file does not have its
// name yet.
type faultyDisk struct {
	files.System
	f *faultyAgent
}

func (d faultyDisk) Rename(from, to string) error {
	if d.f.armed() && strings.HasPrefix(filepath.Base(to), d.f.File) {
		d.f.strike()
	}
	return d.System.Rename(from, to)
}

// A faultySender counts the vectors that an agent sends.
type faultySender struct {
	session.Sender
	f *faultyAgent
}

func (s faultySender) Send(frame []byte) error {
	const vector = 4 // given by a frame's first byte
	if frame[0] == vector && s.f.sent.Add(1) == s.f.Vectors && s.f.Line == "" && s.f.File == "" {
		s.f.strike()
	}
	return s.Sender.Send(frame)
}
