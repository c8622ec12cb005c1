//go:build mpi && cgo

package mpi

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network"
)

const benchAgents = 8

// benchCases are vectors of p = 200 numbers, of MNIST's 7,840 and of 8 MiB.
var benchCases = []struct{ bytes, rounds int }{{1600, 500}, {62720, 500}, {8 << 20, 30}}

// BenchmarkJobs gives the median time of an exchange of a ring of 8 agents: in process, over this
// package on 8 and on 2 ranks, and over mpi4py on as many:
//
//	go test -tags mpi -run '^$' -bench Jobs -benchtime 1x ./network/mpi
func BenchmarkJobs(b *testing.B) {
	if world != nil {
		b.Skip("this is one")
	}
	for _, c := range benchCases {
		report := func(name string, median func(b *testing.B) time.Duration) {
			b.Run(fmt.Sprintf("bytes=%d/%s", c.bytes, name), func(b *testing.B) {
				var all []time.Duration
				for range b.N {
					all = append(all, median(b))
				}
				slices.Sort(all)
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(all[len(all)/2].Nanoseconds())/1000, "median-µs")
			})
		}
		report("local", func(b *testing.B) time.Duration {
			l := network.NewLocal(mustRing(benchAgents))
			mixers := make([]network.Reducer, benchAgents)
			for i := range mixers {
				mixers[i] = l.Mixer(i)
			}
			return medianRound(b, mixers, c.bytes/8, c.rounds)
		})
		for _, n := range []int{8, 2} {
			report(fmt.Sprintf("mpi/ranks=%d", n), func(b *testing.B) time.Duration {
				return parseMedian(runJob(b, n, "^TestRankTimes$",
					fmt.Sprintf("%s=%d %d", timesEnv, c.bytes, c.rounds)))
			})
			report(fmt.Sprintf("mpi4py/ranks=%d", n), func(b *testing.B) time.Duration {
				return parseMedian(launch(b, n, nil, python(b), "testdata/exchange.py", fmt.Sprint(c.rounds),
					fmt.Sprint(c.bytes)))
			})
		}
	}
}

// python returns the command of one that has mpi4py.
func python(b *testing.B) string {
	for _, name := range pythons {
		if exec.Command(name, "-c", "import mpi4py, numpy").Run() == nil {
			return name
		}
	}
	b.Skipf("none of %q has mpi4py for this MPI", pythons)
	return ""
}

var medianLine = regexp.MustCompile(`(?m)^median (\d+) ns$`)

// parseMedian returns the median in the output of a job.
func parseMedian(out string, err error) time.Duration {
	m := medianLine.FindStringSubmatch(out)
	if err != nil || m == nil {
		panic(fmt.Sprintf("%v; it must be a median:\n%s", err, out))
	}
	return time.Duration(testkit.Get(strconv.Atoi(m[1])))
}

// timesEnv holds the bytes and rounds of TestRankTimes.
const timesEnv = "DSBO_TEST_MPI_TIMES"

func TestRankTimes(t *testing.T) {
	onRank(t)
	var bytes, rounds int
	if _, err := fmt.Sscan(os.Getenv(timesEnv), &bytes, &rounds); err != nil {
		t.Skip("for BenchmarkJobs")
	}
	x := openRank(t, mustRing(benchAgents), silentAfter)
	defer x.Close()
	var mixers []network.Reducer
	for _, i := range x.Local() {
		mixers = append(mixers, x.Mixer(i))
	}
	median := medianRound(t, mixers, bytes/8, rounds)
	if world.Rank() == 0 {
		fmt.Printf("median %d ns\n", median.Nanoseconds())
	}
}

// medianRound returns the median time of an exchange as the first of these agents sees it.
func medianRound(tb testing.TB, mixers []network.Reducer, length, rounds int) time.Duration {
	const before = 3 // they grow the frames
	took := make([]time.Duration, before+rounds)
	var wg sync.WaitGroup
	for k, m := range mixers {
		wg.Go(func() {
			v := make([]float64, length)
			for r := range took {
				start := time.Now()
				if err := m.Mix(tb.Context(), v, v); err != nil {
					tb.Error(err)
					return
				}
				if k == 0 {
					took[r] = time.Since(start)
				}
			}
		})
	}
	wg.Wait()
	slices.Sort(took[before:])
	return took[before+rounds/2]
}
