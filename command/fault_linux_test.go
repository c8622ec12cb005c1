package command

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestFaultKilled: every agent is killed again and again, also as it writes a checkpoint, and finds
// its newest one damaged: all go on from the newest that they have in common.
func TestFaultKilled(t *testing.T) {
	const agents, kills = 3, 2
	t.Parallel()
	r := newTestRun(t, addresses(agents), []string{"-preset=madsbo_tuned", "-T=2", "-N=2", "-evaluate=off",
		"-rivals=false", "-K=48", "-eval-every=3", "-checkpoint-every=2"})
	random := rand.New(rand.NewPCG(7, 1024))
	faults := make(map[int][]fault)
	for i := range agents {
		for k := range kills {
			f := fault{Vectors: 150 + random.Int64N(550)}
			if k == 1 {
				// the next one after a number of them
				f = fault{Vectors: random.Int64N(100), File: "checkpoint"}
			}
			faults[i] = append(faults[i], f)
		}
	}
	d := checkpointDamage{run: r}
	r.survive(faults, d.damage)
	t.Logf("%d processes; of checkpoints %d were being written, %d were removed or damaged, of these %d damaged",
		len(r.processes), d.partial, d.count, d.damaged)
	if out := r.countLogged(`"checkpoint left out: `); d.partial < agents || d.damaged == 0 || out < d.damaged {
		t.Errorf("%d checkpoints were left out; there must be the damaged ones, and one of each agent that was "+
			"being written", out)
	}
}

// checkpointDamage changes, cuts, removes or leaves the newest checkpoint of each agent that was
// killed, in turn.
type checkpointDamage struct {
	run     *testRun
	count   int
	damaged int // of them
	partial int // that were being written
}

func (d *checkpointDamage) damage(agent int) {
	d.partial += len(testkit.Get(filepath.Glob(d.run.folder(agent).Path(".checkpoint.*.tmp"))))
	newest := d.run.newest(agent)
	if newest == "" {
		return
	}
	data := testkit.Get(os.ReadFile(newest))
	switch d.count++; d.count % 4 {
	case 1:
		d.damaged++
		data[len(data)/2] ^= 1
		testkit.OK(os.WriteFile(newest, data, 0o644))
	case 2:
		d.damaged++
		testkit.OK(os.Truncate(newest, int64(len(data)/3)))
	case 3:
		testkit.OK(os.Remove(newest))
	}
}

// TestFaultKilledAtTheStart: agents that are killed before they have a checkpoint start anew.
func TestFaultKilledAtTheStart(t *testing.T) {
	skipShort(t, "like TestFaultKilled")
	newTestRun(t, addresses(3), []string{"-K=2", "-evaluate=off", "-rivals=false"}).survive(map[int][]fault{
		0: {{Line: `"starting"`}, {Line: `"loaded"`}},
		1: {{File: "config.json"}, {File: "checkpoint"}},
		2: {{Line: `"iteration":0,`}},
	}, nil)
}

// TestFaultKilledAtTheEnd: agents are killed while the models are found, as they write what they
// have found, while they wait for the others, and when these may be gone.
func TestFaultKilledAtTheEnd(t *testing.T) {
	skipShort(t, "like TestFaultKilled")
	newTestRun(t, addresses(3), []string{"-K=2"}, "-peer-timeout=20s").survive(map[int][]fault{
		0: {{Line: `"model":"λ = 0"`}, {Line: "finished; waiting"}},
		1: {{File: "lambda.npy"}, {File: "agent.json"}},
		2: {{Line: `"model":"λ = -`}, {File: "summary.json"}, {Line: "finished; waiting"}},
	}, nil)
}

// TestFaultEndedWhileOthersWork: agents whose result is final, and that wait until another agent
// knows it, are killed, or asked to stop, and stay finished. Their next processes wait for it too.
func TestFaultEndedWhileOthersWork(t *testing.T) {
	skipShort(t, "like TestFaultKilled")
	r := newTestRun(t, addresses(3), []string{"-K=2", "-evaluate=off", "-rivals=false"})
	all := r.startAll(map[int]fault{2: {Line: "finished; waiting", Signal: syscall.SIGSTOP}})
	for agent := range 2 { // before the first end, which ends the session of who has not finished
		all[agent].await("finished; waiting")
	}
	for agent, end := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGKILL, killed}, {syscall.SIGTERM, cli.Interrupted}} {
		all[agent].signal(end.signal)
		all[agent].wantCode(end.code)
		r.wantState(agent, runs.Finished, 0)
		all[agent] = r.start(agent, fault{})
		all[agent].await("connected to a neighbour")
	}
	all[2].resume()
	r.wantFinished(all)
}

// TestFaultInterrupted: an agent that is asked to stop ends at once, also while it waits for
// another one, and resumes from the checkpoint before.
func TestFaultInterrupted(t *testing.T) {
	skipShort(t, "waits for seconds")
	r := newTestRun(t, addresses(3), []string{"-evaluate=off", "-rivals=false", "-eval-every=1", "-checkpoint-every=2"},
		"-silent-after=500ms")
	all := r.startAll(map[int]fault{1: {Line: `"iteration":3,`, Signal: syscall.SIGSTOP}})
	all[0].await(`"iteration":2,`)
	all[0].await(silence(1)...)
	all[0].signal(syscall.SIGTERM)
	all[0].wantCode(cli.Interrupted, "the same command goes on")
	r.wantState(0, runs.Interrupted, 2)
	all[0] = r.start(0, fault{})
	all[1].resume()
	r.wantFinished(all)
}

// TestFaultDivergence: iterates that become NaN, infinite or too large end the run of all
// agents alike.
func TestFaultDivergence(t *testing.T) {
	t.Parallel()
	r := newTestRun(t, addresses(3), []string{"-preset=madsbo_tuned", "-beta=100", "-checkpoint-every=1"})
	for i, p := range r.startAll(nil) {
		p.wantCode(cli.Diverged, "diverged")
		r.wantState(i, runs.Diverged, 0)
	}
}

// silence returns what an agent logs when a neighbour is silent.
func silence(neighbour int) []string {
	return []string{`"a neighbour is silent"`, fmt.Sprintf(`"neighbour":%d,`, neighbour)}
}

// TestFaultStopped: the neighbours of an agent that is stopped name it, and go on with it when
// it does.
func TestFaultStopped(t *testing.T) {
	skipShort(t, "waits for seconds")
	r := newTestRun(t, addresses(4), []string{"-evaluate=off", "-rivals=false", "-eval-every=1"}, "-silent-after=500ms")
	all := r.startAll(map[int]fault{1: {Line: `"iteration":3,`, Signal: syscall.SIGSTOP}})
	for _, neighbour := range []int{0, 2} {
		all[neighbour].await(`"iteration":2,`)
		all[neighbour].await(silence(1)...)
	}
	all[1].resume()
	r.wantFinished(all)
}

// TestFaultLost: when an agent does not come back the others end after the time that they were
// given, name it, and all have a checkpoint. Started again all together they finish.
func TestFaultLost(t *testing.T) {
	skipShort(t, "waits for seconds")
	r := newTestRun(t, addresses(3), []string{"-evaluate=off", "-rivals=false", "-eval-every=1", "-checkpoint-every=1"})
	args := r.args
	r.args = append(args, "-silent-after=500ms", "-peer-timeout=12s")
	for i, p := range r.startAll(map[int]fault{2: {Line: `"iteration":3,`}}) {
		if i == 2 {
			p.wantCode(killed)
			r.wantState(i, runs.Unfinished, 1)
		} else {
			p.wantCode(cli.Failure, "agent 2 has been silent for 1") // 12 s, or more on a busy machine
			r.wantState(i, runs.Failed, 1)
		}
	}
	r.args = args
	r.wantFinished(r.startAll(nil))
}

// TestFaultCutLink: the link between two machines, with two agents each, is down until the agents
// at its ends name each other.
func TestFaultCutLink(t *testing.T) {
	skipShort(t, "waits for seconds")
	l := newLink(t)
	var places []string
	for i := range 4 {
		places = append(places, fmt.Sprintf("%s:%d", linkHosts[i/2], 7000+i))
	}
	r := newTestRun(t, places, []string{"-evaluate=off", "-rivals=false", "-eval-every=1"}, "-silent-after=500ms")
	r.launch = func(agent int) []string { return []string{"ip", "netns", "exec", l[agent/2]} }
	// Agent 1 stops so that the run waits until the link is down.
	all := r.startAll(map[int]fault{1: {Line: `"iteration":3,`, Signal: syscall.SIGSTOP}})
	all[1].awaitStop()
	l.set(t, "down")
	all[1].signal(syscall.SIGCONT)
	for i, neighbour := range map[int]int{0: 3, 1: 2, 2: 1, 3: 0} {
		all[i].await(`"iteration":2,`)
		all[i].await(silence(neighbour)...)
	}
	l.set(t, "up")
	r.wantFinished(all)
}

// A link joins two network namespaces, two machines in effect; it has their names.
type link [2]string

var linkHosts = [2]string{"10.77.0.1", "10.77.0.2"}

// newLink makes a link, or skips the test where that is not possible.
func newLink(t *testing.T) link {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can make network namespaces")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("there is no ip, which makes network namespaces")
	}
	l := link{fmt.Sprintf("dsbo%da", os.Getpid()), fmt.Sprintf("dsbo%db", os.Getpid())}
	for _, name := range l {
		if err := ip("netns", "add", name); err != nil {
			t.Skipf("no network namespaces here: %v", err)
		}
		t.Cleanup(func() {
			if err := ip("netns", "del", name); err != nil {
				t.Error(err)
			}
		})
	}
	if err := ip("-n", l[0], "link", "add", "end", "type", "veth", "peer", "name", "end", "netns", l[1]); err != nil {
		t.Skipf("no links between network namespaces here: %v", err)
	}
	for k, name := range l {
		testkit.OK(ip("-n", name, "address", "add", linkHosts[k]+"/24", "dev", "end"))
		testkit.OK(ip("-n", name, "link", "set", "lo", "up"))
		testkit.OK(ip("-n", name, "link", "set", "end", "up"))
	}
	return l
}

// set takes the link down or up.
func (l link) set(t *testing.T, state string) {
	t.Helper()
	testkit.OK(ip("-n", l[0], "link", "set", "end", state))
}

func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
