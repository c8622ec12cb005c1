package membership

import (
	"fmt"
	"slices"
)

// An Epoch is the part of a run in which its members stay the same.
type Epoch struct {
	Number    int
	Iteration int    // iterations done when it begins
	Session   uint64 // the session that began it; 0: the first epoch, or an older run
	ID        string // of that session
	Members   []int  // numbers of agents, ascending
	Lost      []int  // the members that were members before, and have lost their state
	Edges     Edges  // what admissions have added to the roster's graph so far
	Cut       Edges  // edges between members that are not used
}

// First returns epoch 0 of a roster of n agents: all are members.
func First(n int) Epoch { return Epoch{Members: everybody(n)} }

// At returns the epoch of that number, of a run whose roster has n agents at the start. The slices
// are views of the log, but for Edges. The log must be valid for n ([Log.Validate]), and have the
// epoch.
func (l Log) At(epoch, n int) (Epoch, error) {
	if epoch < 0 || epoch > len(l) {
		return Epoch{}, fmt.Errorf("the membership log must have epoch %d; it has 0 to %d", epoch, len(l))
	}
	if epoch == 0 {
		return First(n), nil
	}
	c := l[epoch-1]
	e := Epoch{Number: epoch, Iteration: c.Iteration, Session: c.Session, ID: c.ID, Members: c.Members, Lost: c.Lost,
		Cut: c.Cut}
	for _, change := range l[:epoch] { // an admission is good for all later epochs
		e.Edges = append(e.Edges, change.Edges...)
	}
	return e, nil
}

// Last returns the newest epoch of a valid log of a run whose roster has n agents at the start.
func (l Log) Last(n int) Epoch {
	e, _ := l.At(len(l), n) // there is one
	return e
}

// Roster returns how many agents the roster has with those that the log admits: one more than the
// highest number.
func (l Log) Roster(n int) int {
	for _, c := range l {
		for _, e := range c.Edges {
			n = max(n, e[1]+1)
		}
	}
	return n
}

// Position returns the place of an agent among the members, and false if it is none.
func (e Epoch) Position(agent int) (int, bool) { return slices.BinarySearch(e.Members, agent) }

// StateKept reports whether an agent goes from the epoch before into e with its state: it is a
// member of both, and has not lost it.
func (e Epoch) StateKept(before Epoch, agent int) bool {
	_, was := before.Position(agent)
	_, is := e.Position(agent)
	return was && is && !slices.Contains(e.Lost, agent)
}

// StateKept reports whether an agent goes from one epoch to a later one, or to the same, with its
// state, in a run whose roster has n agents at the start.
func (l Log) StateKept(from, to, agent, n int) bool {
	before, err := l.At(from, n)
	_, kept := before.Position(agent)
	for number := from + 1; number <= to && kept && err == nil; number++ {
		var e Epoch
		e, err = l.At(number, n)
		kept, before = e.StateKept(before, agent), e
	}
	return kept && err == nil // an epoch that the log does not have is an error
}

func everybody(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// An Admission lets an agent that is not in the cluster file join a running run: an authority has
// signed its number, its neighbours, and the run.
type Admission struct {
	Agent      int
	Neighbours []int // agents of the cluster file, ascending; the admitted one connects to them
}

// MaxWarrant bounds the signed text of an admission or a removal, in bytes.
const MaxWarrant = 1024
