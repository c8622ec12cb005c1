package simulate

import (
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dsbo"
	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/grpc"
	"dsbo/network/membership"
)

var longLies = flag.Bool("lies", false, "whether TestLies runs the seeds whose runs take long too")

// TestLies: whatever lies members tell beside all else that happens, those that are honest end with
// the right bits, and an error of theirs that another agent is to blame for names a liar. In a
// worker of a campaign it runs the seeds that it is told, quick ones (drawQuickLies). Else it takes
// seeds that have failed once, and with -lies also the five of them whose runs take long:
//   - 4040: a member that sends vectors and no heartbeats to one neighbour was left out and let in
//     again for ever, and all went back each time.
//   - 20004566: old news of a failure that was a lie went round among processes that had begun
//     since, and who was to have failed refused the agents to which it had been told.
//   - 20009880: agents named an honest neighbour that waited for a liar, as that had sent them what
//     it kept from the neighbour.
//   - 20015993: a key that a liar had not passed on for a time came no more.
//   - 40001627: agents 0, which lies, and 3 waited for each other at the end, and the others took 3
//     for what held them up, without which there was no quorum.
//   - 41003375, 41003531: a liar kept back a vector that it had sent in its own eyes, and the news
//     that another agent computed went round between it and its neighbour for ever.
//   - 42007810: a process that lied had sent a neighbour a vector that this one had not looked at
//     when it went back, and of which the next process, which lied no more, was held to repeat it.
//   - 44009274: a member said that all had finished, and was killed before it knew. All had, and
//     left; of the liar nobody is waited for to that end.
//   - 46004971: a liar said that all neighbours of agent 2 were slow, so that their word for it did
//     not count, and that it was too: its being left out was proposed for ever, without the votes.
//   - 46010719: a member that sent each heartbeat a hundred times was killed as the others had
//     ended.
//   - 46040613: a reduction whose words were here as a liar's fault ended the run did not wait for
//     the empty vectors of the others, and took one of an honest agent, of two exchanges before,
//     for its fault.
//   - 46077261: an agent that had asked for promises, and knew then that all had finished, proposed
//     what they asked for: to leave the liar out, as another agent had left the run that all had
//     finished. Their logs differed by it.
//   - 46219648: an agent that asked to come in too late heard nobody but the liar, ended, and was
//     held to name it, though the others had finished, as it said.
func TestLies(t *testing.T) {
	switch {
	case os.Getenv(WorkerVariable) != "":
		testkit.OK(Work(t, os.Stdin, os.Stdout, drawQuickLies))
		return
	case !testing.Short():
		for _, seed := range []uint64{4040, 20004566, 20009880, 20015993} {
			endsAsItMust(t, drawLies(seed, usual))
		}
		for _, seed := range []uint64{41003375, 41003531, 46010719, 46040613, 46077261} {
			endsAsItMust(t, drawQuickLies(seed))
		}
	}
	if *longLies {
		for _, seed := range []uint64{40001627, 42007810, 44009274, 46004971, 46219648} {
			endsAsItMust(t, drawQuickLies(seed))
		}
	}
	count := 8
	if testing.Short() {
		count = 2
	}
	for seed, done := uint64(0), 0; done < count; seed++ {
		if c := drawLies(seed, usual); c.Agents <= 3 && draw(num.SplitMix(seed)).of("lies").chance(0.2) {
			endsAsItMust(t, c)
			done++
		}
	}
}

// TestBlames: an honest agent that ends by another one's fault has to name a liar, unless it hears
// nobody as others have ended that are honest.
func TestBlames(t *testing.T) {
	for name, c := range map[string]struct {
		agent, ended int
		err          error
		blames       bool
	}{
		"a liar is named":             {1, 2, fmt.Errorf("agent 0 lies: %w", dsbo.ErrPeer), false},
		"another one is":              {1, 2, fmt.Errorf("agent 3 lies: %w", dsbo.ErrPeer), true},
		"nobody is":                   {1, 2, fmt.Errorf("a lie: %w", dsbo.ErrPeer), true},
		"of a liar":                   {0, 2, fmt.Errorf("agent 3 lies: %w", dsbo.ErrPeer), false},
		"its own":                     {1, 2, io.ErrShortWrite, false},
		"silence, and one has ended":  {1, 2, &network.SilentError{}, false},
		"silence, and the liar has":   {1, 0, &network.SilentError{}, true},
		"silence of the liar by name": {1, 0, fmt.Errorf("agent 0: %w", &network.SilentError{}), false},
	} {
		w := &world{Case: Case{Agents: 4, Liars: []int{0}}, ended: map[int]bool{c.ended: true}}
		if got := (&machine{world: w, agent: c.agent}).blames(c.err); (got != nil) != c.blames {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestKindsOfLies: the lies are 40 and more, each of its own name and about frames that there are.
// A run of three meets most kinds of them.
func TestKindsOfLies(t *testing.T) {
	named := map[string]bool{}
	for _, l := range allLies {
		if named[l.name] || l.of > piece {
			t.Errorf("%q of frames of kind %d must be the only lie of that name, of a kind that there is", l.name, l.of)
		}
		named[l.name] = true
	}
	if len(allLies) < 40 {
		t.Errorf("there are %d lies; there must be 40", len(allLies))
	}
	c := dsoba(16).few(3, 2, "complete")
	c.Liars, c.lies, c.AbsentAfter = []int{0}, newLiars(), 20*time.Second
	script(t, c, func(w *world) {
		time.Sleep(20 * time.Second)
		w.machines[2].crash(true, 40*time.Second)
	}, func(t *testing.T, w *world) {
		for _, k := range []kind{vector, alive, key, control, epoch} {
			if !w.lies.(*liars).of(w.machines[0]).heard[k] {
				t.Errorf("agent 0 sends no frame of kind %d", k)
			}
		}
	})
}

// TestParted: a liar keeps honest agents from the end of others for good only where no edges of
// honest agents join them, and some have left.
func TestParted(t *testing.T) {
	for name, c := range map[string]struct {
		graph string
		liar  int
		ended map[int]bool
		want  bool
	}{
		"hub":           {"star", 0, map[int]bool{3: true}, true},
		"all are there": {"star", 0, map[int]bool{0: true}, false},
		"leaf":          {"star", 1, map[int]bool{3: true}, false},
		"ring":          {"ring", 0, map[int]bool{3: true}, false},
	} {
		w := &world{Case: Case{Agents: 5, Flags: []string{"-agents=5", "-graph=" + c.graph},
			Liars: []int{c.liar}}, ended: c.ended}
		if got := w.parted(); got != c.want {
			t.Errorf("%s: parted is %t", name, got)
		}
	}
}

// drawLies returns the case of a seed in which an agent lies, or where members change as many as a
// quorum can do without.
func drawLies(seed uint64, s span) Case {
	c, d := s.draw(seed), draw(num.SplitMix(seed)).of("liars")
	c.lies = newLiars()
	most := 1
	if c.Quorum > 0 {
		most = max(1, c.Agents-c.Quorum)
	}
	first := d.of("first").below(c.Agents)
	for k := range 1 + d.of("number").below(most) {
		c.Liars = append(c.Liars, (first+k)%c.Agents)
	}
	// The others go on without it: they must be joined by edges.
	c.Endless = c.Quorum > 0 && slices.Contains(c.Flags, "-graph=complete") && d.of("endless").chance(0.5)
	for k, n := range c.Newcomers {
		if c.Endless && !slices.ContainsFunc(n.neighbours, func(i int) bool { return i != first }) {
			c.Newcomers[k].neighbours = append(n.neighbours, (first+1)%c.Agents)
			slices.Sort(c.Newcomers[k].neighbours)
		}
	}
	// Each lie may end the run, which begins again, or have others wait until they are patient no
	// more.
	c.Limit += 20*c.Patience + 20*c.Calm
	return c
}

// drawQuickLies is drawLies where runs whose members may change take a tenth of the time and have
// eight agents at the start in one of 41. In a council everybody repeats what holds it up after a
// tenth of AbsentAfter, or each second if that is shorter, and everybody passes it on: as a rule it
// said one thing hundreds of times. Budgets of delays are a tenth too. One such run in 20 is one of
// drawLies. All else is the same.
func drawQuickLies(seed uint64) Case {
	if draw(num.SplitMix(seed)).of("long").chance(0.05) {
		return drawLies(seed, usual)
	}
	c := drawLies(seed, span{time.Second / 10, append(slices.Repeat([]int{3, 3, 4, 5, 5}, 8), 8)})
	if c.Quorum > 0 {
		c.DelayBudget = max(3*time.Minute, 10*c.AbsentAfter)
	}
	return c
}

// liars play lies.
type liars struct {
	mu    sync.Mutex
	agent map[*machine]*lying
}

func newLiars() *liars { return &liars{agent: map[*machine]*lying{}} }

// of returns what a liar tells, and has told.
func (l *liars) of(m *machine) *lying {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.agent[m] == nil {
		l.agent[m] = &lying{told: map[lieTo]int{}, sent: map[int][][]byte{}, due: map[int]uint64{},
			heard: map[kind]bool{}}
	}
	return l.agent[m]
}

func (l *liars) sender(p *process, to int, s grpc.Sender) grpc.Sender {
	return &liar{Sender: s, process: p, lying: l.of(p.machine), to: to}
}

func (l *liars) fault(w *world, d draw) fault { return w.falsehood(d, among(d.of("liar"), w.Liars...)) }

func (l *liars) endless(ctx, over context.Context, w *world) {
	d := w.draw.of("endless")
	liar := w.Liars[0]
	f, more := w.falsehood(d, liar), sleep(ctx, d.of("begins").between(w.Second, w.Calm))
	for more && slices.ContainsFunc(w.machines[:w.Agents], (*machine).isNew) {
		more = sleep(ctx, w.Second) // all are waited for until each has a checkpoint
	}
	if !more {
		return
	}
	w.trace.note("fault: %s, to the end", f.text)
	w.machines[liar].forgone.Store(true)
	f.begin()
	for sleep(over, 10*w.AbsentAfter) {
		e := w.newestEpoch()
		honest := slices.DeleteFunc(slices.Clone(e.Members), func(i int) bool { return i == liar })
		if len(honest) < len(e.Members) && len(honest) < w.Quorum {
			w.trace.note("end of: %s", f.text)
			f.end()
			return
		}
	}
}

// isNew reports whether no checkpoint is seen on the machine's drive.
func (m *machine) isNew() bool {
	files, err := m.drive.now()
	if err != nil {
		return true
	}
	entries, _ := files.ReadDir(m.dir) // there is none at the start
	return !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), "checkpoint.") })
}

// newestEpoch returns the newest epoch that any agent knows whose process has opened its exchange.
func (w *world) newestEpoch() (newest membership.Epoch) {
	for _, m := range w.machines {
		if p := m.process(); p != nil && p.exchange() != nil {
			if e := p.exchange().Changes().Last(w.Agents); e.Number >= newest.Number {
				newest = e
			}
		}
	}
	return newest
}

// process returns the present one, nil if there is none.
func (m *machine) process() *process {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}
