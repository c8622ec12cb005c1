package grpc

import (
	"dsbo/membership"
	"dsbo/network"
)

// A part is what an agent exchanges over in one epoch: the members and the edges between them.
type part struct {
	epoch    membership.Epoch
	matrix   *network.Matrix // of the members; nil where this agent is none
	position int             // of this agent among them; -1 where it is none
	sum      *network.Combiner
	local    []int         // that position; empty where it is none
	edges    []*edge       // those to members, in ascending order
	flood    *flood        // nil before the first Gather
	tree     *network.Tree // nil before the first Reduce
}

// newPart returns an agent's part in an epoch, of the edges that it has to all neighbours.
func newPart(c *Config, e membership.Epoch, all []*edge) (part, error) {
	p := part{epoch: e, position: -1}
	position, member := e.Position(c.Agent)
	if !member {
		return p, nil
	}
	matrix, err := c.Matrix.Members(e)
	if err != nil {
		return p, err
	}
	p.matrix, p.position, p.local, p.sum = matrix, position, []int{position}, matrix.Combiner(position)
	for _, j := range matrix.Neighbours(position) {
		for _, edge := range all {
			if edge.id == e.Members[j] {
				edge.position = j
				p.edges = append(p.edges, edge)
			}
		}
	}
	return p, nil
}
