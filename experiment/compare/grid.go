package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A grid is the values that parameters may take, an axis for each.
type grid []axis

// An axis is a parameter with its values, in their order. A value replaces {Name} in a flag of the
// method. Without {Name}, the parameter is the flag -Name of a run if there is one, and else the
// method's own, as -set Name=value.
type axis struct {
	Name   string
	Values []string
}

// UnmarshalJSON reads an object of lists of numbers and texts, and keeps the order of its fields.
// Package json calls it with whole, valid JSON. A number stays as it is written, for flags.
func (g *grid) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return errors.New("it must be an object")
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		a := axis{Name: t.(string)} // the decoder allows nothing else before a colon
		var values []json.RawMessage
		if err := dec.Decode(&values); err != nil || len(values) == 0 || a.Name == "" {
			return fmt.Errorf("%q must be a list of values", a.Name)
		}
		for _, v := range values {
			text := string(v)
			if text[0] == '"' { // else a number, or what a flag refuses later
				if err := json.Unmarshal(v, &text); err != nil {
					return err
				}
			}
			a.Values = append(a.Values, text)
		}
		if v, twice := duplicate(a.Values); twice {
			return fmt.Errorf("the values of %q must differ; %s is there twice", a.Name, v)
		}
		if slices.ContainsFunc(*g, func(other axis) bool { return other.Name == a.Name }) {
			return fmt.Errorf("%q must be given once", a.Name)
		}
		*g = append(*g, a)
	}
	return nil
}

// points returns the number of points, at most one more than a comparison may have runs.
func (g grid) points() int {
	n := 1
	for _, a := range g {
		if n *= len(a.Values); n > maxRuns {
			return maxRuns + 1
		}
	}
	return n
}

// search returns a search over the grid, from its middle.
func (g grid) search(most int) *search {
	s := &search{most: most}
	for _, a := range g {
		s.lengths, s.start = append(s.lengths, len(a.Values)), append(s.start, len(a.Values)/2)
	}
	return s
}

// edges names the parameters that may have better values than at the best point, beyond the grid or
// among those that were not tried. An axis of one value, or of words, has no edge.
func (g grid) edges(s *search) (names []string) {
	for i, a := range g {
		if len(a.Values) > 1 && a.ordered() && s.open(i) {
			names = append(names, a.Name)
		}
	}
	return names
}

// String writes a point with the names of the axes, "" where there is none.
func (g grid) String(point []int) string {
	var words []string
	for i, a := range g {
		words = append(words, a.Name+"="+a.Values[point[i]])
	}
	return strings.Join(words, " ")
}

// ordered reports whether an axis has values of which one can be the least: numbers, or texts that
// begin with one.
func (a axis) ordered() bool {
	return !slices.ContainsFunc(a.Values, func(v string) bool {
		_, err := fmt.Sscan(v, new(float64)) // which reads as far as the number goes
		return err != nil
	})
}

// runFlags are the flags of a run that are parameters of methods.
var runFlags = []string{"K", "T", "N", "alpha", "beta", "gamma", "x0", "batch", "preset", "dtype", "wire", "mix",
	"graph", "w", "prob"}

// flagsAt returns the method's flags at a point of its grid, an index into the values of each axis.
// -algorithm comes first, if the method has one. A value replaces {NAME} in the flags; if no flag
// has that, the axis becomes a flag of its own: of the run if it has one of that name, else -set.
func (m method) flagsAt(point []int) []string {
	flags := slices.Clone(m.Flags)
	for i, a := range m.Grid {
		value, placed := a.Values[point[i]], false
		for j, f := range flags {
			filled := strings.ReplaceAll(f, "{"+a.Name+"}", value)
			placed = placed || filled != f
			flags[j] = filled
		}
		switch {
		case placed:
		case slices.Contains(runFlags, a.Name):
			flags = append(flags, "-"+a.Name+"="+value)
		default:
			flags = append(flags, "-set="+a.Name+"="+value)
		}
	}
	if m.Algorithm == "" {
		return flags
	}
	return append([]string{"-algorithm=" + m.Algorithm}, flags...)
}
