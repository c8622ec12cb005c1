//go:build unix

package grpc

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/pki"
)

// BenchmarkProcesses gives the time of an exchange of a ring of 8 agents, each a process, over
// package grpc with certificates on both sides, and over plain TLS streams, which have no frames,
// keep nothing and survive nothing. Each process takes turns between both, some exchanges each:
//
//	go test -run '^$' -bench Processes -benchtime 1x ./network/grpc
//
// Reported are medians over the turns: of the time of an exchange as agent 0 sees it (each turn
// gives the median of its exchanges), of the processor's time of all processes per exchange, and of
// the quotients of two turns that follow each other.
func BenchmarkProcesses(b *testing.B) {
	for k, rounds := range []int{400, 200, 4} {
		benchmarkProcesses(b, processConfig{Kinds: [2]string{"grpc", "tls"}, Length: benchLengths[k], Rounds: rounds})
	}
}

// BenchmarkMasks does the same with sums that are masked, and those that are not.
func BenchmarkMasks(b *testing.B) {
	for k, rounds := range []int{100, 50, 2} {
		benchmarkProcesses(b, processConfig{Kinds: [2]string{"masked", "unmasked"}, Length: benchLengths[k],
			Rounds: rounds})
	}
}

func benchmarkProcesses(b *testing.B, c processConfig) {
	b.Run(fmt.Sprintf("ring8/bytes=%d", 8*c.Length), func(b *testing.B) {
		c.Agents, c.Turns = 8, 15*b.N
		turns := runProcesses(b, c)
		report := func(unit string, of func(turn) float64) {
			all := make([]float64, len(turns))
			for i, t := range turns {
				all[i] = of(t)
			}
			slices.Sort(all)
			b.ReportMetric(all[len(all)/2], unit)
		}
		b.ReportMetric(0, "ns/op")
		for q, name := range []string{"", "cpu-"} {
			for k, kind := range c.Kinds {
				report(kind+"-"+name+"µs", func(t turn) float64 { return t[k][q] })
			}
			report(name+"ratio", func(t turn) float64 { return t[0][q] / t[1][q] })
		}
	})
}

// A turn is what an exchange of the one and of the other kind took, in µs: the median time, and the
// processor's time.
type turn [2][2]float64

// processEnv holds a processConfig where the test binary is one agent of a benchmark. Its
// listeners, one for each kind of exchange, are then files 3 and 4. It writes its turns to
// standard output.
const processEnv = "DSBO_TEST_GRPC_PROCESS"

type processConfig struct {
	Kinds                                [2]string // of exchanges, by the names of starts
	Agent, Agents, Length, Rounds, Turns int
	Addresses                            [2][]string
	Folder                               string // of the certificates
}

// runProcesses returns the turns of all agents: the times of agent 0, and the processor's time
// of all.
func runProcesses(b *testing.B, c processConfig) []turn {
	c.Folder = b.TempDir()
	authority := newAuthority()
	testkit.OK(authority.Save(c.Folder))
	files := make([][]*os.File, c.Agents)
	for i := range files {
		testkit.OK(issue(authority, i, time.Hour).Save(c.Folder))
		for k := range c.Addresses {
			l := listen().(*net.TCPListener)
			c.Addresses[k] = append(c.Addresses[k], l.Addr().String())
			f := testkit.Get(l.File())
			testkit.OK(l.Close())
			defer f.Close()
			files[i] = append(files[i], f)
		}
	}
	all := make([][]turn, c.Agents)
	var wg sync.WaitGroup
	for i := range all {
		c.Agent = i
		cmd := exec.CommandContext(b.Context(), os.Args[0], "-test.run=^TestProcess$")
		cmd.Env = append(os.Environ(), processEnv+"="+string(testkit.Get(json.Marshal(c))))
		cmd.ExtraFiles, cmd.Stderr = files[i], os.Stderr
		wg.Go(func() {
			out, err := cmd.Output()
			if err = errors.Join(err, json.NewDecoder(bytes.NewReader(out)).Decode(&all[i])); err != nil {
				b.Errorf("agent %d: %v\n%s", i, err, out)
			}
		})
	}
	wg.Wait()
	if b.Failed() {
		b.FailNow()
	}
	for _, one := range all[1:] {
		for k := range one {
			all[0][k][0][1] += one[k][0][1]
			all[0][k][1][1] += one[k][1][1]
		}
	}
	return all[0]
}

// starts begin an agent's exchange of each kind with vectors of a length.
var starts = map[string]func(*testing.T, Config, int) func(){
	"grpc":     startGRPC,
	"tls":      startTLS,
	"masked":   startSum,
	"unmasked": func(t *testing.T, c Config, length int) func() { c.Unmasked = true; return startSum(t, c, length) },
}

// TestProcess is one agent of a benchmark.
func TestProcess(t *testing.T) {
	text := os.Getenv(processEnv)
	if text == "" {
		t.Skip("for benchmarks")
	}
	var p processConfig
	testkit.OK(json.Unmarshal([]byte(text), &p))
	id := testkit.Get(pki.Load(p.Folder, p.Agent, time.Now()))
	var exchanges [2]func()
	for k, kind := range p.Kinds {
		l := testkit.Get(net.FileListener(os.NewFile(uintptr(3+k), "listener")))
		t.Cleanup(func() { l.Close() })
		exchanges[k] = starts[kind](t, Config{Agent: p.Agent, Matrix: newGraph("ring", p.Agents), Run: "test",
			Addresses: p.Addresses[k], Listener: l, Identity: id}, p.Length)
		measure(exchanges[k], 10) // connects
	}
	turns := make([]turn, p.Turns)
	for i := range turns {
		turns[i] = turn{measure(exchanges[0], p.Rounds), measure(exchanges[1], p.Rounds)}
	}
	testkit.OK(json.NewEncoder(os.Stdout).Encode(turns))
}

// measure times n exchanges, as a turn has it.
func measure(exchange func(), rounds int) [2]float64 {
	took := make([]time.Duration, rounds)
	before := cpuTime()
	for i := range took {
		start := time.Now()
		exchange()
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	return [2]float64{float64(took[rounds/2]) / 1000, float64(cpuTime()-before) / 1000 / float64(rounds)}
}

// cpuTime returns the processor's time of this process in ns.
func cpuTime() int64 {
	var u syscall.Rusage
	testkit.OK(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return u.Utime.Nano() + u.Stime.Nano()
}

// startGRPC returns an agent's exchange of a vector over this package.
func startGRPC(t *testing.T, c Config, length int) func() {
	m, v := openProcess(t, c), make([]float64, length)
	return func() { testkit.OK(m.Mix(t.Context(), v, v)) }
}

// startSum returns an agent's sum of a vector over this package.
func startSum(t *testing.T, c Config, length int) func() {
	m, v := openProcess(t, c), make([]uint64, length)
	return func() { testkit.OK(m.Reduce(t.Context(), network.Sum, 64, v)) }
}

// openProcess starts an agent until the test ends.
func openProcess(t *testing.T, c Config) *Mixer {
	ms, closeAll := open([]Config{c})
	t.Cleanup(func() {
		testkit.OK(ms[0].Drain(context.Background()))
		closeAll()
	})
	return ms[0]
}

// startTLS returns an agent's exchange of a vector over plain TLS streams to its neighbours.
func startTLS(t *testing.T, c Config, length int) func() {
	conns, row := connect(t, c), c.Matrix.Row(c.Agent)
	v, own := make([]float64, length), make([]float64, length)
	in := make([][]float64, len(row))
	for k, w := range row {
		in[k] = own
		if w.Agent != c.Agent {
			in[k] = make([]float64, length)
		}
	}
	return func() {
		copy(own, v)
		var round sync.WaitGroup
		for k, w := range row {
			if w.Agent == c.Agent {
				continue
			}
			round.Go(func() { testkit.Get(conns[w.Agent].Write(bytesOf(own))) })
			round.Go(func() { testkit.Get(io.ReadFull(conns[w.Agent], bytesOf(in[k]))) })
		}
		round.Wait()
		network.Combine(v, row, in)
	}
}

// connect opens plain TLS streams to the neighbours with higher numbers and takes the streams of
// the others.
func connect(t *testing.T, c Config) map[int]*tls.Conn {
	conns := map[int]*tls.Conn{}
	for _, j := range c.Matrix.Neighbours(c.Agent) {
		if j > c.Agent {
			conns[j] = testkit.Get(tls.Dial("tcp", c.Addresses[j], c.Identity.Client(j)))
		}
	}
	for len(conns) < len(c.Matrix.Neighbours(c.Agent)) {
		conn := tls.Server(testkit.Get(c.Listener.Accept()), c.Identity.Server())
		testkit.OK(conn.Handshake())
		conns[testkit.Get(pki.Agent(conn.ConnectionState().PeerCertificates[0]))] = conn
	}
	t.Cleanup(func() {
		for _, conn := range conns {
			conn.Close()
		}
	})
	return conns
}
