package grpc

import "slices"

// recent is the last numbers that were added.
type recent struct {
	known map[uint64]bool
	order []uint64
}

// mostRecent is of how many messages an agent knows that it has seen them. They cross no more edges
// than there are agents, so that those that it has forgotten end too.
const mostRecent = 4096

// add adds a number and reports whether it was not there.
func (r *recent) add(id uint64) bool {
	if r.known[id] {
		return false
	}
	if r.known == nil {
		r.known = map[uint64]bool{}
	}
	if len(r.order) == mostRecent {
		delete(r.known, r.order[0])
		r.order = slices.Delete(r.order, 0, 1)
	}
	r.known[id] = true
	r.order = append(r.order, id)
	return true
}
