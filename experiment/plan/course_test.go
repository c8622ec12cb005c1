package plan

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/grpc"
	"dsbo/network/networktest"
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

// delays are links of a network of virtual time, between hosts that are named by their agents.
type delays struct{ links Links }

// Delay implements [testkit.LinkModel].
func (d delays) Delay(from, to string, _ int, _ time.Time) time.Duration {
	var i, j int
	for host, agent := range map[string]*int{from: &i, to: &j} {
		if _, err := fmt.Sscanf(host, "agent-%d", agent); err != nil {
			panic(err)
		}
	}
	return d.links.of(i, j).Delay
}

// TestSequence: agents over gRPC, on a network of virtual time in which delays alone take time,
// take as long for sums, mixes, rows and texts as a course says.
func TestSequence(t *testing.T) {
	const n, times = 8, 20
	uneven := ""
	for i := range n {
		uneven += fmt.Sprintf("%d-%d %dms,1000Mbit\n", i, (i+1)%n, 10+7*i)
	}
	for _, c := range []struct {
		graph, links string
	}{{"ring", "25ms,1000Mbit"}, {"star", "25ms,1000Mbit"}, {"path", "25ms,1000Mbit"}, {"ring", file(t, uneven)}} {
		w := testkit.Get(network.New(c.graph, n, network.Options{})).W
		links := testkit.Get(ParseLinks(c.links))
		averages := testkit.Get(network.NewAverages(nil, w, network.AverageOptions{}))
		p := &Plan{w: w, averages: averages}
		for _, way := range []Way{BySum, ByMax, ByMix, ByRow, ByText} {
			synctest.Test(t, func(t *testing.T) {
				want, _ := p.course(Quantity{Way: way, Length: 1}, links, false)
				got := elapsed(t, w, links, way, times).Seconds() / times
				if math.Abs(got-want) > 1e-3*want {
					t.Errorf("%s, %s, by %s: %g s each; the course has %g s", c.graph, c.links, way, got, want)
				}
			})
		}
	}
}

// elapsed returns how long agents take for some exchanges after a few.
func elapsed(t *testing.T, w *network.Matrix, links Links, way Way, times int) time.Duration {
	wires := testkit.NewNetwork(delays{links})
	addresses := make([]string, w.N())
	for i := range addresses {
		addresses[i] = fmt.Sprintf("agent-%d:7000", i)
	}
	mixers := make([]*grpc.Mixer, w.N())
	for i := range mixers {
		host := wires.Host(fmt.Sprintf("agent-%d", i))
		c := grpc.Config{Agent: i, Matrix: w, Run: "test", Hash: "0", Addresses: addresses, Unmasked: true,
			Insecure: true, Listener: testkit.Get(host.Listen("7000")), Dial: host.Dial}
		mixers[i] = testkit.Get(grpc.Open(c))
	}
	each := func(times int) {
		testkit.OK(errors.Join(networktest.RunAll(len(mixers), func(i int) (err error) {
			x, words := []float64{1}, []uint64{1}
			for k := 0; k < times && err == nil; k++ {
				switch way {
				case ByMix:
					err = mixers[i].Mix(t.Context(), x, x)
				case BySum:
					err = mixers[i].Reduce(t.Context(), network.Sum, 8, words)
				case ByRow:
					err = mixers[i].Gather(t.Context(), rowsOf(w.N()))
				case ByText:
					_, err = network.GatherBytes(t.Context(), mixers[i], w.N(), func(int) []byte { return []byte{1} })
				default:
					err = mixers[i].Reduce(t.Context(), network.Max, 8, words)
				}
			}
			return err
		})...))
	}
	each(3)
	began := time.Now()
	each(times)
	took := time.Since(began)
	drained := networktest.RunAll(len(mixers), func(i int) error { return mixers[i].Drain(t.Context()) })
	testkit.OK(errors.Join(drained...))
	for _, m := range mixers {
		testkit.OK(m.Close())
	}
	return took
}

// rowsOf returns rows of one number.
func rowsOf(n int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = []float64{1}
	}
	return rows
}
