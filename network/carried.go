package network

// A Way is how a quantity leaves an agent.
type Way int

// The ways of quantities.
const (
	BySum   Way = iota // a term of a sum over all agents; over gRPC it is masked
	ByMix              // as it is, to each neighbour
	ByMax              // the largest of all agents; its parent in the tree sees the largest of the agents below
	ByText             // text as it is, to all agents
	ByRow              // numbers as they are, to all agents
	ByState            // a checkpoint, to agents that enter
)

// Names of what is sent by all methods.
const (
	Mixed        = "copies of x, y, z, trackers"
	Matrices     = "copies, matrices of second derivatives" // of methods with such matrices
	Fingerprints = "fingerprints of x, y, z, u, best iterate"
)

// Carried is a quantity of an agent's data that an exchange carries.
type Carried struct {
	Name string // for people, as docs/privacy.md has it
	Way
	Numbers int  // of the agent, or bytes of a text
	Wire    Wire // type of the numbers
	Text    string
	Group   bool // found by a [Group], in no iteration
}

// A labeler is a [Team] that is informed of the content of its next exchanges; none means counts of
// computations, and progress.
type labeler interface {
	Label(what ...Carried)
}

// Label informs a team, if it has the method Label, of the content of its next exchanges.
func Label(t Team, what ...Carried) {
	if l, ok := t.(labeler); ok {
		l.Label(what...)
	}
}

// label informs the team, if it has Label, that vectors are next; none: that they are over. The
// list is made for teams that have it alone, so that others allocate nothing.
func (a *Averages) label(way Way, vectors ...Vector) {
	l, ok := a.team.(labeler)
	if !ok {
		return
	}
	var all []Carried
	for _, v := range vectors {
		all = append(all, Carried{Name: v.Name + a.of, Way: way, Numbers: len(v.Dst), Wire: v.Wire, Group: a.ofGroup})
	}
	l.Label(all...)
}
