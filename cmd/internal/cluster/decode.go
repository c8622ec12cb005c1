package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// file is what a cluster file says, before it is looked at as a whole.
type file struct {
	run       *string
	agents    []string // addresses,
	count     int      // or how many there are
	address   *string
	graph     *string
	edges     json.RawMessage
	matrix    json.RawMessage
	w, prob   *float64
	seed      *uint64
	task      *string
	flags     []string
	hasAgents bool
}

// A field is one that a cluster file can have.
type field struct {
	name string
	want string
	set  func(raw json.RawMessage) error
}

func (f *file) fields() []field {
	return []field{
		{"run", "a name", into(&f.run)},
		{"agents", "addresses, [\"host:port\", ...], or their number", f.setAgents},
		{"address", "a rule such as \"host-{agent}:7000\"", into(&f.address)},
		{"graph", "the name of a graph", into(&f.graph)},
		{"edges", "pairs of agents, [[0, 1], ...]", raw(&f.edges)},
		{"W", "rows of numbers, [[0.5, 0.5], ...]", raw(&f.matrix)},
		{"w", "a number", into(&f.w)},
		{"prob", "a number", into(&f.prob)},
		{"seed", "a whole number from 0 on", into(&f.seed)},
		{"task", "the name of a task", into(&f.task)},
		{"flags", "flags, [\"-K=20\", ...]", texts(&f.flags)},
	}
}

func into[T any](p **T) func(json.RawMessage) error {
	return func(r json.RawMessage) error { return json.Unmarshal(r, p) }
}

func raw(p *json.RawMessage) func(json.RawMessage) error {
	return func(r json.RawMessage) error { *p = r; return nil }
}

func texts(p *[]string) func(json.RawMessage) error {
	return func(r json.RawMessage) error {
		var list []*string
		if err := json.Unmarshal(r, &list); err != nil {
			return err
		}
		for i, s := range list {
			if s == nil {
				return fmt.Errorf("entry %d is null", i)
			}
			*p = append(*p, *s)
		}
		return nil
	}
}

func (f *file) setAgents(r json.RawMessage) error {
	f.hasAgents = true
	if r[0] == '[' {
		return texts(&f.agents)(r)
	}
	return json.Unmarshal(r, &f.count)
}

// decode reads one JSON object field by field: encoding/json on its own accepts repeated fields, other cases of their
// letters and null.
func decode(data []byte) (f file, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return f, errors.New("want a JSON object {...}")
	}
	fields := f.fields()
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return f, syntaxError(dec, err)
		}
		name, _ := t.(string) // the decoder allows nothing else before a colon
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return f, syntaxError(dec, err)
		}
		if seen[name] {
			return f, fmt.Errorf("field %q is given twice, want it once", name)
		}
		seen[name] = true
		if err := set(fields, name, raw); err != nil {
			return f, err
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

// set gives the field of that name its value.
func set(fields []field, name string, raw json.RawMessage) error {
	var known []string
	for _, d := range fields {
		known = append(known, d.name)
		if d.name != name {
			continue
		}
		if string(raw) == "null" {
			return fmt.Errorf("field %q: found null, want %s", name, d.want)
		}
		err := d.set(raw)
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return fmt.Errorf("field %q: found %s, want %s", name, wrong.Value, d.want)
		}
		if err != nil {
			return fmt.Errorf("field %q: %w, want %s", name, err, d.want)
		}
		return nil
	}
	return fmt.Errorf("unknown field %q, want one of %s", name, strings.Join(known, ", "))
}

func syntaxError(dec *json.Decoder, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errors.New("the file ends early")
	}
	return fmt.Errorf("at byte %d: %w", dec.InputOffset(), err)
}
