package command

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"dsbo/internal/cli"
)

// silence returns what an agent's log has when a neighbour is silent.
func silence(neighbour int) []string {
	return []string{`"a neighbour is silent"`, fmt.Sprintf(`"neighbour":%d,`, neighbour)}
}

// TestFaultStopped: the neighbours name an agent that is stopped, and go on with it when it does.
func TestFaultStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	t.Parallel()
	f := newFleet(t, addresses(4), []string{"-eval-every=1"}, "-silent-after=1s")
	f.usual.Rates = few
	lives := f.startAll(map[int]mischief{1: {Line: "iteration 3 ", Signal: syscall.SIGSTOP}})
	for _, neighbour := range []int{0, 2} {
		l := lives[neighbour]
		l.await(l.await(0, "iteration 2 "), silence(1)...)
	}
	lives[1].awaitStop()
	lives[1].signal(syscall.SIGCONT)
	f.wantFinished(lives...)
	f.wantSame()
}

// TestFaultLost: when an agent does not come back the others end within the time that they were given, say who it is, and all have
// a checkpoint. Started again all together they finish.
func TestFaultLost(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	t.Parallel()
	f := newFleet(t, addresses(4), []string{"-eval-every=1", "-checkpoint-every=1"})
	lives := f.startAll(map[int]mischief{2: {Line: "iteration 3 "}}, "-silent-after=1s", "-peer-timeout=4s")
	for i, l := range lives {
		if i == 2 {
			l.wantCode(killed)
		} else {
			l.wantCode(cli.Failure)
			if !strings.Contains(l.words(), "agent 2 has been silent for 4s") {
				t.Errorf("agent %d said %q, want that agent 2 has been silent", i, l.words())
			}
			f.wantState(i, "failed")
		}
		if at := f.points(i); len(at) == 0 || at[0] < 1 {
			t.Errorf("agent %d has checkpoints %v, want one of iteration 1 or later", i, at)
		}
	}
	f.wantFinished(f.startAll(nil)...)
	f.wantSame()
}

// TestFaultCutLink: the link between two machines, with two agents each, is down until those at its ends name each other.
func TestFaultCutLink(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	l := newLink(t)
	t.Parallel()
	const n = 4
	var places []string
	for i := range n {
		places = append(places, fmt.Sprintf("%s:%d", l.addresses[i/2], 7000+i))
	}
	f := newFleet(t, places, []string{"-eval-every=1"}, "-silent-after=1s")
	f.usual.Rates = few
	var lives []*life
	for i := range n {
		var m mischief
		if i == 1 {
			m = mischief{Line: "iteration 3 ", Signal: syscall.SIGSTOP} // so that the run waits until the link is down
		}
		lives = append(lives, f.startBy(l.inside(i/2), i, m))
	}
	lives[1].awaitStop()
	l.set("down")
	lives[1].signal(syscall.SIGCONT)
	for i, neighbour := range map[int]int{0: 3, 1: 2, 2: 1, 3: 0} {
		lives[i].await(lives[i].await(0, "iteration 2 "), silence(neighbour)...)
	}
	l.set("up")
	f.wantFinished(lives...)
	f.wantSame()
}

// A link joins two network namespaces, which are as two machines.
type link struct {
	t         *testing.T
	names     [2]string // of the namespaces; those of the ends are the same
	addresses [2]string
}

// newLink makes a link, or skips the test where that is not possible.
func newLink(t *testing.T) *link {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can make network namespaces")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("there is no ip, which makes network namespaces")
	}
	l := &link{t: t, addresses: [2]string{"10.77.0.1", "10.77.0.2"}}
	for k := range l.names {
		l.names[k] = fmt.Sprintf("dsbo%d%c", os.Getpid(), 'a'+k)
		if err := ip("netns", "add", l.names[k]); err != nil {
			t.Skipf("no network namespaces here: %v", err)
		}
		t.Cleanup(func() {
			if err := ip("netns", "del", l.names[k]); err != nil {
				t.Error(err)
			}
		})
	}
	if err := ip("-n", l.names[0], "link", "add", "end", "type", "veth", "peer", "name", "end", "netns", l.names[1]); err != nil {
		t.Skipf("no links between network namespaces here: %v", err)
	}
	for k, name := range l.names {
		err := errors.Join(
			ip("-n", name, "address", "add", l.addresses[k]+"/24", "dev", "end"),
			ip("-n", name, "link", "set", "lo", "up"),
			ip("-n", name, "link", "set", "end", "up"))
		if err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// inside returns what runs a command on one of the machines.
func (l *link) inside(machine int) []string { return []string{"ip", "netns", "exec", l.names[machine]} }

// set takes the link down or up.
func (l *link) set(state string) {
	l.t.Helper()
	if err := ip("-n", l.names[0], "link", "set", "end", state); err != nil {
		l.t.Fatal(err)
	}
}

func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
