package register

// A Store is an agent's folder, as sessions need it. All its methods may block on a disk; none is
// called while another one runs.
type Store interface {
	// Register returns what SaveRegister was given last, the zero value if there is nothing.
	Register() (State, error)
	// SaveRegister keeps a state, whole or not at all, before it returns.
	SaveRegister(State) error
	// Points returns the checkpoints that the agent has, and the result as one.
	Points() ([]Point, error)
	// Kept returns digests of what the agent has found together with the others outside of
	// iterations, by name.
	Kept() (map[string]string, error)
	// Handover returns the state for an agent that begins at a point without having it. It is at
	// most 1 GiB, and reveals nothing of this agent's data but the common state.
	Handover(p Point) ([]byte, error)
}
