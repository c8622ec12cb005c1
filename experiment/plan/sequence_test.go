package plan

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network"
	dsbogrpc "dsbo/network/grpc"
	"dsbo/network/networktest"
)

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
	mixers := make([]*dsbogrpc.Mixer, w.N())
	for i := range mixers {
		host := wires.Host(fmt.Sprintf("agent-%d", i))
		c := dsbogrpc.Config{Agent: i, Matrix: w, Run: "test", Hash: "0", Addresses: addresses, Unmasked: true,
			Insecure: true, Listener: testkit.Get(host.Listen("7000")), Dial: host.Dial}
		mixers[i] = testkit.Get(dsbogrpc.Open(c))
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
