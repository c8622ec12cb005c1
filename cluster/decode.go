package cluster

import (
	"encoding/json"
	"fmt"
	"strings"

	"dsbo/internal/strictjson"
)

// file holds the fields of a cluster file; nil stands for one that is not there.
type file struct {
	run     *string
	agents  []string // addresses,
	count   *int     // or how many there are
	address *string
	graph   *string
	edges   json.RawMessage
	matrix  json.RawMessage
	w, prob *float64
	seed    *uint64
	task    *string
	flags   []string
}

func (f *file) fields() []strictjson.Field {
	return []strictjson.Field{
		{Name: "run", Must: "a name", Set: setTo(&f.run)},
		{Name: "agents", Must: "addresses, [\"host:port\", ...], or their number", Set: f.setAgents},
		{Name: "address", Must: "a rule such as \"host-{agent}:7000\"", Set: setTo(&f.address)},
		{Name: "graph", Must: "the name of a graph", Set: setTo(&f.graph)},
		{Name: "edges", Must: "pairs of agents, [[0, 1], ...]", Set: setTo(&f.edges)},
		{Name: "W", Must: "rows of numbers, [[0.5, 0.5], ...]", Set: setTo(&f.matrix)},
		{Name: "w", Must: "a number", Set: setTo(&f.w)},
		{Name: "prob", Must: "a number", Set: setTo(&f.prob)},
		{Name: "seed", Must: "a whole number from 0 on", Set: setTo(&f.seed)},
		{Name: "task", Must: "the name of a task", Set: setTo(&f.task)},
		{Name: "flags", Must: "flags, [\"-K=20\", ...]", Set: setTexts(&f.flags)},
	}
}

func setTo[T any](p *T) func(json.RawMessage) error {
	return func(r json.RawMessage) error { return json.Unmarshal(r, p) }
}

func setTexts(p *[]string) func(json.RawMessage) error {
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
	if r[0] == '[' {
		f.agents = []string{}
		return setTexts(&f.agents)(r)
	}
	return json.Unmarshal(r, &f.count)
}

// decode reads one JSON object strictly.
func decode(data []byte) (f file, err error) {
	fields := f.fields()
	var known []string
	for _, d := range fields {
		known = append(known, d.Name)
	}
	err = strictjson.Object(data, "one of "+strings.Join(known, ", "), fields)
	return f, err
}
