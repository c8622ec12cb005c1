package simulate

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/network/pki"
	"dsbo/network/session"
)

// A machine has an agent's run folder and its certificate, and a supervisor that runs one process
// of the agent after the other.
type machine struct {
	*world
	agent     int           // its number
	name      string        // on the network
	dir       string        // the run folder
	identity  *pki.Identity // the agent's certificate and key
	admission string        // what lets the agent into the run; "" where that has it from the start
	// changed, if it is set, is called after each operation that changes the disk, as the process
	// that has asked for it does.
	changed func(files *testkit.Memory, operation string)

	mu      sync.Mutex        // guards what follows
	now     *process          // nil: none
	lives   int               // processes so far
	down    time.Time         // the next process starts no earlier
	faults  [numKinds]lasting // by kind
	files   *testkit.Memory   // the disk, as the last process has it
	next    *testkit.Memory   // as the next one will find it; nil: files
	unmount func()            // takes the disk from the process
}

// A kind is a fault of a machine that lasts.
type kind int

const (
	frozen   kind = iota // the machine stands still
	busy                 // what it computes takes longer, and nothing else
	fullDisk             // nothing fits its disk
	slowDisk             // all that is brought to its disk takes a hundred times as long
	numKinds
)

// lasting is one kind of fault, which there may be several times at once.
type lasting struct {
	count int
	over  chan struct{} // closed when there is none of them
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
	opened  *session.Agent // nil before it meets the others; guarded by the machine's lock
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
		if wait > 0 {
			sleep(ctx, wait)
			continue
		}
		p := m.begin(ctx)
		err := p.run()
		killed := p.alive.Err() != nil
		m.end(p)
		if killed {
			err = errKilled // what is left of it in this program has another error
		}
		m.trace.note("agent %d: process %d ends: %s", m.agent, p.life,
			temporary.ReplaceAllString(fmt.Sprint(err), ".tmp"))
		switch code := cli.Code(err); {
		case killed:
		case err == nil:
			return nil
		case code != cli.Failure && code != cli.Interrupted:
			return fmt.Errorf("exit code %d: %w", code, err)
		case p.life >= mostLives:
			return fmt.Errorf("it was started %d times: %w", p.life, err)
		}
		m.mu.Lock()
		pause := m.of("restart", m.agent, p.life).between(m.Second, 60*m.Second) * time.Duration(1+p.life*p.life/25)
		m.stayDown(pause)
		m.mu.Unlock()
	}
	return context.Cause(ctx)
}

var (
	errKilled = errors.New("killed")
	temporary = regexp.MustCompile(`\.[0-9]+\.tmp`) // the end of a temporary file's name, which is random
)

// stayDown has the next process start no earlier than after a time. The machine's lock is held.
func (m *machine) stayDown(d time.Duration) {
	if until := time.Now().Add(d); until.After(m.down) {
		m.down = until
	}
	m.world.trouble(d)
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
	m.attach()
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
	m.stayDown(down)
	m.detach(silent, m.of("crash", m.agent, m.lives))
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
	m.stayDown(down)
	if m.now != nil {
		m.now.stop()
	}
}

// setFault begins a fault, or ends one.
func (m *machine) setFault(k kind, begins bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := &m.faults[k]
	if begins {
		if f.count++; f.count == 1 {
			f.over = make(chan struct{})
		}
	} else if f.count--; f.count == 0 {
		close(f.over)
	}
	if k == frozen {
		m.network.Freeze(m.name, f.count > 0)
	}
	m.world.trouble(0)
}

// spend has the process spend so much time, and stand still with its machine. It returns when it
// is killed.
func (p *process) spend(d time.Duration) {
	if sleep(p.alive, d) {
		p.await(frozen)
	}
}

// await waits for the end of all faults of a kind. It returns when the process is killed.
func (p *process) await(k kind) {
	for {
		p.mu.Lock()
		f := p.faults[k]
		p.mu.Unlock()
		if f.count == 0 {
			return
		}
		select {
		case <-f.over:
		case <-p.alive.Done():
			return
		}
	}
}

// state describes what the agent is about, for a run that does not end.
func (m *machine) state() string {
	m.mu.Lock()
	p := m.now
	m.mu.Unlock()
	switch {
	case p == nil:
		return "no process"
	case p.meeting() == nil:
		return fmt.Sprintf("process %d meets nobody yet", p.life)
	}
	return fmt.Sprintf("process %d: %+v", p.life, p.meeting().Status())
}

// meeting returns the process among the others, nil before it is.
func (p *process) meeting() *session.Agent {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.opened
}
