package peer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network/pki"
	"dsbo/network/session"
)

// begin is when virtual time begins.
var begin = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// A world is a run as it is simulated.
type world struct {
	Case
	draw
	network   *testkit.Network // between the machines
	machines  []*machine       // by agent
	addresses []string         // by agent
	text      bytes.Buffer
	log       *slog.Logger // to text
	// wrap, if it is set, returns what sends an agent's frames to another one.
	wrap func(from, to int, s session.Sender) session.Sender
}

// authority signs the certificates of the agents of all runs of this process.
var authority = sync.OnceValue(func() *pki.Authority {
	return testkit.Get(pki.NewAuthority("simulation", valid, expired))
})

// identities are the certificates of the agents of all runs of this process, by agent.
var identities = sync.OnceValue(func() (all []*pki.Identity) {
	for agent := range mostAgents + mostNewcomers {
		all = append(all, testkit.Get(authority().Issue(agent, valid, expired, simulated)))
	}
	return all
})

// valid and expired are when certificates begin and end to be valid: no run takes so long.
var valid, expired = begin.AddDate(-1, 0, 0), begin.AddDate(100, 0, 0)

// Delay implements the model of links of [testkit.NewNetwork]: each link has delays of its own that
// change every few seconds, and some stretches of time are bad.
func (w *world) Delay(from, to string, bytes int, at time.Time) time.Duration {
	since, link := int64(at.Sub(begin)), w.of(from).of(to)
	delay := link.of("moment", since).between(w.Latency/10, w.Latency)
	if link.of("stretch", since/int64(max(time.Minute, 100*w.Latency))).chance(0.1) {
		delay *= 5
	}
	// A megabyte a second, in whole blocks: signatures in handshakes are now a byte shorter,
	// now longer.
	return delay + time.Duration(bytes>>14)*16*time.Millisecond
}

// world returns the network and the machines of a case.
func (c Case) world() *world {
	w := &world{Case: c, draw: draw(c.Seed).of("world")}
	w.log = slog.New(slog.NewTextHandler(&w.text, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w.network = testkit.NewNetwork(w)
	for i := range c.Agents + len(c.Newcomers) {
		m := w.newMachine(i, fmt.Sprint("agent-", i))
		w.machines = append(w.machines, m)
		if i < c.Agents {
			w.addresses = append(w.addresses, net.JoinHostPort(m.name, port))
		}
	}
	return w
}

// Run runs the case, inside of a bubble of testing/synctest that began with it, and returns what
// happened, a line each, by moment and then by text. What the case follows from has level DEBUG,
// which sessions do not log. The error is what is wrong with its end.
func (c Case) Run() (history []string, err error) {
	w := c.world()
	defer w.close()
	if err = w.run(); err == nil {
		err = w.verify()
	}
	history = strings.Split(w.text.String(), "\n")
	slices.Sort(history)
	return history, err
}

// close takes all disks away.
func (w *world) close() {
	for _, m := range w.machines {
		m.unmount()
	}
}

// late returns how many agents have not finished.
func (w *world) late() (late int) {
	for _, m := range w.machines {
		if m.finished().IsZero() {
			late++
		}
	}
	return late
}

var errEndless = errors.New("the run does not end")

// run runs the agents, and faults, until all agents have ended for good. One that takes too long
// ends all.
func (w *world) run() error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), w.Calm+w.Limit, errEndless)
	defer cancel()
	over, done := context.WithCancel(ctx)
	errs := make([]error, len(w.machines))
	var agents, faults sync.WaitGroup
	for i, m := range w.machines {
		agents.Go(func() { errs[i] = m.supervise(ctx) })
	}
	for _, f := range w.Faults {
		faults.Go(func() { w.inflict(over, f) })
	}
	agents.Wait()
	done()
	faults.Wait()
	for i, err := range errs {
		if errors.Is(err, errLate) {
			err = w.lateError(err)
		}
		if err != nil {
			return fmt.Errorf("agent %d: %w", i, err)
		}
	}
	if n := w.network.Open(); n > 0 {
		return fmt.Errorf("%d ends of connections are left open", n)
	}
	return nil
}

// isOver reports whether there are no faults any more, some have finished, and of the others no
// quorum knows what the run has done: those whose disks are lost wait for one that does.
func (w *world) isOver() bool {
	knowing := 0
	for _, m := range w.machines {
		if m.finished().IsZero() && m.knows() {
			knowing++
		}
	}
	return time.Since(begin) > w.Calm && w.late() < len(w.machines) && knowing < cmp.Or(w.Quorum, w.Agents)
}

// lateError returns the error of an agent that has not finished, unless it may have been too late:
// faults were over long before the first of the others finished.
func (w *world) lateError(err error) error {
	var trouble time.Duration
	for _, f := range w.Faults {
		trouble = max(trouble, f.At+f.Lasts)
	}
	for _, n := range w.Newcomers {
		trouble = max(trouble, n.at)
	}
	excused := begin.Add(trouble + w.usual() + 2*w.lingers())
	mayBe := w.Quorum > 0 || w.PeerTimeout < w.Calm
	if mayBe && slices.ContainsFunc(w.machines, func(m *machine) bool {
		return !m.finished().IsZero() && m.finished().Before(excused)
	}) {
		return nil
	}
	return fmt.Errorf("faults were over since %v, and it has not finished: %w", trouble, err)
}
