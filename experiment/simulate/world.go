package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network/pki"
	"dsbo/network/session"
)

// A Result is what became of a simulated run.
type Result struct {
	Took  time.Duration // virtual time
	Lives int           // processes of all agents
	Late  int           // agents that came when the others had finished
	Trace []Line        // what happened, by moment and then by text
}

// String returns the trace for people.
func (r Result) String() string {
	var text strings.Builder
	for _, l := range r.Trace {
		fmt.Fprintln(&text, l)
	}
	return text.String()
}

// A world is a run as it is simulated.
type world struct {
	Case
	draw
	network   *testkit.Network // between the machines
	machines  []*machine       // by agent
	addresses []string         // by agent
	trace     trace            // what happened, if it is wanted
	cuts      cuts             // of links
	// wrap, if it is set, returns what sends an agent's frames to another one.
	wrap func(from, to int, s session.Sender) session.Sender

	mu        sync.Mutex              // guards what follows
	moved     map[string]string       // addresses that have another name now
	forgetful map[int]bool            // agents that have lost checkpoints
	ended     map[int]time.Time       // when agents finished
	first     time.Time               // of these
	troubled  time.Time               // until when there were faults, or agents that are down for one
	dismiss   context.CancelCauseFunc // ends the run, with a cause
}

// mostAgents is the largest number of agents in a run.
const mostAgents = 8 + mostNewcomers

// certificates are the certificates of the agents of all runs of this process, which are valid as
// long as any run may take, and the authority that has signed them.
type certificates struct {
	authority *pki.Authority
	of        [mostAgents]*pki.Identity
}

var identities = sync.OnceValue(func() (c certificates) {
	from, until := begin.AddDate(-1, 0, 0), begin.AddDate(100, 0, 0)
	c.authority = testkit.Get(pki.NewAuthority("simulation", from, until))
	for i := range c.of {
		c.of[i] = testkit.Get(c.authority.Issue(i, from, until, simulated))
	}
	return c
})

// of derives a draw of an agent.
func (w *world) of(name string, agent int, numbers ...int) draw {
	d := w.draw.of(name, int64(agent))
	for _, n := range numbers {
		d = d.of("", int64(n))
	}
	return d
}

// world returns the network and the machines of a case, and what ends them.
func (c Case) world() (w *world, end func()) {
	w = &world{Case: c, draw: draw(c.Seed).of("world"), cuts: cuts{all: map[*cut]bool{}}, moved: map[string]string{},
		forgetful: map[int]bool{}, ended: map[int]time.Time{}}
	w.network = testkit.NewNetwork(weather{w.draw.of("weather"), c.Latency, max(60*c.Second, 100*c.Latency)})
	for i := range c.Agents + len(c.Newcomers) {
		m := w.newMachine(i, fmt.Sprintf("agent-%d", i))
		w.machines = append(w.machines, m)
		if i < c.Agents {
			w.addresses = append(w.addresses, net.JoinHostPort(m.name, port))
		}
	}
	return w, func() {
		for _, m := range w.machines {
			m.unmount()
		}
	}
}

// newMachine returns a machine of an agent, with an empty disk.
func (w *world) newMachine(agent int, name string) *machine {
	all := identities()
	m := &machine{world: w, agent: agent, name: name, identity: all.of[agent],
		dir: filepath.Join("/", "simulated", name, "run")}
	if agent >= w.Agents {
		n := w.Newcomers[agent-w.Agents]
		m.down = begin.Add(n.at)
		m.admission = testkit.Get(all.authority.Admit(pki.Admission{Agent: agent, Neighbours: n.neighbours}, simulated,
			w.hash()))
	}
	m.next = newDisk(filepath.Dir(m.dir))
	m.attach()
	return m
}

// addressNow returns where an address is now.
func (w *world) addressNow(address string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return cmp.Or(w.moved[address], address)
}

// trouble notes that there are faults until after a time.
func (w *world) trouble(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if until := time.Now().Add(d); until.After(w.troubled) {
		w.troubled = until
	}
}

// Run runs the case, inside of a bubble of testing/synctest that began with it. The error is what
// is wrong with its end.
func (c Case) Run() (Result, error) {
	w, end := c.world()
	defer end()
	err := w.run()
	if err == nil {
		err = w.verify()
	}
	if n := w.network.Open(); err == nil && n > 0 {
		err = fmt.Errorf("%d ends of connections are left open", n)
	}
	r := Result{Took: time.Since(begin), Trace: w.trace.sorted(), Late: len(w.machines) - len(w.ended)}
	for _, m := range w.machines {
		r.Lives += m.lives
	}
	return r, err
}

var (
	errEndless = errors.New("the run does not end")
	errLate    = errors.New("the others have finished")
)

// run runs the agents, and faults, until all agents have ended for good. One that takes too long
// ends all.
func (w *world) run() error {
	limit, cancel := context.WithTimeoutCause(context.Background(), w.Calm+w.Limit, errEndless)
	defer cancel()
	ctx, dismiss := context.WithCancelCause(limit)
	defer dismiss(nil)
	w.dismiss = dismiss
	errs := make([]error, len(w.machines))
	var agents, faults sync.WaitGroup
	for i, m := range w.machines {
		agents.Go(func() {
			if errs[i] = m.supervise(ctx); errs[i] == nil {
				w.end(i)
			}
		})
	}
	over, done := context.WithCancel(ctx)
	faults.Go(func() { w.injectFaults(over) })
	hung := context.AfterFunc(ctx, func() {
		for i, m := range w.machines {
			w.trace.note("agent %d: %s", i, m.state())
		}
	})
	agents.Wait()
	hung()
	done()
	faults.Wait()
	for i, err := range errs {
		if errors.Is(err, errLate) {
			err = w.lateError()
		}
		if err != nil {
			return fmt.Errorf("agent %d: %w", i, err)
		}
	}
	return nil
}

// end notes that an agent has finished. Those that are left when they are no quorum any more have
// time to notice that, if they can, and then are dismissed.
func (w *world) end(agent int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended[agent] = time.Now()
	if len(w.ended) == 1 {
		w.first = time.Now()
	}
	if left, quorum := len(w.machines)-len(w.ended), cmp.Or(w.Quorum, w.Agents); left > 0 && left < quorum {
		w.awaitLate()
	}
}

// awaitLate dismisses those that have not ended, some time after there was anything that keeps them
// from that. The lock is held.
func (w *world) awaitLate() {
	last := w.troubled
	for _, at := range w.ended {
		if at.After(last) {
			last = at
		}
	}
	patience := 3*w.linger() + 100*w.Second + 20*w.SilentAfter
	time.AfterFunc(time.Until(last.Add(patience)), func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.ended) == len(w.machines) {
			return
		}
		if time.Since(w.troubled) < patience {
			w.awaitLate()
			return
		}
		w.dismiss(errLate)
	})
}

// lateError returns an error if an agent had the time to finish with the others, and did not.
func (w *world) lateError() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if excused := w.troubled.Add(w.usual() + 2*w.linger()); (w.Quorum > 0 || w.Hasty) && w.first.Before(excused) {
		return nil
	}
	return fmt.Errorf("the first of the others has finished %v after the start, when faults were over since %v, "+
		"and it has not", w.first.Sub(begin), w.troubled.Sub(begin))
}
