package network

// Collective computes common results of all agents before a run begins, from each agent's data:
// sums, which reveal of one agent's part no more than the sum itself does, and short texts that may
// be public.
//
// All processes of a run call it in the same order with the same lengths, each for the agents that
// it has. The results are the same in all of them, bit by bit, wherever the agents are. It belongs
// to one goroutine at a time.
type Collective interface {
	// Sum sets dst to the sum of all agents' parts: fill writes the part of agent i to part, which
	// has the length of dst and is 0. It is called for the agents of this process, several at the
	// same time. The name is for people, see [Carried]. Numbers travel in float64: a sum is right
	// to about 2^-50 of the largest of the 1024 numbers around it, and the sum of whole numbers
	// below 2^50 is whole. A sum that is not finite is an error.
	Sum(name string, dst []float64, fill func(i int, part []float64) error) error
	// Texts returns a text of each agent: of returns the text of agent i, and is called for the
	// agents that are here. Every agent sees every text.
	Texts(name string, of func(i int) (string, error)) ([]string, error)
}
