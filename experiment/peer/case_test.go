package peer

import (
	"fmt"
	"time"

	"dsbo/experiment"
	"dsbo/internal/num"
	"dsbo/network/session"
)

// A Case is a simulated run: all that a seed chooses, but for what depends on the moment.
type Case struct {
	session.Config               // of all agents, without what makes one of them
	Seed           uint64        // that all else is drawn from
	Agents         int           // their number at the start
	Flags          []string      // of the run's command line; the last one of a name counts
	Newcomers      []newcomer    // by number
	Faults         []Fault       // in any order
	spoiled        int           // a bit for each agent that may lose checkpoints
	Calm, Limit    time.Duration // time with faults; time after it, at which the run has failed

	// How long things take.
	Latency time.Duration // most bytes are at most so long on their way
	Step    time.Duration // what an agent computes between two exchanges takes about so long, at times
	Sync    time.Duration // bringing a file to the disk takes up to so long

	task experiment.Task // that the agents solve
}

// A newcomer is an agent that is admitted to a run that goes on; the first one follows the agents
// of the start. Its neighbours are agents of the start.
type newcomer struct {
	at         time.Duration // when its first process starts: it may be too late
	neighbours []int         // ascending
}

// Draw returns the case of a seed.
func Draw(seed uint64) Case {
	d := draw(num.SplitMix(seed))
	members := d.of("members").uniform()
	joins := members >= 0.95
	changes := members < 0.15 || joins
	c := Case{Seed: seed, task: quadratic, Agents: among(d.of("agents"), 2, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5)}
	graph := among(d.of("graph"), "ring", "path", "star", "complete")
	latency, step := 2*time.Second, 6*time.Hour
	if changes {
		c.Agents = among(d.of("agents"), 3, 3, 4, 5, 5, 8)
		graph = among(d.of("graph"), "complete", "complete", "ring", "exponential", "star")
		latency, step = time.Second/5, 2*time.Minute
	}
	c.Flags = append([]string{fmt.Sprint("-agents=", c.Agents), "-graph=" + graph,
		"-wire=" + among(d.of("wire"), "float64", "float64", "float64", "float32", "bf16", "int8"),
		"-evaluate=" + among(d.of("evaluate"), "off", "off", "exact"),
		"-checkpoint-every=" + among(d.of("checkpoints"), "1", "1", "2", "3"),
		"-eval-every=" + among(d.of("evaluations"), "1", "2", "4"),
		"-alpha=0.1", "-beta=0.2", "-gamma=0.2",
	}, among(d.of("method"),
		[]string{"-algorithm=newtoncg", "-K=4", "-x0=0"},
		[]string{"-algorithm=madsbo", "-K=6", "-T=2", "-N=2"},
		[]string{"-algorithm=madsbo_tuned", "-K=6", "-T=2", "-N=2", "-set=warm_z=true", "-set=track_y=true",
			"-set=mom_y=0.5"},
		[]string{"-algorithm=dsoba", "-K=8"},
	)...)
	if d.of("steps").chance(0.3) {
		c.Flags = append(c.Flags, "-beta=0.2/L", "-gamma=auto")
	}
	c.Latency = d.of("latency").between(time.Millisecond, latency)
	if d.of("wires").chance(0.3) { // what goes wrong mostly does so amid the exchanges of an iteration
		step = 2 * time.Second
	}
	c.Step = d.of("step").between(time.Second, step)
	c.Sync = d.of("sync").between(time.Millisecond, 10*time.Second)
	c.Heartbeat = max(5*time.Second, 10*c.Latency, d.of("heartbeat").between(c.Step/20, c.Step))
	c.SilentAfter = c.Heartbeat * time.Duration(3+d.of("silent").below(4))
	c.Grace = d.of("grace").between(c.SilentAfter, 4*c.SilentAfter)
	c.PeerTimeout = d.of("patience").between(4*c.SilentAfter, 12*c.SilentAfter)
	c.Unmasked = d.of("masks").chance(0.2)
	c.Calm = d.of("calm").between(c.usual()/2, 4*c.usual())
	if changes || !d.of("hasty").chance(0.1) {
		c.PeerTimeout += c.Calm + time.Hour // no fault lasts longer, nor does a restart
	}
	// After the last fault an agent may have all to do again, and each return makes others wait,
	// redial and go back.
	c.Limit = 10*c.usual() + 50*c.SilentAfter + 4*c.PeerTimeout + 12*time.Hour
	if changes {
		c.drawMembers(d, joins)
	}
	c.drawFaults(d)
	return c
}

// usual is about what a run without faults takes.
func (c *Case) usual() time.Duration { return 10*c.Step + 2000*c.Latency }

// lingers is for how long an agent that has finished is there for the others.
func (c *Case) lingers() time.Duration {
	if c.Quorum > 0 {
		return c.AbsentAfter
	}
	return c.PeerTimeout
}

// Most agents of a run that is drawn, at the start and admitted to it.
const mostAgents, mostNewcomers = 8, 2

// drawMembers makes a case one of a run whose members may change, and which agents may join.
func (c *Case) drawMembers(d draw, joins bool) {
	c.Quorum = c.Agents/2 + 1 + d.of("quorum").below((c.Agents+1)/2-1)
	if d.of("stragglers").chance(0.4) { // silence is noticed sooner, so that they are too
		c.Heartbeat = max(5*time.Second, 10*c.Latency, d.of("heartbeat").between(c.Step/40, c.Step/10))
		c.SilentAfter = 3 * c.Heartbeat
		c.StragglerDeadline = d.of("deadline").between(c.SilentAfter+c.SilentAfter/10, 2*c.SilentAfter+c.Step)
	}
	c.AbsentAfter = d.of("absent").between(c.SilentAfter+c.SilentAfter/10, 2*c.SilentAfter+c.Calm/10)
	c.Limit += 100*c.AbsentAfter + 200*c.StragglerDeadline
	if !joins {
		return
	}
	c.Newcomers = make([]newcomer, 1+d.of("newcomers").below(mostNewcomers))
	c.Quorum = max(c.Quorum, (c.Agents+len(c.Newcomers))/2+1)
	for k := range c.Newcomers {
		e, n := d.of("newcomer", int64(k)), &c.Newcomers[k]
		n.at = e.of("at").between(c.Calm/50, 3*c.Calm)
		for j := range c.Agents {
			if e.of("beside", int64(j)).chance(0.4) {
				n.neighbours = append(n.neighbours, j)
			}
		}
		if n.neighbours == nil {
			n.neighbours = []int{e.of("one").below(c.Agents)}
		}
	}
}
