package grpc

// recent is the last numbers that were added, each with a value.
type recent struct {
	known map[uint64]uint64
	order []uint64
}

// mostRecent is of how many messages an agent knows that it has seen them. They cross no more edges
// than there are agents, so that those that it has forgotten end too.
const mostRecent = 4096

func (r *recent) has(id uint64) bool {
	_, is := r.known[id]
	return is
}

// add adds a number and reports whether it was not there.
func (r *recent) add(id, value uint64) bool {
	if r.has(id) {
		return false
	}
	if r.known == nil {
		r.known = map[uint64]uint64{}
	}
	if len(r.order) == mostRecent {
		delete(r.known, r.order[0])
		r.order = r.order[1:]
	}
	r.known[id] = value
	r.order = append(r.order, id)
	return true
}
