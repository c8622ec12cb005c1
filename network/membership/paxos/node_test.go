package paxos_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network/membership"
	"dsbo/network/membership/paxos"
)

const (
	patience = 100 * time.Millisecond
	tick     = patience / 4
	absent   = 10 * tick
)

// errCrash is what the disk of an agent returns as it crashes.
var errCrash = errors.New("crash")

// A world is a run of agents whose time, network and faults are drawn from a seed.
type world struct {
	t       *testing.T
	draw    *rand.Rand
	now     time.Time
	sites   []*site
	edges   membership.Edges
	cut     map[[2]int]bool
	faulty  bool
	queue   []delivery
	spare   []delivery                // the memory of the queue before
	decided map[int]membership.Digest // the line of each epoch's change
	quorum  int
	every   int // iterations between checkpoints
}

// A delivery is a message on its way.
type delivery struct {
	at      time.Time
	to      int
	message *paxos.Message // which its sender has signed
}

func newWorld(t *testing.T, seed uint64, n, quorum int, edges membership.Edges) *world {
	w := &world{t: t, draw: rand.New(rand.NewPCG(seed, 13)), now: time.Unix(0, 0), edges: edges,
		quorum: quorum, every: 3,
		cut: map[[2]int]bool{}, decided: map[int]membership.Digest{}}
	for i := range n {
		s := &site{w: w, agent: i, points: []checkpoint{{}}}
		w.sites = append(w.sites, s)
		s.start()
	}
	return w
}

// crashing writes to a site's disk, unless it crashes before, and at times it crashes after.
func (w *world) crashing(s *site, write func()) error {
	if !w.faulty || w.draw.IntN(100) > 1 {
		write()
		return nil
	}
	if w.draw.IntN(2) == 0 {
		write()
	}
	s.seat = nil
	return errCrash
}

// up reports whether two sites hear each other over an edge.
func (w *world) up(e [2]int) bool {
	return !w.cut[e] && w.sites[e[0]].seat != nil && w.sites[e[1]].seat != nil
}

// reach returns which sites a message of one gets to.
func (w *world) reach(from int) []bool {
	reached := make([]bool, len(w.sites))
	reached[from] = true
	for again := true; again; {
		again = false
		for _, e := range w.edges {
			if w.up(e) && reached[e[0]] != reached[e[1]] {
				reached[e[0]], reached[e[1]], again = true, true, true
			}
		}
	}
	return reached
}

// steps lets ticks pass.
func (w *world) steps(n int) {
	for range n {
		w.step()
	}
}

// step lets a tick pass.
func (w *world) step() {
	w.now = w.now.Add(tick)
	for _, e := range w.edges {
		if w.up(e) {
			w.sites[e[0]].heard[e[1]], w.sites[e[1]].heard[e[0]] = w.now, w.now
		}
	}
	due := w.queue
	w.queue, w.spare = w.spare[:0], due
	for _, d := range due {
		switch s := w.sites[d.to]; {
		case d.at.After(w.now):
			w.queue = append(w.queue, d)
		case s.seat != nil:
			w.after(s, s.seat.Receive(w.now, *d.message))
		}
	}
	for _, s := range w.sites {
		if s.seat != nil {
			s.seat.SetLost(s.lost)
			w.after(s, s.seat.Tick(w.now, paxos.Observation{Down: w.down(s), Ready: true, Saved: s.saved()}))
		}
	}
	w.advance()
}

// down returns the neighbours that a site has not heard for long.
func (w *world) down(s *site) (down []int) {
	for _, e := range w.edges {
		for k := range 2 {
			if e[k] == s.agent && w.now.Sub(s.heard[e[1-k]]) > absent {
				down = append(down, e[1-k])
			}
		}
	}
	slices.Sort(down)
	return down
}

// after sends what a site has to say and takes in what is decided.
func (w *world) after(s *site, err error) {
	if s.seat == nil {
		return
	}
	if err != nil {
		w.t.Fatalf("agent %d: %v", s.agent, err)
	}
	for _, c := range s.seat.Changes() {
		w.begin(s, c)
	}
	messages := s.seat.Messages()
	if s.lies != nil {
		var lies []paxos.Message
		for _, m := range messages {
			lies = append(lies, s.lies(m)...)
		}
		messages = lies
	}
	for _, m := range messages {
		if m.ID%8 == 0 || s.lies != nil { // each takes longer than all else
			read, err := paxos.ParseMessage(m.Encode(), len(w.sites))
			if err != nil && s.lies != nil {
				continue
			}
			testkit.OK(err)
			testkit.OK(s.seat.Verify(w.now, read)) // by all that get it, as they have one council
			m = read
		}
		for to, gets := range w.reach(s.agent) {
			if to == s.agent || !gets || w.faulty && w.draw.IntN(5) == 0 {
				continue
			}
			copies := 1
			if w.faulty && w.draw.IntN(10) == 0 {
				copies = 3
			}
			for range copies {
				late := time.Duration(0)
				if w.faulty {
					late = time.Duration(w.draw.IntN([]int{8, 8, 8, 8, 200}[w.draw.IntN(5)])) * tick
				}
				w.queue = append(w.queue, delivery{w.now.Add(late), to, &m})
			}
		}
	}
}

// begin has a site go on in a new epoch, and checks what must hold of that.
func (w *world) begin(s *site, c membership.Change) {
	if before, known := w.decided[c.Epoch]; known && before != c.Digest() {
		w.t.Fatalf("epoch %d begins with\n%s at agent %d, and with\n%x elsewhere", c.Epoch, c.Line(), s.agent, before)
	}
	if _, known := w.decided[c.Epoch]; !known {
		w.decided[c.Epoch] = c.Digest()
	}
	s.resume()
	point := paxos.Point{Iteration: c.Iteration, Round: c.Round}
	if newest := c.Epoch == len(s.log); newest && s.forgot < c.Epoch &&
		s.log.StateKept(c.Epoch-1, c.Epoch, s.agent, founders) && !slices.Contains(s.good(), point) {
		w.t.Fatalf("agent %d has no checkpoint %+v, with which epoch %d begins; it has %+v", s.agent, point,
			c.Epoch, s.points)
	}
}

// advance lets the sites that do not stand still do an iteration, in step with their neighbours.
func (w *world) advance() {
	before := make([]int, len(w.sites))
	for i, s := range w.sites {
		before[i] = s.iteration
	}
	for _, s := range w.sites {
		if s.seat == nil || s.lost || s.seat.Held(w.now) || !w.together(s, before) {
			continue
		}
		s.iteration++
		if s.iteration%w.every == 0 {
			s.save()
		}
	}
}

// together reports whether a site has the vectors of its neighbours for another iteration.
func (w *world) together(s *site, before []int) bool {
	epoch := s.seat.Epoch()
	if _, member := epoch.Position(s.agent); !member {
		return false
	}
	for _, e := range slices.Concat(w.edges) {
		if e[0] != s.agent && e[1] != s.agent || slices.Contains(epoch.Cut, e) {
			continue
		}
		other := w.sites[e[0]+e[1]-s.agent]
		if _, member := epoch.Position(other.agent); !member {
			continue
		}
		if !w.up(e) || other.lost || other.seat.Epoch().Number != epoch.Number ||
			before[other.agent] < before[s.agent] {
			return false
		}
	}
	return true
}

// fault does one random thing to the world.
func (w *world) fault() {
	s, e := w.sites[w.draw.IntN(len(w.sites))], w.edges[w.draw.IntN(len(w.edges))]
	switch w.draw.IntN(8) {
	case 0:
		s.seat = nil
	case 1, 2:
		if s.seat == nil {
			s.start()
		}
	case 3:
		w.cut[e] = !w.cut[e]
	case 4:
		w.part(w.draw.IntN(len(w.sites)))
	case 5:
		clear(w.cut)
	case 6:
		s.goBack()
	case 7: // any two quorums share two agents, so that one may lose its votes
		w.sites[forgetful].erase()
	}
}

// fail lets 300 ticks pass, with a fault every so often.
func (w *world) fail(every int) {
	w.faulty = true
	for range 300 {
		if w.draw.IntN(every) == 0 {
			w.fault()
		}
		w.step()
	}
}

// part cuts all edges between the agents below one and the others.
func (w *world) part(agent int) {
	for _, e := range w.edges {
		w.cut[e] = (e[0] < agent) != (e[1] < agent)
	}
}

// heal ends all faults.
func (w *world) heal() {
	w.faulty = false
	clear(w.cut)
	for _, s := range w.sites {
		if s.seat == nil {
			s.start()
		}
	}
}

const (
	founders  = 8
	forgetful = 6 // the agent that may lose its disk
)

// iterations returns the fewest and the most iterations of the sites that are up.
func (w *world) iterations() (least, most int) {
	least = math.MaxInt
	for _, s := range w.sites {
		if s.seat != nil {
			least, most = min(least, s.iteration), max(most, s.iteration)
		}
	}
	return least, most
}

// describe logs where the sites that are up stand.
func (w *world) describe() {
	for _, s := range w.sites {
		if s.seat != nil {
			w.t.Logf("%d: %d %v %v %s", s.agent, s.iteration, s.seat.Held(w.now), s.seat.Epoch(), s.seat.Waiting())
		}
	}
}

// settled returns an error, which says why, unless all sites are members of one epoch.
func (w *world) settled() error {
	for _, s := range w.sites {
		if e := s.seat.Epoch(); len(e.Members) < len(w.sites) || e.Number != w.sites[0].seat.Epoch().Number {
			return fmt.Errorf("agent %d is in epoch %d of %v; %s", s.agent, e.Number, e.Members, s.seat.Waiting())
		}
	}
	return nil
}

// TestAgreement: whatever happens, at most one change is decided for an epoch, and each leaves
// those that stay with a checkpoint; and when faults have ended, all are members again and the
// iterations go on.
func TestAgreement(t *testing.T) {
	search(t, 10, 40, agree)
}

// agree has agents go on while the world fails, and then go on together.
func agree(t *testing.T, seed uint64) (changes int) {
	w := newWorld(t, seed, founders, 5, wheel(founders))
	if seed%2 == 1 { // agents may be further from each other than their checkpoints reach
		w = newWorld(t, seed, founders, 5, ring(founders))
		w.every = 1
	}
	w.fail(10)
	w.heal()
	err := errors.New("not begun")
	for k := 0; k < 400 && err != nil; k++ {
		w.step()
		err = w.settled()
	}
	if err != nil {
		t.Fatalf("seed %d: 100 patiences after the last fault: %v", seed, err)
	}
	_, most := w.iterations()
	least := 0
	for k := 0; k < 400 && (least <= most || len(w.queue) > 0); k++ { // some do again what they had done
		w.step()
		least, _ = w.iterations()
	}
	if least <= most {
		w.describe()
		t.Fatalf("seed %d: no iteration of all after the last change", seed)
	}
	return len(w.decided)
}

// TestHalves: of two parts the one with the quorum goes on alone, and neither does where none has
// it; healed, all are members again.
func TestHalves(t *testing.T) {
	for _, tt := range []struct{ below, on int }{{4, 0}, {5, 5}, {3, 5}, {2, 6}} {
		w := newWorld(t, 1, founders, 5, wheel(founders))
		w.part(tt.below)
		w.steps(100)
		for _, s := range w.sites {
			e := s.seat.Epoch()
			_, member := e.Position(s.agent)
			larger := (s.agent < tt.below) == (tt.below > 4)
			if on := e.Number > 0; on != (tt.on > 0 && larger) || on && (!member || len(e.Members) != tt.on) {
				t.Errorf("%d | %d: agent %d is in epoch %d of %v", tt.below, founders-tt.below, s.agent,
					e.Number, e.Members)
			}
			if waits := s.seat.Waiting() != ""; waits && tt.on > 0 && larger {
				t.Errorf("%d | %d: agent %d waits: %s", tt.below, founders-tt.below, s.agent, s.seat.Waiting())
			}
		}
		w.heal()
		w.steps(200)
		if err := w.settled(); err != nil && tt.on > 0 {
			t.Errorf("%d | %d, healed: %v", tt.below, founders-tt.below, err)
		}
	}
}
