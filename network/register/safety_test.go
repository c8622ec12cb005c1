package register

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network"
)

// enough is a number of schedules among which there is one for each planted bug.
const enough = 12000

// A bug is one that is planted into the agents of a schedule.
type bug string

const (
	none          bug = ""
	notOnDisk     bug = "what an agent promises and begins is not on its disk"
	promiseLost   bug = "a promise alone is not on the disk"
	takesBack     bug = "an agent answers numbers below what it has promised"
	noResultRule  bug = "the rule for results is dropped"
	tooEarly      bug = "a session begins before all members have begun it"
	lastTooEarly  bug = "an agent that enters writes the session before what it takes over"
	freshCounts   bug = "fresh agents count towards the quorum"
	writesTooLate bug = "a checkpoint is written after a promise"
	keyStays      bug = "an agent begins two sessions of one number with one key"
)

const (
	crowd, needed = 5, 3
	horizon       = 10 // iterations
)

// A site is an agent of a schedule: its disk, and its process.
type site struct {
	State
	before   State // the session before
	points   map[Point]bool
	instance uint64
	keyFor   uint64 // the number for which it has a key; 0: none
	in       *chain // the session that it is in
}

// A chain is a session of a schedule: what one begin has told its members.
type chain struct {
	Session
	reached int
	passed  bool // its first barrier
}

// A letter is a begin on its way to an agent.
type letter struct {
	to int
	x  *chain
}

// A world is agents, and what a schedule has seen of them.
type world struct {
	*rand.Rand
	bug
	rule    Rule
	sites   [crowd]*site
	letters []letter
	lost    map[int]bool        // agents that have lost a disk
	final   map[uint64]bool     // epochs of which a quorum has the result
	logs    [][]byte            // of sessions that have passed their barrier
	newest  uint64              // of these
	owners  map[[32]byte]uint64 // of ids
	keys    map[string][32]byte // sessions in which keys are
	lines   int
	wrong   string
}

// complete has an edge between each two agents, so that any three can compute.
var complete = testkit.Get(network.New("complete", crowd, network.Options{}))

func newWorld(seed uint64, planted bug) *world {
	w := &world{Rand: rand.New(rand.NewPCG(seed, 3)), bug: planted, lost: map[int]bool{}, final: map[uint64]bool{},
		owners: map[[32]byte]uint64{}, keys: map[string][32]byte{}}
	w.rule = Rule{Run: "run", Matrix: complete.W, Quorum: needed}
	for i := range w.sites {
		w.sites[i] = &site{points: map[Point]bool{}}
	}
	return w
}

// step has one thing happen to agent i.
func (w *world) step(i int) {
	s := w.sites[i]
	switch w.IntN(12) {
	case 0:
		w.propose(i)
	case 1, 2, 3, 4:
		for range min(3, len(w.letters)) {
			k := max(0, len(w.letters)-1-w.IntN(8))
			w.begin(w.letters[k])
			w.letters = slices.Delete(w.letters, k, k+1)
		}
	case 5, 6, 7:
		w.compute(i)
	case 8, 9:
		w.write(s.in)
	case 10: // killed
		switch w.bug {
		case notOnDisk:
			s.State = s.before
		case promiseLost:
			s.Promised = s.Last
		}
		s.in, s.keyFor, s.instance = nil, 0, w.Uint64()
	case 11: // its disk is lost
		if len(w.lost) < crowd-needed && w.IntN(4) == 0 || w.lost[i] && w.IntN(8) == 0 {
			w.lost[i] = true
			w.sites[i] = &site{points: map[Point]bool{}, instance: w.Uint64()}
		}
	}
}

// propose has agent i propose a session to some, and send begins with the answers that arrive. A
// proposer that lies sends two.
func (w *world) propose(i int) {
	number := w.sites[i].Next(w.sites[w.IntN(crowd)].Promised, i)
	var answers []Answer
	for j := range w.sites {
		if a, ok := w.answer(j, number); (j == i || w.IntN(4) > 0) && ok && (j == i || w.IntN(8) > 0) {
			answers = append(answers, a)
		}
	}
	for copies := 1 + w.IntN(8)/7; copies > 0; copies-- {
		x, err := Decide(w.rule, answers)
		if err != nil {
			return
		}
		if number, twice := w.owners[x.ID]; twice && number != x.Number {
			w.wrong = fmt.Sprintf("sessions %d and %d have one id", number, x.Number)
		}
		w.owners[x.ID] = x.Number
		told := &chain{Session: x, reached: max(0, x.Begin.Iteration)}
		for _, j := range x.Epoch.Members {
			w.letters = append(w.letters, letter{j, told})
		}
		answers = slices.Delete(answers, w.IntN(len(answers)), len(answers))
	}
}

// answer has agent j promise a number.
func (w *world) answer(j int, number uint64) (a Answer, ok bool) {
	s := w.sites[j]
	if w.bug == takesBack {
		s.Promised = min(s.Promised, number-1)
	}
	if ok = s.Promise(number); !ok {
		return a, false
	}
	if s.keyFor = number; w.bug != writesTooLate {
		s.in = nil
	}
	a = Answer{Agent: j, Number: number, Last: s.Last, Log: s.Log, Links: complete.W.Neighbours(j),
		Key: fmt.Append(nil, w.Uint64()), Instance: s.instance, Time: time.Unix(0, 0).UTC(), Tags: s.Tags}
	for p := range s.points {
		if w.bug != noResultRule || p.Iteration != Result {
			a.Points = append(a.Points, p)
		}
	}
	slices.SortFunc(a.Points, func(p, q Point) int {
		return cmp.Or(cmp.Compare(p.Epoch, q.Epoch), cmp.Compare(p.Iteration, q.Iteration))
	})
	if w.bug == freshCounts {
		a.Last = max(a.Last, 1)
	}
	return a, true
}

// begin has an agent begin a session, if it may. One that enters writes nothing yet.
func (w *world) begin(l letter) {
	s, x := w.sites[l.to], l.x
	if s.Promised != x.Number || s.keyFor != x.Number && (w.bug != keyStays || s.in == nil) {
		return
	}
	k, _ := x.Epoch.Position(l.to)
	key := string(x.Keys[k])
	if id, used := w.keys[key]; used && id != x.ID {
		w.wrong = fmt.Sprintf("one key of agent %d is in two sessions", l.to)
	}
	w.keys[key] = x.ID
	s.keyFor, s.in = 0, x
	if !slices.Contains(x.Entering, l.to) || w.bug == lastTooEarly {
		w.join(s, x, !slices.Contains(x.Entering, l.to))
	}
}

// join has a site write that it has begun a session, and its first checkpoint if it has one.
func (w *world) join(s *site, x *chain, has bool) {
	s.before = s.State
	s.Begin(x.Session, 0)
	if has {
		s.points[Point{Epoch: x.Epoch.Session, Iteration: max(0, x.Begin.Iteration)}] = true
	}
}

// compute has the session of agent i go on, once all of its members have begun it.
func (w *world) compute(i int) {
	x := w.sites[i].in
	if x == nil {
		return
	}
	begun := func(j int) bool { return w.sites[j].in == x }
	if w.bug != tooEarly && !all(x.Epoch.Members, begun) {
		return
	}
	if !x.passed {
		if s := w.sites[i]; slices.Contains(x.Entering, i) && s.Last != x.Number { // it takes over what it lacks
			w.join(s, x, true)
		}
		if w.bug != tooEarly && !all(x.Epoch.Members, func(j int) bool { return w.sites[j].Last == x.Number }) {
			return
		}
		w.pass(x)
	}
	if w.newest > x.Number {
		w.wrong = fmt.Sprintf("session %d computes after session %d", x.Number, w.newest)
	}
	if x.reached < horizon {
		x.reached += 5 * (1 + w.IntN(2))
	}
}

// pass has a session pass its first barrier: the lines with which sessions have computed stay.
func (w *world) pass(x *chain) {
	x.passed, w.newest = true, max(w.newest, x.Number)
	for _, j := range x.Entering {
		if w.sites[j].in == x {
			w.join(w.sites[j], x, true)
		}
	}
	log := x.Log.Bytes()
	for _, before := range w.logs {
		if len(before) > len(log) || string(before) != string(log[:len(before)]) {
			w.wrong = fmt.Sprintf("session %d has forgotten lines: %s, before %s", x.Number, log, before)
		}
	}
	if err := x.Log.Validate(crowd, needed); err != nil {
		w.wrong = err.Error()
	}
	w.logs = append(w.logs, log)
	if len(x.Log) > 0 && x.Epoch.Session == x.Number {
		w.lines++
	}
}

// write has some members of a session write what it has reached.
func (w *world) write(x *chain) {
	if x == nil || !x.passed {
		return
	}
	for _, i := range x.Epoch.Members {
		s := w.sites[i]
		if s.in != x || s.Promised != x.Number && w.bug != writesTooLate || w.IntN(4) == 0 {
			continue
		}
		if x.reached >= horizon {
			s.points[Point{Epoch: x.Epoch.Session, Iteration: Result}] = true
			continue
		}
		s.points[Point{Epoch: x.Epoch.Session, Iteration: x.reached}] = true
		maps.DeleteFunc(s.points, func(p Point, _ bool) bool {
			return p.Epoch == x.Epoch.Session && p.Iteration < x.reached-5
		})
	}
}

// finals notes which results a quorum has.
func (w *world) finals() {
	has := map[uint64]int{}
	for _, s := range w.sites {
		for p := range s.points {
			if p.Iteration == Result {
				if has[p.Epoch]++; has[p.Epoch] >= needed {
					w.final[p.Epoch] = true
				}
			}
		}
	}
	if len(w.final) > 1 {
		w.wrong = fmt.Sprintf("the results of epochs %v are final", slices.Sorted(maps.Keys(w.final)))
	}
}

func all(agents []int, holds func(int) bool) bool {
	return !slices.ContainsFunc(agents, func(i int) bool { return !holds(i) })
}

// play runs one schedule, and returns it as it is at its end or at the first thing that is wrong.
func play(seed uint64, planted bug) *world {
	w := newWorld(seed, planted)
	for steps := 300; steps > 0 && w.wrong == ""; steps-- {
		w.step(w.IntN(crowd))
		w.finals()
	}
	return w
}

// TestSafety draws schedules of promises, begins, lost messages, crashes and lost disks, with
// proposers that send two begins. Two sessions never compute at once, lines with which a session
// has computed stay, one result at most is final, and no id and no key is in two sessions.
func TestSafety(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // a schedule leaves little, but drops a lot
	count := testkit.Sized(500, 1500, 40_000)
	var passed, lines, finals int
	for seed := range count {
		w := play(uint64(seed), none)
		if w.wrong != "" {
			t.Fatalf("seed %d: %s", seed, w.wrong)
		}
		passed, lines, finals = passed+len(w.logs), lines+w.lines, finals+len(w.final)
	}
	t.Logf("%d schedules: %d sessions passed their barrier, %d lines, %d results", count, passed, lines, finals)
	if passed < count || lines < count/2 || finals < count/25 {
		t.Error("the schedules see too little")
	}
}

// TestPlantedBugs: the schedules find what an agent may do wrong. The search begins at a schedule
// that has found it, where that comes late, and ends with those before.
func TestPlantedBugs(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	for planted, from := range map[bug]int{promiseLost: 6504, notOnDisk: 0, takesBack: 0, noResultRule: 0, tooEarly: 0,
		lastTooEarly: 611, freshCounts: 135, writesTooLate: 0, keyStays: 0} {
		found := false
		for k := 0; k < enough && !found; k++ {
			seed := (from + k) % enough
			if w := play(uint64(seed), planted); w.wrong != "" {
				found = true
				t.Logf("%s: seed %d: %.100s", planted, seed, w.wrong)
			}
		}
		if !found {
			t.Errorf("%s: no schedule finds it", planted)
		}
	}
}
