package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"dsbo/internal/cli"
	"dsbo/internal/files"
	"dsbo/internal/testkit"
	"dsbo/network/membership"
	"dsbo/network/pki"
	"dsbo/network/register"
	"dsbo/runs"
)

// A machine has an agent's disk and certificate, and a supervisor that runs one process of the
// agent after the other.
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

	mu      sync.Mutex      // guards what follows
	now     *process        // nil: none
	lives   int             // processes so far
	down    time.Time       // the next process starts no earlier
	done    time.Time       // when the agent finished; zero: it has not
	files   *testkit.Memory // the disk, as the next process finds it
	damaged bool            // its newest checkpoint is
	unmount func()          // takes the disk of the last process away
}

// newMachine returns a machine of an agent, with an empty disk.
func (w *world) newMachine(agent int, name string) *machine {
	m := &machine{world: w, agent: agent, name: name, dir: filepath.Join("/", "simulated", name, "run"), down: begin}
	m.identity = identities()[agent]
	if agent >= w.Agents {
		n := w.Newcomers[agent-w.Agents]
		m.down = begin.Add(n.at)
		m.admission = testkit.Get(authority().Admit(membership.Admission{Agent: agent, Neighbours: n.neighbours},
			simulated, m.own().Hash))
	}
	m.files, m.unmount = testkit.NewMemory(), func() {}
	return m
}

// own names the run, and the machine's agent in it.
func (m *machine) own() runs.Membership {
	return runs.Membership{Run: simulated, Hash: fmt.Sprint(m.Seed), Agent: m.agent, Agents: m.Agents}
}

var errLate = errors.New("the others have finished")

// supervise runs processes until one has finished, or ends with an error that would come again, or
// ctx ends. One that begins without faults, when those that are left cannot go on by themselves
// ([world.isOver]), is the last one.
func (m *machine) supervise(ctx context.Context) error {
	for ctx.Err() == nil {
		m.mu.Lock()
		wait := time.Until(m.down)
		m.mu.Unlock()
		if wait > 0 {
			sleep(ctx, wait)
			continue
		}
		late, p := m.isOver(), m.start(ctx)
		err := p.run()
		switch code := cli.Code(err); {
		case m.end(p, err): // what is left of it in this program has another error
		case err == nil:
			return nil
		case code != cli.Failure && code != cli.Interrupted:
			return fmt.Errorf("exit code %d: %w", code, err)
		case late:
			return fmt.Errorf("%w: %w", errLate, err)
		default:
			m.log.Error("a process fails", "agent", m.agent, "error", err)
		}
		m.mu.Lock()
		pause := m.of("restart", int64(m.agent), int64(p.life)).between(time.Second, time.Minute)
		m.stayDown(pause * time.Duration(1+p.life*p.life/25))
		m.mu.Unlock()
	}
	return context.Cause(ctx)
}

// stayDown has the next process start no earlier than after a time. The machine's lock is held.
func (m *machine) stayDown(d time.Duration) {
	if until := time.Now().Add(d); until.After(m.down) {
		m.down = until
	}
}

// start starts a process.
func (m *machine) start(ctx context.Context) *process {
	m.mu.Lock()
	m.lives++
	p := &process{machine: m, life: m.lives, host: m.network.Host(m.name)}
	p.running, p.stop = context.WithCancel(ctx)
	m.mount()
	damaged := m.damaged
	m.now, m.damaged = p, false
	m.mu.Unlock()
	m.log.Debug("a process starts", "agent", m.agent, "process", p.life)
	if paths, _ := runs.Folder(m.dir).Checkpoints([]int{m.agent}); damaged && len(paths) > 0 {
		newest := paths[len(paths)-1]
		data, _ := files.ReadFile(newest)
		_ = files.WriteBytes(newest, data[:len(data)/2])
	}
	return p
}

// mount makes the disk the one of the machine's folder, for the next process.
func (m *machine) mount() {
	disk := m.files
	disk.Before = m.beforeDisk
	if m.changed != nil {
		disk.Changed = func(operation string) { m.changed(disk, operation) }
	}
	before := m.unmount
	m.unmount = files.Mount(filepath.Dir(m.dir), disk)
	before()
}

// end notes that a process has ended, of which nothing may be left, and reports whether it was
// killed.
func (m *machine) end(p *process, err error) (killed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.log.Debug("a process ends", "agent", m.agent, "process", p.life, "killed", p.killed)
	p.host.Kill()
	p.stop()
	if m.now = nil; err == nil && !p.killed {
		m.done = time.Now()
	}
	return p.killed
}

// finished returns when the agent has finished; zero: it has not.
func (m *machine) finished() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.done
}

// crash ends the process by a fault, after which the machine is down for a time. The next process
// finds what that one has written, or where power is lost what was brought to the disk and, as it
// is drawn, some of the rest.
func (m *machine) crash(k Kind, down time.Duration) {
	needed := m.Quorum == 0 && slices.ContainsFunc(m.machines, (*machine).hasResult)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stayDown(down)
	if m.now != nil {
		m.now.stop()
	}
	if k == Interrupted { // in good order, as by SIGTERM
		return
	}
	m.files = m.files.Restart()
	end := (*testkit.Host).Kill
	if k != Killed {
		choice, choose := int64(0), m.of("crash", int64(m.agent), int64(m.lives))
		m.files = m.files.Crash(func(n int) int {
			choice++
			return choose.of("", choice).below(n)
		})
		end = (*testkit.Host).PowerOff
	}
	if spoils := !needed && m.done.IsZero(); spoils && k == Emptied {
		m.files = testkit.NewMemory()
	} else if spoils && k == Damaged {
		m.damaged = true
	}
	if m.now != nil {
		m.now.killed = true
		end(m.now.host)
	}
}

// hasResult reports whether the agent's result is on the disk.
func (m *machine) hasResult() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err := m.files.Stat(filepath.Join(m.dir, runs.LambdaFile))
	return err == nil
}

// knows reports whether the disk has that the agent has begun a session.
func (m *machine) knows() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	var state register.State
	file, err := m.files.OpenFile(filepath.Join(m.dir, runs.RegisterFile), os.O_RDONLY, 0)
	return err == nil && json.NewDecoder(file).Decode(&state) == nil && state.Last > 0
}

// beforeDisk takes the time of bringing something to the disk, and has nothing fit a full one.
func (m *machine) beforeDisk(operation, _ string) error {
	switch full := m.present(FullDisk, m.agent) != nil; {
	case operation == "write" && full:
		return syscall.ENOSPC
	case operation == "write":
		return nil
	}
	takes := m.draw.now("sync", m.agent).between(m.Sync/100, m.Sync)
	if m.present(SlowDisk, m.agent) != nil {
		takes *= 100
	}
	m.mu.Lock()
	p := m.now
	m.mu.Unlock()
	if p != nil {
		p.spend(takes)
	}
	return nil
}
