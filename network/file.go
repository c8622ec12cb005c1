package network

import (
	"errors"
	"fmt"

	"dsbo"
	"dsbo/internal/files"
)

// file is the content of a graph file.
type file struct {
	Agents *int        `json:"agents" must:"a whole number"`
	Edges  [][]int     `json:"edges" must:"pairs of whole numbers, [[0, 1], ...]"`
	W      [][]float64 `json:"W" must:"rows of numbers, [[0.5, 0.5], ...]"`

	Sequence [][][]float64 `json:"sequence" must:"a list of matrices, each rows of numbers"`
	Pull     [][][]float64 `json:"pull" must:"a list of matrices, each rows of numbers"`
	Push     [][][]float64 `json:"push" must:"a list of matrices, each rows of numbers"`
}

// Parse reads a graph file, whose format the package documentation states. w gives the
// weights of its edges as in [Options]. Errors begin with name and match dsbo.ErrConfig.
func Parse(name string, data []byte, w float64) (*Graph, error) {
	g, err := parse(data, w)
	if err != nil {
		return nil, dsbo.ConfigErrorf("graph file %s: %w", name, err)
	}
	g.Name = name
	return g, nil
}

// parse is Parse without the name in its errors and in the graph. The file has one of three kinds
// of content: lists of weights, "W", or "edges" with "agents".
func parse(data []byte, w float64) (*Graph, error) {
	var f file
	if err := files.StrictJSON(data, &f); err != nil {
		return nil, err
	}
	if f.Sequence != nil || f.Pull != nil || f.Push != nil {
		return f.lists(w)
	}
	switch {
	case f.W != nil && f.Edges != nil:
		return nil, errors.New(`one of "edges" and "W" must be given; both are`)
	case f.W != nil:
		if w != 0 {
			return nil, fmt.Errorf(`self weight w must be 0 where the file gives "W"; it is %v`, w)
		}
		if err := f.checkCount(`"W"`, len(f.W)); err != nil {
			return nil, err
		}
		m, err := NewMatrix(f.W)
		if err != nil {
			return nil, err
		}
		return validGraph("", m)
	case f.Edges == nil:
		return nil, errors.New(`one of "edges" and "W" must be given; neither is`)
	case f.Agents == nil:
		return nil, errors.New(`"agents" must be given beside "edges"`)
	}
	edges := make([][2]int, len(f.Edges))
	for k, ends := range f.Edges {
		if len(ends) != 2 {
			return nil, fmt.Errorf("edge %d, %v: an edge must have 2 ends; it has %d", k, ends, len(ends))
		}
		edges[k] = [2]int(ends)
	}
	return FromEdges(*f.Agents, edges, w)
}

// checkCount returns an error if the number of agents is given, and not the number of rows.
func (f *file) checkCount(what string, rows int) error {
	if f.Agents != nil && *f.Agents != rows {
		return fmt.Errorf(`"agents" must be the number of rows of %s, %d; it is %d`, what, rows, *f.Agents)
	}
	return nil
}

// lists is parse of a file with weights that change: "sequence", or "pull" and "push", neither of
// which goes with weights of another kind.
func (f *file) lists(w float64) (*Graph, error) {
	var m *Matrix
	var err error
	switch {
	case f.W != nil || f.Edges != nil || f.Sequence != nil && (f.Pull != nil || f.Push != nil):
		return nil, errors.New(`"sequence", or "pull" and "push", must stand without other weights`)
	case w != 0:
		return nil, fmt.Errorf("self weight w must be 0 where the file gives weights; it is %v", w)
	case f.Sequence != nil:
		m, err = Sequence(f.Sequence)
	default:
		m, err = NewDirected(f.Pull, f.Push)
	}
	if err != nil {
		return nil, err
	}
	return &Graph{W: m}, f.checkCount("the weights", m.N())
}
