package command

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"dsbo/internal/cli"
	"dsbo/network/grpc/grpctest"
	"dsbo/runs"
)

// few is the share of frames that meet each fault.
var few = grpctest.Rates{Drop: 0.02, Double: 0.02, Flip: 0.02, Delay: 0.02}

// TestFaultKilled: every agent is killed again and again, also as it writes a checkpoint, and finds its newest one spoilt, over
// links that lose, double, damage and delay frames. With much kept, who comes back is sent what it has missed; with
// little, others go back.
func TestFaultKilled(t *testing.T) {
	for _, tt := range []struct {
		name                string
		agents, keep, kills int
		short               bool
	}{
		{"much kept", 5, 1024, 3, false},
		{"little kept", 5, 80, 3, false},
		{"a few", 3, 1024, 2, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if testing.Short() != tt.short {
				t.Skip("the other size")
			}
			t.Parallel()
			f := newFleet(t, addresses(tt.agents), []string{"-K=12", "-eval-every=3", "-checkpoint-every=2"}, fmt.Sprintf("-keep-frames=%d", tt.keep))
			f.usual.Rates = few
			r := rand.New(rand.NewPCG(7, uint64(tt.keep)))
			plans := make(map[int][]mischief)
			for i := range tt.agents {
				for k := range tt.kills {
					m := mischief{Vectors: 150 + r.Int64N(550)}
					if k == 1 {
						m = mischief{Vectors: r.Int64N(100), File: "checkpoint"} // the next one after so many
					}
					plans[i] = append(plans[i], m)
				}
			}
			s := spoiler{f: f}
			f.campaign(plans, s.spoil)
			t.Logf("%d processes; of checkpoints %d were being written, %d spoilt and %d damaged; %d times an agent went back",
				len(f.lives), s.halves, s.count, s.damaged, f.count(`"going back"`))
			if out := f.count(`"left out: `); s.halves < tt.agents || out < s.damaged {
				t.Errorf("%d checkpoints were left out, want at least the damaged ones, and one of each agent that was being written", out)
			}
			if tt.keep > 1000 && s.damaged == 0 { // else the agents may have gone back to the start each time
				t.Error("no checkpoint was damaged")
			}
			f.wantSame()
		})
	}
}

// campaign runs all agents, and each again after it was killed as planned, when between has been called, until all have
// finished.
func (f *fleet) campaign(plans map[int][]mischief, between func(agent int)) {
	f.t.Helper()
	begin := func(agent int) {
		var m mischief
		if len(plans[agent]) > 0 {
			m = plans[agent][0]
		}
		f.start(agent, m)
	}
	for i := range f.n {
		begin(i)
	}
	for left := f.n; left > 0; {
		l := f.next()
		code, plan := l.code(), plans[l.agent]
		switch {
		case code == cli.OK && len(plan) == 0:
			left--
		case code == killed && len(plan) > 0:
			between(l.agent)
			plans[l.agent] = plan[1:]
			begin(l.agent)
		default:
			f.t.Fatalf("agent %d ended with %s and was to be killed %d times more", l.agent, l.cmd.ProcessState, len(plan))
		}
	}
}

// count returns how often the agents have said something.
func (f *fleet) count(text string) (n int) {
	for _, l := range f.lives {
		n += strings.Count(strings.Join(l.said(), "\n"), text)
	}
	return n
}

// A spoiler does something to the newest checkpoint of each agent that was killed, in turn.
type spoiler struct {
	f       *fleet
	count   int
	damaged int // of them
	halves  int // that were being written
}

func (s *spoiler) spoil(agent int) {
	folder := string(s.f.folder(agent))
	halves, err := filepath.Glob(filepath.Join(folder, ".checkpoint.*.tmp"))
	if err != nil {
		s.f.t.Fatal(err)
	}
	s.halves += len(halves)
	paths, err := filepath.Glob(filepath.Join(folder, "checkpoint.*"))
	if err != nil {
		s.f.t.Fatal(err)
	}
	if len(paths) == 0 {
		return
	}
	newest := paths[len(paths)-1]
	data, err := os.ReadFile(newest)
	if err != nil {
		s.f.t.Fatal(err)
	}
	switch s.count++; s.count % 4 {
	case 1:
		s.damaged++
		data[len(data)/2] ^= 1
		err = os.WriteFile(newest, data, 0o644)
	case 2:
		s.damaged++
		err = os.Truncate(newest, int64(len(data)/3))
	case 3:
		err = os.Remove(newest)
	}
	if err != nil {
		s.f.t.Fatal(err)
	}
}

// TestFaultKilledAtTheStart: agents that are killed before they have a checkpoint start anew.
func TestFaultKilledAtTheStart(t *testing.T) {
	t.Parallel()
	f := newFleet(t, addresses(4), nil)
	f.campaign(map[int][]mischief{
		0: {{Line: `"starting"`}, {File: "config.json"}, {Line: "loaded in"}},
		1: {{File: "config.json"}, {File: "checkpoint"}},
		2: {{Line: "iteration 0 "}, {File: "config.json"}},
	}, func(int) {})
	f.wantSame()
}

// TestFaultKilledAtTheEnd: agents are killed while the models are refitted, as they write what they have found, and while they
// wait for the others.
func TestFaultKilledAtTheEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("like TestFaultKilledAtTheStart")
	}
	for _, keep := range []int{1024, 20} {
		t.Run(fmt.Sprintf("keep=%d", keep), func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, addresses(5), nil, fmt.Sprintf("-keep-frames=%d", keep))
			f.campaign(map[int][]mischief{
				0: {{Line: "refit at λ = 0"}, {Line: "finished; waiting"}},
				1: {{File: "lambda.npy"}, {File: "agent.json"}},
				2: {{File: "summary.json"}, {File: "agent.json"}, {File: "agent.json"}},
				3: {{Line: "exact solution at λ = 0"}, {Line: "refit at λ tuned"}},
				4: {{Line: "finished; waiting"}, {Line: "finished; waiting"}},
			}, func(int) {})
			if keep < 100 && f.count(`"going back"`) == 0 {
				t.Errorf("no agent went back with %d exchanges kept", keep)
			}
			f.wantSame()
		})
	}
}

// TestFaultEndedWhileOthersWork: an agent that has finished and waits for another one is killed, or asked to stop, and stays
// finished.
func TestFaultEndedWhileOthersWork(t *testing.T) {
	for _, tt := range []struct {
		name   string
		signal syscall.Signal
		code   int
	}{{"killed", syscall.SIGKILL, killed}, {"interrupted", syscall.SIGTERM, cli.Interrupted}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			const waiting = "finished; waiting"
			f := newFleet(t, addresses(4), nil)
			lives := f.startAll(map[int]mischief{2: {Line: waiting, Signal: syscall.SIGSTOP}})
			lives[0].await(0, waiting)
			lives[0].signal(tt.signal)
			lives[0].wantCode(tt.code)
			f.wantState(0, runs.Finished)
			lives[0] = f.start(0, mischief{})
			lives[0].await(0, waiting)
			lives[2].awaitStop()
			lives[2].signal(syscall.SIGCONT)
			f.wantFinished(lives...)
			f.wantSame()
		})
	}
}

// TestFaultInterrupted: an agent that is asked to stop finishes its iteration, if its neighbours let it, and goes on from there.
func TestFaultInterrupted(t *testing.T) {
	t.Parallel()
	f := newFleet(t, addresses(3), []string{"-K=60", "-eval-every=1", "-checkpoint-every=60"})
	lives := f.startAll(map[int]mischief{1: {Line: "iteration 3 ", Signal: syscall.SIGTERM}})
	lives[1].wantCode(cli.Interrupted)
	if !strings.HasPrefix(lives[1].words(), "dsbo: interrupted after ") {
		t.Errorf("agent 1 said %q, want after how many iterations it was interrupted", lives[1].words())
	}
	f.wantState(1, "interrupted")
	if at := f.points(1); len(at) == 0 || at[0] < 3 {
		t.Errorf("agent 1 has checkpoints %v, want one of iteration 3 or later", at)
	}
	lives[1] = f.start(1, mischief{})
	f.wantFinished(lives...)
	f.wantSame()
}

// TestFaultInterruptedInVain: a neighbour does not let an agent finish its iteration, which goes on from the checkpoint before.
func TestFaultInterruptedInVain(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	t.Parallel()
	f := newFleet(t, addresses(3), []string{"-eval-every=6", "-checkpoint-every=2"}, "-silent-after=1s")
	lives := f.startAll(map[int]mischief{1: {Vectors: 100, Signal: syscall.SIGSTOP}})
	lives[0].await(0, `"a neighbour is silent"`, `"neighbour":1`)
	lives[0].signal(syscall.SIGTERM)
	lives[0].wantCode(cli.Interrupted)
	if !strings.HasPrefix(lives[0].words(), "dsbo: interrupted ") {
		t.Errorf("agent 0 said %q, want that it was interrupted", lives[0].words())
	}
	lives[0] = f.start(0, mischief{})
	lives[1].awaitStop()
	lives[1].signal(syscall.SIGCONT)
	f.wantFinished(lives...)
	f.wantSame()
}

// TestFaultDivergence: numbers that leave the finite ones end the run for all agents alike.
func TestFaultDivergence(t *testing.T) {
	t.Parallel()
	f := newFleet(t, addresses(4), []string{"-beta=100", "-checkpoint-every=1"})
	for _, l := range f.startAll(nil) {
		l.wantCode(cli.Diverged)
		if !strings.Contains(l.words(), "diverged") {
			t.Errorf("agent %d said %q, want that it diverged", l.agent, l.words())
		}
		f.wantState(l.agent, "diverged")
	}
}
