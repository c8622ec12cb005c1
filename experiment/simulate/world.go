package simulate

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network/pki"
)

// A Result is what became of a simulated run.
type Result struct {
	Took    time.Duration // virtual time
	Lives   int           // processes of all agents
	Refused bool          // the run ended with an error that names a silent agent, or the state that is lost
	Trace   []Line        // what happened, by moment and then by text
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
	forgetful forgetful        // whose disk is lost

	ending sync.Mutex   // guards what follows
	ended  map[int]bool // agents that have ended as they must
	lost   map[int]bool // agents that have ended once as the state is lost, and were started again
	safe   bool         // an agent knows that all have finished
}

// mostAgents is the largest number of agents in a run.
const mostAgents = 8 + mostNewcomers

// identities are the certificates of the agents of all runs of this process.
var identities = sync.OnceValues(func() (*certificates, error) { return newCertificates(mostAgents) })

// of derives a draw of an agent.
func (w *world) of(name string, agent int, numbers ...int) draw {
	d := w.draw.of(name, int64(agent))
	for _, n := range numbers {
		d = d.of("", int64(n))
	}
	return d
}

// world returns the network and the machines of a case, and what ends them.
func (c Case) world() (w *world, end func(), err error) {
	w = &world{Case: c, draw: draw(c.Seed).of("world"), ended: map[int]bool{}, lost: map[int]bool{},
		cuts: cuts{all: map[*cut]bool{}}, forgetful: forgetful{agents: map[int]bool{}}}
	w.trace.forgo = func(agent int) {
		if w.isLiar(agent) {
			w.machines[agent].forgone.Store(true)
		}
	}
	w.network = testkit.NewNetwork(weather{w.draw.of("weather"), c.Latency, max(60*c.Second, 100*c.Latency)})
	var unmounts []func()
	end = func() {
		for _, unmount := range unmounts {
			unmount()
		}
	}
	for i := range c.Agents + len(c.Newcomers) {
		m, unmount, err := w.newMachine(i)
		if err != nil {
			end()
			return nil, nil, err
		}
		unmounts = append(unmounts, unmount)
		w.machines = append(w.machines, m)
		if i < c.Agents {
			w.addresses = append(w.addresses, net.JoinHostPort(m.name, port))
		}
	}
	return w, end, nil
}

// newMachine returns the machine of an agent, and what takes its drive away.
func (w *world) newMachine(agent int) (m *machine, unmount func(), err error) {
	all, err := identities()
	if err != nil {
		return nil, nil, err
	}
	m = &machine{world: w, agent: agent, name: agentName(agent), identity: all.of[agent]}
	if agent >= w.Agents {
		n := w.Newcomers[agent-w.Agents]
		m.down = begin.Add(n.at)
		if m.admission, err = all.authority.Admit(pki.Admission{Agent: agent, Neighbours: n.neighbours}, simulated,
			w.hash()); err != nil {
			return nil, nil, err
		}
	}
	folder := filepath.Join("/", "simulated", m.name)
	m.dir = filepath.Join(folder, "run")
	m.drive, unmount, err = newDrive(m, folder)
	return m, unmount, err
}

// Run runs the case, inside of a bubble of testing/synctest that began with it. The error says what
// is wrong with its end.
func (c Case) Run() (Result, error) {
	w, end, err := c.world()
	if err != nil {
		return Result{}, err
	}
	defer end()
	err = w.run()
	if err == nil {
		err = w.verify()
	}
	if n := w.network.Open(); err == nil && n > 0 {
		err = fmt.Errorf("%d ends of connections are left open", n)
	}
	r := Result{Took: time.Since(begin), Trace: w.trace.sorted()}
	for _, m := range w.machines {
		r.Lives += m.lives
		r.Refused = r.Refused || m.refused || w.lost[m.agent]
	}
	return r, err
}

// end notes that an agent has ended as it must, in ended or lost. Agents that are no members of its
// last epoch are waited for by nobody: they end when the members have, and so do those that were
// started again to find out with others that the state is lost, and liars that are forgone.
func (w *world) end(agent int, in map[int]bool) error {
	w.ending.Lock()
	defer w.ending.Unlock()
	if w.machines[agent].leftOut.Load() {
		return nil
	}
	in[agent] = true
	log, err := w.machines[agent].log()
	if err != nil {
		return err
	}
	waited := func(i int) bool { return !w.ended[i] && !w.lost[i] && !w.machines[i].forgone.Load() }
	if slices.ContainsFunc(log.Last(w.Agents).Members, waited) {
		return nil
	}
	for i, m := range w.machines {
		if !w.ended[i] {
			m.dismiss()
		}
	}
	return nil
}

// agentName is the name of an agent's machine.
func agentName(agent int) string { return fmt.Sprintf("agent-%d", agent) }

var errEndless = errors.New("the run does not end")

// run runs the agents, and faults, until all agents have ended for good. One that takes too long
// ends all.
func (w *world) run() error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), w.Calm+w.Limit, errEndless)
	defer cancel()
	errs := make([]error, len(w.machines))
	var agents, faults sync.WaitGroup
	for i, m := range w.machines {
		agents.Go(func() {
			errs[i] = m.supervise(ctx)
			if errs[i] == nil {
				errs[i] = w.end(i, w.ended)
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
		w.machines[i].refused = w.refuses(err) || errors.Is(err, errEndless) && w.parted()
		if err != nil && !w.machines[i].refused {
			return fmt.Errorf("agent %d: %w", i, err)
		}
	}
	return nil
}
