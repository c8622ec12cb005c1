package plan

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
)

// period returns how long a sum takes over the edges of a graph by the links of a text, and the
// edge that holds it up most.
func period(w graph, tree *network.Tree, links Links, bytes float64) (seconds float64, most Edge) {
	c := newCourse(w, tree, links, true)
	seconds, edges := c.period(func() { c.reduce(bytes, network.Max) })
	for e, held := range edges {
		if held > edges[most] {
			most = e
		}
	}
	return seconds, most
}

// file returns the name of a file of links.
func file(t *testing.T, lines string) string {
	name := filepath.Join(t.TempDir(), "links")
	testkit.OK(os.WriteFile(name, []byte(lines), 0o600))
	return name
}

// TestPeriod: a sum goes up the tree and down again, each hop with its delay and its bytes; one
// after the other, sums take as long each. An edge beside the tree is waited for as well.
func TestPeriod(t *testing.T) {
	for _, c := range []struct {
		graph string
		n     int
		links string
		bytes float64
		want  float64
	}{
		{"ring", 8, "25ms,100Mbit", 0, 8 * .025},
		{"ring", 8, "25ms,8Mbit", 1000, 8 * .026},
		{"star", 8, "1s,1Mbit", 0, 2}, // links of edges of their own: all at once
		{"complete", 5, "1s,1Mbit", 0, 2},
		{"path", 2, "0s,8Mbit", 1000, .002},
		{"path", 3, file(t, "0-1 10ms,1Mbit\n# the slow one\n\n2-1 100ms,1Mbit\n"), 0, .2},
		// Agents 0 and 1 wait twice for each other's words, and 1 and 2 for a frame without
		// words, which is sent as soon as what is below is here.
		{"ring", 3, file(t, "0-1 10ms,1Mbit\n0-2 10ms,1Mbit\n1-2 50ms,1Mbit"), 0, .05},
	} {
		w := testkit.Get(network.New(c.graph, c.n, network.Options{})).W
		links := testkit.Get(ParseLinks(c.links))
		testkit.OK(links.check(w))
		if got, _ := period(w, w.Tree(), links, c.bytes); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s of %d, %s, %g bytes: %g s; it must be %g", c.graph, c.n, c.links, c.bytes, got, c.want)
		}
	}
}

// lineOfAgents is a path of agents in their order.
type lineOfAgents int

func (n lineOfAgents) N() int { return int(n) }

func (n lineOfAgents) Neighbours(i int) (all []int) {
	if i > 0 {
		all = append(all, i-1)
	}
	if i+1 < int(n) {
		all = append(all, i+1)
	}
	return all
}

// TestManyAgents: ten thousand agents on a line, one edge of which takes as long as all others,
// which is named.
func TestManyAgents(t *testing.T) {
	const n, slow = 10_000, 1234
	tree := &network.Tree{Root: n / 2, Parent: make([]int, n), Children: make([][]int, n), Depth: make([]int, n)}
	var lines strings.Builder
	for i := range n {
		tree.Parent[i], tree.Depth[i] = i+1, n/2-i
		if i > n/2 {
			tree.Parent[i], tree.Depth[i] = i-1, i-n/2
		}
		if i == n/2 {
			tree.Parent[i] = -1
		} else {
			tree.Children[tree.Parent[i]] = append(tree.Children[tree.Parent[i]], i)
		}
		delay := "1ms"
		if i == slow {
			delay = "5s"
		}
		fmt.Fprintf(&lines, "%d-%d %s,100Mbit\n", i, i+1, delay)
	}
	links := testkit.Get(ParseLinks(file(t, lines.String())))
	got, most := period(lineOfAgents(n), tree, links, 0)
	if want := 2 * (5 + .001*(n/2-1)); math.Abs(got-want) > 1e-6 || most != (Edge{slow, slow + 1}) {
		t.Errorf("%g s, held up by %v; it must be %g and edge %d-%d", got, most, want, slow, slow+1)
	}
}

// TestLinksRefused: what is no link, no line of a file, or leaves an edge out.
func TestLinksRefused(t *testing.T) {
	w := testkit.Get(network.New("path", 3, network.Options{})).W
	for text, want := range map[string]string{
		"50ms": `such as 50ms,100Mbit; it is "50ms"`, "50,100Mbit": "such as", "-1s,1Mbit": "such as",
		"1s,0Mbit": "such as", "1s,5": "such as", "no-file": "such as",
		file(t, "0-1 1ms,1Mbit\n1-2"):                          "line 2: it must be an edge and its link",
		file(t, "0-1 1ms,1Mbit\n0-x 1ms,1Mbit"):                "line 2",
		file(t, "0-1 1ms,1Mbit\n1-2 1ms,Mbit"):                 "line 2: a link must be",
		file(t, "0-1 1ms,1Mbit\n1-0 1ms,1Mbit\n1-2 1ms,1Mbit"): "line 2: edge 1-0 must have one line",
		file(t, "0-1 1ms,1Mbit\n2-3 1ms,1Mbit"):                "must have a line for edge 1-2",
		file(t, "0-1 1ms,1Mbit\n1-2 1ms,1Mbit\n0-2 1ms,1Mbit"): "0-2 is none",
		file(t, "0-1 1ms,1Mbit\n1-2 1ms,1Mbit\n2-3 1ms,1Mbit"): "2-3 is none",
	} {
		l, err := ParseLinks(text)
		if err == nil {
			err = l.check(w)
		}
		if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v; it must match %q and have %q", err, dsbo.ErrConfig, want)
		}
	}
	if l := testkit.Get(ParseLink("1.5s,2.5Mbit")); l.String() != "1.5s,2.5Mbit" {
		t.Errorf("link %v", l)
	}
}
