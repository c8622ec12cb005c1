package simulate

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/grpc"
	"dsbo/network/membership"
	"dsbo/network/membership/paxos"
	"dsbo/network/pki"
	"dsbo/runs"
)

// A machine has an agent's run folder and its certificate, and a supervisor that runs one process
// of the agent after the other.
type machine struct {
	*world
	agent int    // its number
	name  string // on the network
	dir   string // the run folder, on the drive
	drive *drive // the machine's disk

	identity  *pki.Identity // the agent's certificate and key
	admission string        // what lets the agent into the run; "" where that has it from the start

	refused bool        // the run has ended as refuses says
	leftOut atomic.Bool // the others have finished without it
	// The others may finish without this liar: it lies to the end, has told them that more agents
	// had finished than it knew of, or has sent again and again what it must not.
	forgone atomic.Bool

	mu     sync.Mutex // guards what follows
	now    *process   // nil: none
	lives  int        // processes so far
	down   time.Time  // the next process starts no earlier
	frozen obstacle   // has the machine stand still
	busy   obstacle   // has what it computes take longer, and nothing else
}

// An obstacle holds up what a machine does while there are faults that make it. The machine's lock
// guards it.
type obstacle struct {
	faults int
	over   chan struct{} // closed when there is none of them
}

// addFault begins a fault, or ends one, and reports whether the obstacle begins or ends with it.
func (o *obstacle) addFault(begins bool) (changes bool) {
	if begins {
		if o.faults++; o.faults == 1 {
			o.over = make(chan struct{})
		}
		return o.faults == 1
	}
	if o.faults--; o.faults == 0 {
		close(o.over)
	}
	return o.faults == 0
}

// A process is an agent's, from its start to its end.
type process struct {
	*machine
	life    int
	host    *testkit.Host
	alive   context.Context // ends when it is killed
	running context.Context // ends when it is to stop
	kill    context.CancelFunc
	stop    context.CancelFunc
	mixer   *grpc.Mixer // nil before the exchange is open; guarded by the machine's lock
}

// mostLives bounds how often an agent is started. Faults are too few for more, and the pause before
// a start grows with their number.
const mostLives = 300

// supervise runs processes until one has finished, or ends with an error that would come again, or
// ctx ends.
func (m *machine) supervise(ctx context.Context) error {
	for ctx.Err() == nil {
		m.mu.Lock()
		wait := time.Until(m.down)
		m.mu.Unlock()
		if m.leftOut.Load() {
			return nil
		}
		if wait > 0 {
			sleep(ctx, wait)
			continue
		}
		p := m.begin(ctx)
		err := p.run()
		killed := p.alive.Err() != nil
		m.end(p)
		if killed {
			err = errKilled // what is left of it in this program has said something else
		}
		m.trace.note("agent %d: process %d ends: %s", m.agent, p.life,
			temporary.ReplaceAllString(fmt.Sprint(err), ".tmp"))
		switch code := cli.Code(err); {
		case killed && ctx.Err() == nil:
		case err == nil, m.refuses(err):
			return err
		case m.blames(err) != nil:
			return m.blames(err)
		case errors.Is(err, paxos.ErrStateLost):
			// It is started again, as by a supervisor: others have to find that out too, by
			// its answers.
			if err := m.world.end(m.agent, m.lost); err != nil {
				return err
			}
		case code != cli.Failure && code != cli.Interrupted && !m.isLiar(m.agent):
			return fmt.Errorf("exit code %d: %w", code, err)
		case p.life >= mostLives:
			return fmt.Errorf("it was started %d times: %w", p.life, err)
		}
		m.mu.Lock()
		pause := m.of("restart", m.agent, p.life).between(m.Second, 60*m.Second) * time.Duration(1+p.life*p.life/25)
		m.down = later(m.down, time.Now().Add(pause))
		m.mu.Unlock()
	}
	return fmt.Errorf("agent %d: %w", m.agent, context.Cause(ctx))
}

var (
	errKilled = errors.New("killed")
	temporary = regexp.MustCompile(`\.[0-9]+\.tmp`) // the end of a temporary file's name, which is random
)

// refuses reports whether an error says why the run cannot go on: where silence may be so long, an
// agent was silent for too long.
func (c Case) refuses(err error) bool {
	return c.Refused && (errors.Is(err, network.ErrSilent) || errors.Is(err, network.ErrEnded))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// begin starts a process.
func (m *machine) begin(ctx context.Context) *process {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lives++
	p := &process{machine: m, life: m.lives, host: m.network.Host(m.name)}
	p.alive, p.kill = context.WithCancel(ctx)
	p.running, p.stop = context.WithCancel(p.alive)
	m.now = p
	m.drive.attach()
	m.trace.note("agent %d: process %d starts", m.agent, p.life)
	return p
}

// end notes that a process has ended, of which nothing may be left.
func (m *machine) end(p *process) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p.host.Kill()
	p.kill()
	m.now = nil
}

// crash kills the process, with the machine if silent, which is down for a time.
func (m *machine) crash(silent bool, down time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = later(m.down, time.Now().Add(down))
	m.drive.detach(silent, m.of("crash", m.agent, m.lives))
	switch {
	case m.now == nil:
		return
	case silent:
		m.now.host.PowerOff()
	default:
		m.now.host.Kill()
	}
	m.now.kill()
}

// interrupt has the process stop in good order, as SIGTERM does.
func (m *machine) interrupt(down time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = later(m.down, time.Now().Add(down))
	if m.now != nil {
		m.now.stop()
	}
}

// dismiss ends an agent for good that is not among those that have finished the run.
func (m *machine) dismiss() {
	m.leftOut.Store(true)
	m.trace.note("agent %d: the others have finished without it", m.agent)
	m.interrupt(0)
}

// log returns the changes that the folder of an agent has which has ended.
func (m *machine) log() (membership.Log, error) {
	m.mu.Lock() // or the drive is lost meanwhile
	defer m.mu.Unlock()
	m.drive.attach()
	return runs.Folder(m.dir).ReadChanges()
}

// freeze has the machine stand still, or ends that.
func (m *machine) freeze(still bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.frozen.addFault(still) {
		m.network.Freeze(m.name, still)
	}
}

// slow has what the machine computes take as long as that lasts, or ends that.
func (m *machine) slow(begins bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy.addFault(begins)
}

// spend has the process spend so much time, and stand still with its machine. It returns when it
// is killed.
func (p *process) spend(d time.Duration) {
	if sleep(p.alive, d) {
		p.await(&p.frozen)
	}
}

// await waits for the end of an obstacle of the process's machine. It returns when the process
// is killed.
func (p *process) await(o *obstacle) {
	for {
		p.mu.Lock()
		there, over := o.faults > 0, o.over
		p.mu.Unlock()
		if !there {
			return
		}
		select {
		case <-over:
		case <-p.alive.Done():
			return
		}
	}
}

// state says what the agent does, for a run that does not end.
func (m *machine) state() string {
	m.mu.Lock()
	p := m.now
	m.mu.Unlock()
	switch {
	case p == nil:
		return "no process"
	case p.exchange() == nil:
		return fmt.Sprintf("process %d has not opened the exchange", p.life)
	}
	return fmt.Sprintf("process %d: %+v", p.life, p.exchange().Status())
}

// exchange returns the process's end of the exchange, nil before it is open.
func (p *process) exchange() *grpc.Mixer {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mixer
}
