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
}

// Parse reads a graph file, whose format the package documentation states. w gives the
// weights of its edges as in [Options]. Errors begin with name and match dsbo.ErrConfig.
func Parse(name string, data []byte, w float64) (*Graph, error) {
	g, err := parse(data, w)
	if err != nil {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "graph file %s: %w", name, err)
	}
	g.Name = name
	return g, nil
}

// parse is Parse without the name in its errors.
func parse(data []byte, w float64) (*Graph, error) {
	var f file
	if err := files.StrictJSON(data, &f); err != nil {
		return nil, err
	}
	switch {
	case f.W != nil && f.Edges != nil:
		return nil, errors.New(`one of "edges" and "W" must be given; both are`)
	case f.W != nil:
		if w != 0 {
			return nil, fmt.Errorf(`self weight w must be 0 where the file gives "W"; it is %v`, w)
		}
		if f.Agents != nil && *f.Agents != len(f.W) {
			return nil, fmt.Errorf(`"agents" must be the number of rows of "W", %d; it is %d`, len(f.W), *f.Agents)
		}
		return fromRows("", f.W)
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
