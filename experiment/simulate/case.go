package simulate

import (
	"fmt"
	"slices"
	"time"

	"dsbo/experiment"
	"dsbo/internal/num"
)

// A Case is a simulated run: all that a seed chooses, but for what depends on the moment.
type Case struct {
	Seed   uint64   // that all else is drawn from
	Agents int      // their number at the start
	Flags  []string // of the run's command line

	// How long things take.
	Latency time.Duration // most bytes are at most so long on their way
	Step    time.Duration // what an agent computes between two exchanges takes about so long, at times
	Sync    time.Duration // bringing a file to the disk takes up to so long
	Second  time.Duration // what else is short takes this or a few times as long, such as a restart

	// Settings of sessions.
	Heartbeat, SilentAfter, Grace time.Duration
	Patience                      time.Duration    // silence that ends a process
	Hasty                         bool             // which others may be away for longer than
	Unmasked                      bool             // sums without masks
	Quorum                        int              // 0: all agents stay
	AbsentAfter                   time.Duration    // silence after which an agent is left out
	StragglerDeadline             time.Duration    // how long others wait for one that computes; 0: as long as it takes
	Newcomers                     []newcomer       // agents that are admitted to the run, by number from Agents on
	task                          *experiment.Task // what is computed

	// Faults come after pauses with this mean, until Calm; the run must then end within Limit.
	Pause       time.Duration
	Calm, Limit time.Duration // time with faults; time after it, at which the run has failed
}

// A newcomer is an agent that is admitted to a run that goes on. Its neighbours are agents that
// were there from the start.
type newcomer struct {
	at         time.Duration // when its first process starts: it may be too late
	neighbours []int         // ascending
	// the agent that is killed meanwhile: this one or a neighbour, as its state is handed over or
	// before; -1: none
	lost  int
	after time.Duration // since at
	down  time.Duration
}

// Draw returns the case of a seed.
func Draw(seed uint64) Case {
	d := draw(num.SplitMix(seed))
	c := Case{Seed: seed, task: &quadratic, Agents: among(d.of("agents"), 2, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5)}
	c.Flags = []string{
		fmt.Sprintf("-agents=%d", c.Agents),
		"-graph=" + among(d.of("graph"), "ring", "path", "star", "complete"),
		"-wire=" + among(d.of("wire"), "float64", "float64", "float64", "float32", "bf16", "int8"),
		"-evaluate=" + among(d.of("evaluate"), "off", "off", "exact"),
		"-checkpoint-every=" + among(d.of("checkpoints"), "1", "1", "2", "3"),
		"-eval-every=" + among(d.of("evaluations"), "1", "2", "4"),
	}
	c.Flags = append(c.Flags, among(d.of("method"),
		[]string{"-algorithm=newtoncg", "-K=4", "-x0=0"},
		[]string{"-algorithm=madsbo", "-K=6", "-T=2", "-N=2", "-alpha=0.1", "-beta=0.2", "-gamma=0.2"},
		[]string{"-algorithm=madsbo_tuned", "-K=6", "-T=2", "-N=2", "-alpha=0.1", "-beta=0.2", "-gamma=0.2",
			"-set=warm_z=true", "-set=track_y=true", "-set=mom_y=0.5"},
		[]string{"-algorithm=dsoba", "-K=8", "-alpha=0.1", "-beta=0.2", "-gamma=0.2"},
	)...)
	if d.of("steps").chance(0.3) { // the last of a flag counts
		c.Flags = append(c.Flags, "-beta=0.2/L", "-gamma=auto")
	}
	members, latency, step := d.of("members").uniform(), 2*time.Second, 6*time.Hour
	joined := members >= 0.95
	changing := members < 0.15 || joined
	c.Second = time.Second
	if changing {
		latency, step = time.Second/5, 2*time.Minute
	}
	c.Latency = d.of("latency").between(c.Second/1000, latency)
	c.Step = d.of("step").between(c.Second, step)
	c.Sync = d.of("sync").between(c.Second/1000, 10*c.Second)
	c.Heartbeat = max(5*c.Second, 10*c.Latency, d.of("heartbeat").between(c.Step/20, c.Step))
	c.SilentAfter = c.Heartbeat * time.Duration(3+d.of("silent").below(4))
	c.Grace = d.of("grace").between(c.SilentAfter, 4*c.SilentAfter)
	c.Unmasked = d.of("masks").chance(0.2)
	c.Calm = d.of("calm").between(c.usual()/2, 4*c.usual())
	c.Pause = d.of("pause").between(c.Calm/20, c.Calm)
	c.Patience = d.of("patience").between(4*c.SilentAfter, 12*c.SilentAfter)
	if c.Hasty = !changing && d.of("hasty").chance(0.1); !c.Hasty {
		c.Patience += c.Calm + time.Hour // no fault lasts longer, nor does a restart
	}
	// After the last fault an agent may have all to do again, and each return makes others wait,
	// redial and go back.
	c.Limit = 10*c.usual() + 50*c.SilentAfter + 2*c.Patience + 12*time.Hour
	if changing {
		c.drawMembers(d.of("council"))
	}
	if joined {
		c.drawNewcomers(d.of("newcomers"))
	}
	return c
}

// usual is about what a run without faults takes.
func (c Case) usual() time.Duration { return 10*c.Step + 2000*c.Latency }

// linger is for how long an agent that has finished is there for the others.
func (c Case) linger() time.Duration {
	if c.Quorum > 0 {
		return c.AbsentAfter
	}
	return c.Patience
}

// drawMembers makes a case one of a run whose members may change.
func (c *Case) drawMembers(d draw) {
	c.Agents = among(d.of("agents"), 3, 3, 4, 5, 5, 8)
	c.Quorum = c.Agents/2 + 1 + d.of("quorum").below((c.Agents+1)/2-1)
	c.Flags[0] = fmt.Sprintf("-agents=%d", c.Agents)
	c.Flags[1] = "-graph=" + among(d.of("graph"), "complete", "complete", "ring", "exponential", "star")
	if d.of("stragglers").chance(0.4) { // silence is noticed sooner, so that they are too
		c.Heartbeat = max(5*c.Second, 10*c.Latency, d.of("heartbeat").between(c.Step/40, c.Step/10))
		c.SilentAfter = 3 * c.Heartbeat
		c.StragglerDeadline = d.of("deadline").between(c.SilentAfter+c.SilentAfter/10, 2*c.SilentAfter+c.Step)
		c.Limit += 200 * c.StragglerDeadline
	}
	c.AbsentAfter = d.of("absent").between(c.SilentAfter+c.SilentAfter/10, 2*c.SilentAfter+c.Calm/10)
	c.Limit += 100 * c.AbsentAfter
}

// mostNewcomers is the largest number of agents that are admitted to a run whose case is drawn.
const mostNewcomers = 2

// drawNewcomers has a case's run, whose members may change, admit agents. The quorum is more than
// half of all.
func (c *Case) drawNewcomers(d draw) {
	n := 1 + d.of("number").below(mostNewcomers)
	c.Quorum = max(c.Quorum, (c.Agents+n)/2+1)
	for k := range n {
		c.Newcomers = append(c.Newcomers, c.drawNewcomer(d.of("newcomer", int64(k)), c.Agents+k))
	}
}

// drawNewcomer draws an agent that is admitted.
func (c *Case) drawNewcomer(d draw, agent int) newcomer {
	n := newcomer{at: d.of("at").between(c.Calm/50, 3*c.Calm), lost: -1}
	for j := range c.Agents {
		if d.of("beside", int64(j)).chance(0.4) {
			n.neighbours = append(n.neighbours, j)
		}
	}
	if len(n.neighbours) == 0 {
		n.neighbours = []int{d.of("one").below(c.Agents)}
	}
	if d.of("losses").chance(0.5) {
		n.lost = among(d.of("lost"), append(slices.Clone(n.neighbours), agent, agent)...)
		n.after, n.down = d.of("after").between(c.Second, c.AbsentAfter),
			d.of("down").between(c.Second, 2*c.AbsentAfter)
	}
	return n
}

// begin is when virtual time begins.
var begin = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// A weather is what the network of a case does to bytes: each link has delays of its own that
// change every few seconds, and some stretches of time are bad.
type weather struct {
	of     draw
	usual  time.Duration
	period time.Duration
}

// Delay implements testkit's.
func (w weather) Delay(from, to string, bytes int, at time.Time) time.Duration {
	since := at.Sub(begin)
	d := w.of.of(from).of(to)
	delay := d.of("moment", int64(since)).between(w.usual/10, w.usual)
	if d.of("stretch", int64(since/w.period)).chance(0.1) {
		delay *= 5
	}
	// A megabyte a second, in whole blocks: signatures in handshakes are now a byte shorter,
	// now longer.
	return delay + time.Duration(bytes>>14)*16*time.Millisecond
}
