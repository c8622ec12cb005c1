package site

import (
	"dsbo"
	"dsbo/network"
)

// Phases of a run, as the table of its traffic calls them.
const (
	Loading    = "loading"
	Iterations = "iterations"
	Evaluation = "evaluation"
	Models     = "models"
)

// Phases are the phases of a run, in their order.
var Phases = []string{Loading, Iterations, Evaluation, Models}

// A Range has the least and the most that a number can be.
type Range struct{ Least, Most float64 }

// Once is the range of what happens once.
var Once = Range{1, 1}

// exactly returns the range of a number that is known.
func exactly[T int | int64](n T) Range { return Range{float64(n), float64(n)} }

// Times returns the range of n things, with a number each.
func (r Range) Times(n Range) Range {
	return Range{float64(r.Least * n.Least), float64(r.Most * n.Most)}
}

func (r Range) plus(s Range) Range { return Range{r.Least + s.Least, r.Most + s.Most} }

// A Quantity is something that is made of an agent's data and leaves it in a run.
type Quantity struct {
	Phase  string       // Loading, Iterations, Evaluation or Models
	Name   string       // for people
	Way    network.Way  // how its terms leave an agent
	Length float64      // numbers, or of a text bytes; by Mix the mean of vectors of several lengths
	Wire   network.Wire // type of the numbers
	Times  Range        // how often it is sent
	With   bool         // it travels with another one, in no message of its own
	Text   string       // of a text: the first agent's
}

// Sum returns the quantity of n numbers in float64 that are summed over the agents so often.
func Sum(name string, n int, times Range) Quantity {
	return Quantity{Name: name, Length: float64(n), Times: times}
}

// Row returns the quantity of n numbers of each agent that all agents see once.
func Row(name string, n int) Quantity {
	return Quantity{Name: name, Way: network.ByRow, Length: float64(n), Times: exactly(1)}
}

// A Sending is how much all agents together send.
type Sending struct{ Bytes, Messages Range }

func (s Sending) plus(t Sending) Sending {
	return Sending{s.Bytes.plus(t.Bytes), s.Messages.plus(t.Messages)}
}

// sending returns what all agents send of a quantity in the whole run. A sum takes a second pass if
// its numbers are outside the expected range, for example a loss below 2^-108. On a narrow wire a
// vector by Mix has a scale for each block of numbers. As only the mean length is known, the least
// has no block that is not full (the bytes for each number of a long vector), and the most has one
// for each vector.
func (q Quantity) sending(w *network.Matrix, a *network.Averages) Sending {
	const many = 1 << 20 // length of a vector in which a block that is not full is negligible
	bytes, least, most := Range{}, dsbo.Traffic{}, dsbo.Traffic{}
	n, length := w.N(), int(q.Length)
	for i := range n {
		switch q.Way {
		case network.ByMix:
			sends, each := float64(w.Sends(i)), float64(float64(q.Wire.Bytes(many))/many)
			vector := float64(q.Length * each)
			longest := vector + float64(q.Wire.Bytes(1)) - each
			bytes = bytes.plus(Range{float64(sends * vector), float64(sends * longest)})
			least.Messages += int64(sends)
		case network.ByMax:
			least.Add(a.MaxCost(i, length))
		case network.ByText:
			least.Add(network.GatherTextsCost(n, length))
		case network.ByRow:
			least.Add(network.GatherCost(n, length))
		default:
			onePass, twoPasses := a.Cost(i, length, q.Wire)
			if q.With {
				onePass.Messages = 0
			}
			least.Add(onePass)
			most.Add(twoPasses)
		}
	}
	if q.Way != network.BySum { // no other way has a second pass
		most = least
	}
	bytes = bytes.plus(Range{float64(least.Bytes), float64(most.Bytes)})
	return Sending{bytes.Times(q.Times), Range{float64(least.Messages), float64(most.Messages)}.Times(q.Times)}
}
