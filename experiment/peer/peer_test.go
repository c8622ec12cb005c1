package peer_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"dsbo/data"
	"dsbo/experiment"
	"dsbo/experiment/peer"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/network/networktest"
	"dsbo/network/session"
	"dsbo/runs"
	"dsbo/train"
)

const agents = 4

// flags are of a run of moments, with a checkpoint after each iteration.
const flags = "-agents=4 -graph=ring -algorithm=newtoncg -K=12 -eval-every=2 -checkpoint-every=1 -report=false -quiet "

// small is a task that finds something together as it loads.
func small() experiment.Task {
	t := experiment.Task{Name: "small", About: "takes a moment", Flags: func(*flag.FlagSet) {}}
	t.Load = func(a experiment.Agents) (data.Task, models.Model, error) {
		task, err := data.Synthetic{Agents: a.N, Features: 3, Train: 20, Val: 10, Test: 5, Rate: 1, Seed: a.Seed}.Task()
		sum := []float64{0}
		if err == nil {
			err = a.Collective.Sum("", sum, func(i int, part []float64) error { part[0] = float64(i); return nil })
		}
		return task, models.Logistic{Features: 3}, err
	}
	t.Fingerprint = func(a experiment.Agents) ([]byte, error) { return fmt.Append(nil, a.Local), nil }
	return t
}

// Processes are the agents of a run, each in a process of its own as far as they can tell.
type processes struct {
	*testing.T
	dir       string
	addresses []string
	listeners []net.Listener
}

func newProcesses(t *testing.T) *processes {
	w := &processes{T: t, dir: t.TempDir()}
	for range agents {
		l := testkit.Get(net.Listen("tcp", "127.0.0.1:0"))
		w.listeners, w.addresses = append(w.listeners, l), append(w.addresses, l.Addr().String())
	}
	return w
}

func (w *processes) folder(agent int) runs.Folder {
	return runs.Folder(filepath.Join(w.dir, fmt.Sprint(agent)))
}

// run runs a process of an agent.
func (w *processes) run(ctx context.Context, agent int, log io.Writer) error {
	c := session.Config{Agent: agent, Run: "r", Hash: "h", Addresses: w.addresses, Insecure: true,
		Heartbeat: 20 * time.Millisecond, SilentAfter: time.Second, Listener: w.listeners[agent], FewMembers: true}
	if w.listeners[agent] = nil; c.Listener == nil {
		c.Listener = testkit.Get(net.Listen("tcp", w.addresses[agent]))
	}
	j := testkit.Get(experiment.Parse(small(), strings.Fields(flags+"-out="+string(w.folder(agent))), io.Discard))
	return peer.Agent{Folder: w.folder(agent), Own: runs.Membership{Run: "r", Hash: "h", Agent: agent, Agents: agents},
		Identity: fmt.Sprint("r ", agent), Sessions: c}.Run(ctx, j, io.Discard, log)
}

// TestAgentsGoOn: agents that are stopped, one after the other and at the end, go on from what all
// have, and all find what one process finds.
func TestAgentsGoOn(t *testing.T) {
	alone := runs.Folder(filepath.Join(t.TempDir(), "run"))
	args := strings.Fields(flags + "-out=" + string(alone))
	testkit.OK(experiment.Run(t.Context(), small(), args, io.Discard, io.Discard))
	w := newProcesses(t)
	ctx := networktest.Context(t)
	var mu sync.Mutex
	logs := make([]bytes.Buffer, agents)
	for i, err := range networktest.RunAll(agents, func(i int) error {
		for life := 1; ; life++ {
			own, cancel := context.WithCancel(ctx)
			if life == 1 && i > 0 {
				time.AfterFunc(time.Duration(100+150*i)*time.Millisecond, cancel)
			}
			err := w.run(own, i, &logs[i])
			cancel()
			if !errors.Is(err, train.ErrInterrupted) && !errors.Is(err, context.Canceled) || ctx.Err() != nil {
				return err
			}
			mu.Lock()
			t.Logf("agent %d: %v", i, err)
			mu.Unlock()
		}
	}) {
		if err != nil {
			t.Errorf("agent %d: %v\n%s", i, err, &logs[i])
			continue
		}
		for _, name := range []string{runs.LambdaFile, runs.OmegaFile} {
			if !bytes.Equal(testkit.Get(w.folder(i).ReadFile(name)), testkit.Get(alone.ReadFile(name))) {
				t.Errorf("agent %d has another %s than one process", i, name)
			}
		}
		own := runs.Membership{Run: "r", Hash: "h", Agent: i, Agents: agents}
		if !testkit.Get(w.folder(i).IsFinal(own)) {
			t.Errorf("agent %d does not know that the result is final", i)
		}
	}
	var all []runs.Folder
	for i := range agents {
		all = append(all, w.folder(i))
	}
	testkit.Get(runs.Merge(all))
}
