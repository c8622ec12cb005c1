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

	"dsbo/network"
	"dsbo/pki"
)

// BenchmarkProcesses gives the time of an exchange of a ring of 8 agents, each a process, over package
// grpc with certificates on both sides, and over plain TLS streams, which have no frames, keep nothing and survive
// nothing. Each process takes turns between both, some exchanges each:
//
//	go test -run '^$' -bench Processes -benchtime 1x ./network/grpc
//
// Reported are medians over the turns: of the time of an exchange as agent 0 sees it (each turn gives the
// median of its exchanges), of the processor's time of all processes per exchange, and of the quotients
// of two turns that follow each other.
func BenchmarkProcesses(b *testing.B) {
	for k, rounds := range []int{400, 200, 4} {
		b.Run(fmt.Sprintf("ring8/bytes=%d", 8*benchLengths[k]), func(b *testing.B) {
			turns := runProcesses(b, processConfig{Agents: 8, Length: benchLengths[k], Rounds: rounds, Turns: 15 * b.N})
			median := func(of func(turn) float64) float64 {
				all := make([]float64, len(turns))
				for i, t := range turns {
					all[i] = of(t)
				}
				slices.Sort(all)
				return all[len(all)/2]
			}
			b.ReportMetric(0, "ns/op")
			for name, of := range map[string]func(sample) float64{
				"":     func(s sample) float64 { return float64(s.Median) },
				"cpu-": func(s sample) float64 { return float64(s.CPU) },
			} {
				b.ReportMetric(median(func(t turn) float64 { return of(t.GRPC) })/1000, "grpc-"+name+"µs")
				b.ReportMetric(median(func(t turn) float64 { return of(t.TLS) })/1000, "tls-"+name+"µs")
				b.ReportMetric(median(func(t turn) float64 { return of(t.GRPC) / of(t.TLS) }), name+"ratio")
			}
		})
	}
}

// A turn is some exchanges over each.
type turn struct{ GRPC, TLS sample }

// A sample is what exchanges took, of one process or of all.
type sample struct {
	Median time.Duration // of an exchange
	CPU    time.Duration // user and system, per exchange
}

// processEnv holds a processConfig where the test binary is one agent of BenchmarkProcesses. Its listeners, for gRPC and
// for TLS, are then files 3 and 4. It writes its turns to standard output.
const processEnv = "DSBO_TEST_GRPC_PROCESS"

type processConfig struct {
	Agent, Agents, Length, Rounds, Turns int
	Addresses                            [2][]string
	Folder                               string // of the certificates
}

// runProcesses returns the turns of all agents: the times of agent 0, and the processor's time of all.
func runProcesses(b *testing.B, c processConfig) []turn {
	c.Folder = b.TempDir()
	files := make([][]*os.File, c.Agents)
	authority := newAuthority(b)
	errs := []error{authority.Save(c.Folder)}
	for i := range files {
		errs = append(errs, issue(b, authority, i, time.Hour).Save(c.Folder))
		for k := range c.Addresses {
			l := listen(b)
			f, err := l.(*net.TCPListener).File()
			errs = append(errs, err, l.Close())
			c.Addresses[k] = append(c.Addresses[k], l.Addr().String())
			files[i] = append(files[i], f)
		}
	}
	all, ended := make([][]turn, c.Agents), make([]error, c.Agents)
	var wg sync.WaitGroup
	for i := range all {
		c.Agent = i
		text, err := json.Marshal(c)
		errs = append(errs, err)
		cmd := exec.CommandContext(b.Context(), os.Args[0], "-test.run=^TestProcess$")
		cmd.Env, cmd.ExtraFiles = append(os.Environ(), processEnv+"="+string(text)), files[i]
		cmd.Stderr = os.Stderr
		wg.Go(func() {
			out, err := cmd.Output()
			if err = errors.Join(err, json.NewDecoder(bytes.NewReader(out)).Decode(&all[i])); err != nil {
				ended[i] = fmt.Errorf("agent %d: %w\n%s", i, err, out)
			}
		})
	}
	wg.Wait()
	for _, f := range slices.Concat(files...) {
		errs = append(errs, f.Close())
	}
	if err := errors.Join(append(errs, ended...)...); err != nil {
		b.Fatal(err)
	}
	for _, one := range all[1:] {
		for k, t := range one {
			all[0][k].GRPC.CPU += t.GRPC.CPU
			all[0][k].TLS.CPU += t.TLS.CPU
		}
	}
	return all[0]
}

// TestProcess is one agent of BenchmarkProcesses.
func TestProcess(t *testing.T) {
	text := os.Getenv(processEnv)
	if text == "" {
		t.Skip("for BenchmarkProcesses")
	}
	var p processConfig
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	id, err := pki.Load(p.Folder, p.Agent, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var exchanges [2]func() error
	for k, start := range []func(*testing.T, Config, int) func() error{startGRPC, startTLS} {
		l, err := net.FileListener(os.NewFile(uintptr(3+k), "listener"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		exchanges[k] = start(t, Config{Agent: p.Agent, Matrix: newGraph(t, "ring", p.Agents), Run: "test",
			Addresses: p.Addresses[k], Listener: l, Identity: id}, p.Length)
		measure(t, exchanges[k], 10) // connects
	}
	turns := make([]turn, p.Turns)
	for i := range turns {
		turns[i] = turn{measure(t, exchanges[0], p.Rounds), measure(t, exchanges[1], p.Rounds)}
	}
	if err := json.NewEncoder(os.Stdout).Encode(turns); err != nil {
		t.Fatal(err)
	}
}

// measure times so many exchanges.
func measure(t *testing.T, exchange func() error, rounds int) sample {
	took := make([]time.Duration, rounds)
	before := cpuTime(t)
	for i := range took {
		start := time.Now()
		if err := exchange(); err != nil {
			t.Fatal(err)
		}
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	return sample{took[rounds/2], (cpuTime(t) - before) / time.Duration(rounds)}
}

// cpuTime returns the processor's time of this process.
func cpuTime(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// startGRPC returns an agent's exchange of a vector over this package.
func startGRPC(t *testing.T, c Config, length int) func() error {
	ms, closeAll := open(t, []Config{c})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
		defer cancel()
		if err := ms[0].Drain(ctx); err != nil {
			t.Error(err)
		}
		closeAll()
	})
	v := make([]float64, length)
	return func() error { return ms[0].Mix(t.Context(), v, v) }
}

// startTLS returns an agent's exchange of a vector over plain TLS streams to its neighbours.
func startTLS(t *testing.T, c Config, length int) func() error {
	conns, err := connect(t, c)
	if err != nil {
		t.Fatal(err)
	}
	row := c.Matrix.Row(c.Agent)
	v, own := make([]float64, length), make([]float64, length)
	in := make([][]float64, len(row))
	for k, w := range row {
		in[k] = own
		if w.Agent != c.Agent {
			in[k] = make([]float64, length)
		}
	}
	return func() error {
		copy(own, v)
		var round sync.WaitGroup
		errs := make([]error, 2*len(row))
		for k, w := range row {
			if w.Agent == c.Agent {
				continue
			}
			round.Go(func() { _, errs[2*k] = conns[w.Agent].Write(bytesOf(own)) })
			round.Go(func() { _, errs[2*k+1] = io.ReadFull(conns[w.Agent], bytesOf(in[k])) })
		}
		round.Wait()
		network.Combine(v, row, in)
		return errors.Join(errs...)
	}
}

// connect opens plain TLS streams to the neighbours with higher numbers and takes those of the others.
func connect(t *testing.T, c Config) (map[int]net.Conn, error) {
	conns := map[int]net.Conn{}
	for _, j := range c.Matrix.Neighbours(c.Agent) {
		if j < c.Agent {
			continue
		}
		conn, err := tls.Dial("tcp", c.Addresses[j], c.Identity.Client(j))
		if err != nil {
			return nil, err
		}
		conns[j] = conn
		t.Cleanup(func() { conn.Close() })
	}
	for len(conns) < len(c.Matrix.Neighbours(c.Agent)) {
		plain, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { plain.Close() })
		conn := tls.Server(plain, c.Identity.Server())
		if err := conn.Handshake(); err != nil {
			return nil, err
		}
		j, err := pki.Agent(conn.ConnectionState().PeerCertificates[0])
		if err != nil {
			return nil, err
		}
		conns[j] = conn
	}
	return conns, nil
}
