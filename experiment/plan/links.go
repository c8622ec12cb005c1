package plan

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"dsbo"
)

// A Link is a connection between two sites, the same in both directions.
type Link struct {
	Delay time.Duration // of one way
	Mbit  float64       // millions of bits a second
}

// String writes a link as [ParseLink] reads it.
func (l Link) String() string { return fmt.Sprintf("%v,%gMbit", l.Delay, l.Mbit) }

// ParseLink reads a link such as 50ms,100Mbit.
func ParseLink(text string) (l Link, err error) {
	delay, rate, two := strings.Cut(text, ",")
	rate, unit := strings.CutSuffix(strings.TrimSpace(rate), "Mbit")
	if l.Delay, err = time.ParseDuration(strings.TrimSpace(delay)); err == nil {
		l.Mbit, err = strconv.ParseFloat(rate, 64)
	}
	if !two || !unit || err != nil || l.Delay < 0 || !(l.Mbit > 0) {
		return l, dsbo.ConfigErrorf(
			"a link must be the time of one way and Mbit a second, such as 50ms,100Mbit; it is %q", text)
	}
	return l, nil
}

// An Edge is two neighbours, the lower one first.
type Edge [2]int

// between returns the edge of two neighbours.
func between(i, j int) Edge { return Edge{min(i, j), max(i, j)} }

// Links are the connections between sites.
type Links struct {
	name  string
	all   Link // where edges is nil
	edges map[Edge]Link
}

// String returns what [ParseLinks] made the links of.
func (l Links) String() string { return l.name }

// ParseLinks reads one link for all edges, or the name of a file with a line for each edge, such
// as 0-1 50ms,100Mbit. Empty lines and those that begin with # say nothing.
func ParseLinks(text string) (l Links, err error) {
	l.name = text
	if l.all, err = ParseLink(text); err == nil {
		return l, nil
	}
	b, notRead := os.ReadFile(text)
	if notRead != nil {
		return l, err
	}
	l.edges = map[Edge]Link{}
	for k, line := range strings.Split(string(b), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		first, second, _ := strings.Cut(fields[0], "-")
		i, errI := strconv.Atoi(first)
		j, errJ := strconv.Atoi(second)
		if errI != nil || errJ != nil || len(fields) != 2 {
			return l, dsbo.ConfigErrorf("%s, line %d: it must be an edge and its link, such as "+
				"0-1 50ms,100Mbit; it is %q", text, k+1, line)
		}
		edge := between(i, j)
		if _, twice := l.edges[edge]; twice {
			return l, dsbo.ConfigErrorf("%s, line %d: edge %d-%d must have one line", text, k+1, i, j)
		}
		if l.edges[edge], err = ParseLink(fields[1]); err != nil {
			return l, fmt.Errorf("%s, line %d: %w", text, k+1, err)
		}
	}
	return l, nil
}

// check returns an error unless each edge of a graph has a link, and nothing else has.
func (l Links) check(w graph) error {
	if l.edges == nil {
		return nil
	}
	for i := range w.N() {
		for _, j := range w.Neighbours(i) {
			edge := between(i, j)
			if _, known := l.edges[edge]; !known {
				return dsbo.ConfigErrorf("%s must have a line for edge %d-%d", l.name, edge[0], edge[1])
			}
		}
	}
	inOrder := func(a, b Edge) int { return slices.Compare(a[:], b[:]) }
	for _, e := range slices.SortedFunc(maps.Keys(l.edges), inOrder) {
		if e[0] < 0 || e[1] >= w.N() || !slices.Contains(w.Neighbours(e[0]), e[1]) {
			return dsbo.ConfigErrorf("%s must have lines for edges of the graph alone; %d-%d is none", l.name,
				e[0], e[1])
		}
	}
	return nil
}

// of returns the link of an edge.
func (l Links) of(i, j int) Link {
	if l.edges == nil {
		return l.all
	}
	return l.edges[between(i, j)]
}
