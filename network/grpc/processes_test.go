//go:build unix

package grpc_test

import (
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
	"syscall"
	"testing"
	"time"

	"dsbo/network"
	"dsbo/network/grpc"
	"dsbo/pki"
)

// BenchmarkProcesses gives the time of an exchange of a ring of 8 agents, each a process, over package
// grpc with certificates on both sides, and over plain TLS streams, which have no frames, keep nothing and survive
// nothing. The processes of both are there at once and take turns, some exchanges each:
//
//	go test -run '^$' -bench Processes -benchtime 1x ./network/grpc
//
// Reported are medians over the turns: of the time of an exchange as agent 0 sees it (each turn gives the
// median of its exchanges), of the processor's time of all processes per exchange, and of the quotients
// of two turns that follow each other.
func BenchmarkProcesses(b *testing.B) {
	const agents, turns = 8, 15
	for k, rounds := range []int{400, 200, 4} {
		length := benchLengths[k]
		b.Run(fmt.Sprintf("ring%d/bytes=%d", agents, 8*length), func(b *testing.B) {
			rpc, stream := startRing(b, overGRPC, agents, length), startRing(b, overTLS, agents, length)
			rpc.turn(b, 10) // connects
			stream.turn(b, 10)
			var g, s []turn
			for range b.N * turns {
				g = append(g, rpc.turn(b, rounds))
				s = append(s, stream.turn(b, rounds))
			}
			report := func(name string, of func(turn) float64) {
				quotients := make([]float64, len(g))
				for i := range g {
					quotients[i] = of(g[i]) / of(s[i])
				}
				b.ReportMetric(middle(g, of)/1000, "grpc-"+name+"µs")
				b.ReportMetric(middle(s, of)/1000, "tls-"+name+"µs")
				slices.Sort(quotients)
				b.ReportMetric(quotients[len(quotients)/2], name+"ratio")
			}
			b.ReportMetric(0, "ns/op")
			report("", func(t turn) float64 { return float64(t.Median) })
			report("cpu-", func(t turn) float64 { return float64(t.CPU) })
		})
	}
}

// A turn is some exchanges of one process, or of all.
type turn struct {
	Median time.Duration // of an exchange
	CPU    time.Duration // user and system, per exchange
}

func middle(turns []turn, of func(turn) float64) float64 {
	v := make([]float64, len(turns))
	for i, t := range turns {
		v[i] = of(t)
	}
	slices.Sort(v)
	return v[len(v)/2]
}

const (
	overGRPC = "grpc"
	overTLS  = "tls"
)

// processEnv is set where the test binary is one agent of BenchmarkProcesses. Its listener is then file 3. On
// standard input come a processConfig, and then numbers of exchanges; it answers each with a turn.
const processEnv = "DSBO_TEST_GRPC_PROCESS"

type processConfig struct {
	Over          string
	Agent, Length int
	Addresses     []string
	Folder        string // of the certificates
}

// A ringJob is a ring of processes.
type ringJob struct {
	in   []*json.Encoder
	ends []io.Closer // of in
	out  []*json.Decoder
}

func startRing(b *testing.B, over string, agents, length int) *ringJob {
	c := processConfig{Over: over, Length: length, Folder: b.TempDir()}
	now := time.Now()
	a, err := pki.NewAuthority("test", now.Add(-time.Hour), now.Add(time.Hour))
	if err == nil {
		err = a.Save(c.Folder)
	}
	if err != nil {
		b.Fatal(err)
	}
	files := make([]*os.File, agents)
	for i := range files {
		id, err := a.Issue(i, now.Add(-time.Hour), now.Add(time.Hour))
		if err == nil {
			err = id.Save(c.Folder)
		}
		if err != nil {
			b.Fatal(err)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		c.Addresses = append(c.Addresses, l.Addr().String())
		files[i], err = l.(*net.TCPListener).File()
		if err := errors.Join(err, l.Close()); err != nil {
			b.Fatal(err)
		}
	}
	r := &ringJob{}
	for i, f := range files {
		c.Agent = i
		r.start(b, c, f)
	}
	b.Cleanup(func() { // first of all: each agent waits until all have ended
		for _, end := range r.ends {
			end.Close()
		}
	})
	return r
}

// start starts one agent, which ends with the benchmark.
func (r *ringJob) start(b *testing.B, c processConfig, listener *os.File) {
	defer listener.Close()
	cmd := exec.Command(os.Args[0], "-test.run=^TestProcess$")
	cmd.Env = append(os.Environ(), processEnv+"=1")
	cmd.ExtraFiles = []*os.File{listener}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		rest, _ := io.ReadAll(out)
		if err := cmd.Wait(); err != nil {
			b.Errorf("%s, agent %d: %v\n%s", c.Over, c.Agent, err, rest)
		}
	})
	r.ends = append(r.ends, in)
	r.in = append(r.in, json.NewEncoder(in))
	r.out = append(r.out, json.NewDecoder(out))
	if err := r.in[c.Agent].Encode(c); err != nil {
		b.Fatal(err)
	}
}

// turn has all agents exchange so many times.
func (r *ringJob) turn(b *testing.B, rounds int) (all turn) {
	for i, in := range r.in {
		if err := in.Encode(rounds); err != nil {
			b.Fatalf("agent %d: %v", i, err)
		}
	}
	for i, out := range r.out {
		var one turn
		if err := out.Decode(&one); err != nil {
			b.Fatalf("agent %d: %v", i, err)
		}
		all.CPU += one.CPU
		if i == 0 {
			all.Median = one.Median
		}
	}
	return all
}

// TestProcess is one agent of BenchmarkProcesses.
func TestProcess(t *testing.T) {
	if os.Getenv(processEnv) == "" {
		t.Skip("for BenchmarkProcesses")
	}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	var c processConfig
	if err := in.Decode(&c); err != nil {
		t.Fatal(err)
	}
	exchange := openProcess(t, c)
	for {
		var rounds int
		switch err := in.Decode(&rounds); {
		case err == io.EOF:
			return
		case err != nil:
			t.Fatal(err)
		}
		took := make([]time.Duration, rounds)
		before := cpuTime(t)
		for i := range took {
			start := time.Now()
			if err := exchange(); err != nil {
				t.Fatal(err)
			}
			took[i] = time.Since(start)
		}
		cpu := (cpuTime(t) - before) / time.Duration(rounds)
		slices.Sort(took)
		if err := out.Encode(turn{took[rounds/2], cpu}); err != nil {
			t.Fatal(err)
		}
	}
}

// cpuTime returns the processor's time of this process.
func cpuTime(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// openProcess returns an agent's exchange of a vector.
func openProcess(t *testing.T, c processConfig) func() error {
	l, err := net.FileListener(os.NewFile(3, "listener"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	id, err := pki.Load(c.Folder, c.Agent, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	g, err := network.Ring(len(c.Addresses), 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if c.Over == overTLS {
		conns, err := connect(t, g.W, c, l, id)
		if err != nil {
			t.Fatal(err)
		}
		return streamExchange(g.W.Row(c.Agent), c.Agent, conns, c.Length)
	}
	m, err := grpc.Open(grpc.Config{Agent: c.Agent, Matrix: g.W, Run: "test", Addresses: c.Addresses, Listener: l, Identity: id})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := errors.Join(m.Drain(ctx), m.Close()); err != nil {
			t.Error(err)
		}
	})
	v := make([]float64, c.Length)
	return func() error { return m.Mix(t.Context(), v, v) }
}

// connect opens plain TLS streams to the neighbours with higher numbers and takes those of the others.
func connect(t *testing.T, w *network.Matrix, c processConfig, l net.Listener, id *pki.Identity) (map[int]net.Conn, error) {
	conns := map[int]net.Conn{}
	for _, j := range w.Neighbours(c.Agent) {
		if j < c.Agent {
			continue
		}
		conn, err := tls.Dial("tcp", c.Addresses[j], id.Client(j))
		if err != nil {
			return nil, err
		}
		conns[j] = conn
		t.Cleanup(func() { conn.Close() })
	}
	for len(conns) < len(w.Neighbours(c.Agent)) {
		plain, err := l.Accept()
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { plain.Close() })
		conn := tls.Server(plain, id.Server())
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
