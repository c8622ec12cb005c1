package plan

import (
	"dsbo"
	"dsbo/network"
)

// A Way is how a quantity leaves an agent.
type Way string

// The ways of quantities.
const (
	BySum  Way = "sum"     // a term of a sum over all agents; over gRPC it is masked
	ByMix  Way = "mix"     // as it is, to each neighbour
	ByMax  Way = "largest" // the largest of all agents; its parent in the tree sees the largest of the agents below
	ByText Way = "text"    // as it is, to all agents
	ByRow  Way = "row"     // numbers, as they are, to all agents
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

// A Quantity is something that is made of an agent's data and leaves it in a run, so and so often.
type Quantity struct {
	Phase  string       // Loading, Iterations, Evaluation or Models
	Name   string       // for people
	Way    Way          // how its terms leave an agent
	Length int          // numbers, or of a text bytes
	Wire   network.Wire // type of the numbers
	Times  Range        // how often it is sent
	With   bool         // it travels with another one, in no message of its own
	Text   string       // of a text that is known: the first agent's
	Bytes  float64      // that all agents together send each time
	losses bool         // losses are among its numbers
	// how often at most numbers of it may be too small for one pass, where there are few
	small float64
	// what the mean length has more than Length, of messages by Mix of which some have more parts
	// than others
	more float64
}

// An amount is what one agent sends at a time, on average where messages differ.
type amount struct{ messages, bytes float64 }

// passes returns what agent i sends of a quantity at a time, and what more where its numbers are
// others than expected, which happens so often at most. A number below 2^-108 that is not 0 is too
// small for the one pass of a few: losses and gradients may be.
func (p *Plan) passes(q Quantity, i int) (one, again amount, times float64) {
	first, next := p.averages.Passes(q.Length, q.Wire)
	one = p.sent(q, i, next)
	q.With = false // again it travels alone
	less, most := p.sent(q, i, next), p.sent(q, i, network.ThreePasses)
	again = amount{most.messages - less.messages, most.bytes - less.bytes}
	switch {
	case first != next:
		times = q.Times.Most
	case first == network.OnePass:
		times = q.small
	}
	return one, again, times
}

// manyNumbers is a number of numbers at which their scales on a narrow wire are a fixed share of
// their bytes.
const manyNumbers = 1 << 20

// sent returns what agent i sends of a quantity at a time, of a sum in some passes.
func (p *Plan) sent(q Quantity, i int, passes network.Passes) amount {
	var cost dsbo.Traffic
	switch n := p.w.N(); q.Way {
	case ByMix:
		sends := float64(p.w.Sends(i))
		return amount{sends, sends * (float64(q.Length) + q.more) * float64(q.Wire.Bytes(manyNumbers)) / manyNumbers}
	case ByMax:
		cost = p.averages.MaxCost(i, q.Length)
	case ByText:
		cost = network.GatherBytesCost(n, q.Length)
	case ByRow:
		cost = network.GatherCost(n, q.Length)
	default:
		cost = p.averages.Cost(i, q.Length, q.Wire, passes)
		if q.With {
			cost.Messages = 0
		}
	}
	return amount{float64(cost.Messages), float64(cost.Bytes)}
}
