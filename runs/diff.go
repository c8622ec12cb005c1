package runs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dsbo/internal/wording"
)

// A Difference is a setting or a result whose values in two runs differ.
type Difference struct {
	Name        string // path in the JSON object, with dots between, such as params.alpha
	Other, This string // both values: strings without quotes, others as JSON writes them, "unset" where there is none
}

// String names the flag that chooses the value, where there is one: "-seed is 1 there, 5 here".
func (d Difference) String() string {
	return fmt.Sprintf("%s is %.80s there, %.80s here", flagOf(d.Name), d.Other, d.This)
}

// IsNew reports whether the other run lacks the setting.
func (d Difference) IsNew() bool { return d.Other == unsetText }

// Differences are the differences of two runs, in the order of their names.
type Differences []Difference

// String lists them, each flag once, the seed's first. What follows from a flag, such as the
// examples, is listed where nothing else differs.
func (ds Differences) String() string {
	var parts, follow []string
	named := map[string]bool{}
	for _, d := range ds {
		flag := flagOf(d.Name)
		switch {
		case d.Name == "examples":
			follow = append(follow, d.agents())
		case slices.Contains([]string{"p", "q", "params.init"}, d.Name):
			follow = append(follow, d.String())
		case named[flag]:
		case flag == "-seed":
			parts = slices.Insert(parts, 0, d.String())
		default:
			parts = append(parts, d.String())
		}
		named[flag] = true
	}
	if parts == nil {
		parts = follow
	}
	return strings.Join(parts, ", ")
}

// agents names the agents whose digests of examples differ.
func (d Difference) agents() string {
	var there, here []string
	if json.Unmarshal([]byte(d.Other), &there) != nil || json.Unmarshal([]byte(d.This), &here) != nil ||
		len(there) != len(here) {
		return d.String()
	}
	var others []int
	for i := range here {
		if here[i] != there[i] {
			others = append(others, i)
		}
	}
	return "other examples at " + strings.TrimLeft(wording.Count(len(others), "agent"), "0123456789 ") + " " +
		wording.Ranges(others)
}

// unsetText is the text of a value that is absent.
const unsetText = "unset"

// Diff returns the differences of two values as JSON objects, such as the configurations of two
// runs. JSON keeps every bit of a number.
func Diff(there, here any) (Differences, error) {
	theirs, err := json.Marshal(there)
	if err != nil {
		return nil, err
	}
	ours, err := json.Marshal(here)
	if err != nil || bytes.Equal(theirs, ours) { // the common case, without parsing
		return nil, err
	}
	a, b := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	addLeaves(a, "", theirs)
	addLeaves(b, "", ours)
	all := maps.Clone(a)
	maps.Copy(all, b)
	var ds Differences
	for _, name := range slices.Sorted(maps.Keys(all)) {
		x, y := a[name], b[name]
		if !bytes.Equal(x, y) {
			ds = append(ds, Difference{name, leafText(x), leafText(y)})
		}
	}
	return ds, nil
}

// addLeaves adds the values of a JSON value that are no objects, by the path to them.
func addLeaves(leaves map[string]json.RawMessage, path string, value json.RawMessage) {
	var object map[string]json.RawMessage
	if json.Unmarshal(value, &object) != nil || object == nil {
		leaves[strings.TrimPrefix(path, ".")] = value
		return
	}
	for name, v := range object {
		addLeaves(leaves, path+"."+name, v)
	}
}

// leafText returns a value as text.
func leafText(value json.RawMessage) string {
	var text string
	switch {
	case value == nil:
		return unsetText
	case json.Unmarshal(value, &text) == nil && value[0] == '"':
		return text
	}
	return string(value)
}

// flagNames are flags by the names that their values have in JSON.
var flagNames = map[string]string{
	"algorithm": "-algorithm", "method": "-algorithm", "preset": "-preset", "iterations": "-K", "agents": "-agents",
	"graph": "-graph", "mixing_matrix": "the mixing matrix (-graph, -w)", "w": "-w", "mix": "-mix", "prob": "-prob",
	"transport": "-transport",
	"examples":  "the hash of each agent's examples", "batch": "-batch", "dtype": "-dtype", "engine": "-engine",
	"seed": "-seed", "average.Seed": "-seed", "average.Wire": "-wire", "holdout": "-holdout",
	"kernels":    "the set of kernels (DSBO_KERNEL)",
	"arithmetic": "how numbers are rounded, by the kernels (DSBO_KERNEL) and the program,",
	"eval_every": "-eval-every", "patience": "-patience", "checkpoint_every": "-checkpoint-every",
	"params.T": "-T", "params.N": "-N", "start": "-x0",
	"params.alpha": "-alpha", "params.beta": "-beta", "params.gamma": "-gamma",
}

// flagOf returns the flag that sets the value with a JSON path, for messages: from flagNames, by
// -set for a method's parameter, or of the task; else the path itself.
func flagOf(name string) string {
	name = strings.TrimPrefix(name, "settings.")
	if flag, ok := flagNames[name]; ok {
		return flag
	}
	if param, ok := strings.CutPrefix(name, "params."); ok {
		return "-set " + param
	}
	for _, prefix := range []string{"flags.", "task.", "problem."} {
		if flag, ok := strings.CutPrefix(name, prefix); ok {
			return "-" + flag
		}
	}
	return name
}
