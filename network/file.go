package network

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// file is what a graph file can hold.
type file struct {
	Agents *int
	Edges  [][]int
	W      [][]float64
}

// Parse reads a graph file, whose format the package documentation states. w gives the
// weights of its edges as in [Options]. Errors begin with name and match dsbo.ErrConfig.
func Parse(name string, data []byte, w float64) (*Graph, error) {
	g, err := parse(data, w)
	if err != nil {
		return nil, configError("graph file %s: %w", name, err)
	}
	g.Name = name
	return g, nil
}

func parse(data []byte, w float64) (*Graph, error) {
	f, err := decode(data)
	if err != nil {
		return nil, err
	}
	switch {
	case f.W != nil && f.Edges != nil:
		return nil, errors.New(`both "edges" and "W" are given, want one of them`)
	case f.W != nil:
		if w != 0 {
			return nil, fmt.Errorf(`self weight w = %v, but the file gives "W": leave w at 0`, w)
		}
		if f.Agents != nil && *f.Agents != len(f.W) {
			return nil, fmt.Errorf(`"agents" is %d but "W" has %d rows, want them equal`, *f.Agents, len(f.W))
		}
		return fromRows("", f.W)
	case f.Edges == nil:
		return nil, errors.New(`neither "edges" nor "W" is given, want one of them`)
	case f.Agents == nil:
		return nil, errors.New(`no "agents", want their number beside "edges"`)
	}
	edges := make([][2]int, len(f.Edges))
	for k, ends := range f.Edges {
		if len(ends) != 2 {
			return nil, fmt.Errorf("edge %d, %v: %d ends, want 2", k, ends, len(ends))
		}
		edges[k] = [2]int(ends)
	}
	return FromEdges(*f.Agents, edges, w)
}

// decode reads one JSON object field by field: encoding/json on its own accepts repeated
// fields, other cases of their letters and null.
func decode(data []byte) (f file, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return f, errors.New("want a JSON object {...}")
	}
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return f, syntaxError(dec, err)
		}
		name, _ := t.(string) // the decoder allows nothing else before a colon
		var dst any
		var want string
		switch name {
		case "agents":
			dst, want = &f.Agents, "a whole number"
		case "edges":
			dst, want = &f.Edges, "pairs of whole numbers, [[0, 1], ...]"
		case "W":
			dst, want = &f.W, "rows of numbers, [[0.5, 0.5], ...]"
		default:
			return f, fmt.Errorf(`unknown field %q, want "agents", "edges" or "W"`, name)
		}
		if seen[name] {
			return f, fmt.Errorf("field %q is given twice, want it once", name)
		}
		seen[name] = true
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return f, syntaxError(dec, err)
		}
		if bytes.Contains(raw, []byte("null")) {
			return f, fmt.Errorf("field %q: found null, want %s", name, want)
		}
		if err := json.Unmarshal(raw, dst); err != nil {
			if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
				return f, fmt.Errorf("field %q: found %s, want %s", name, wrong.Value, want)
			}
			return f, fmt.Errorf("field %q: %w, want %s", name, err, want)
		}
	}
	if _, err := dec.Token(); err != nil {
		return f, syntaxError(dec, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return f, errors.New("something follows the object, want one object alone")
	}
	return f, nil
}

func syntaxError(dec *json.Decoder, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errors.New("the file ends early")
	}
	return fmt.Errorf("at byte %d: %w", dec.InputOffset(), err)
}
