package command

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"dsbo"
	dsbogrpc "dsbo/network/grpc"
)

// An exchange is the part of an agent's end of the exchange that is watched.
type exchange interface {
	Status() dsbogrpc.Status
}

// A monitor knows how far an agent is, and tells whoever asks over HTTP: /healthz for people and supervisors, /metrics
// for Prometheus. Any goroutine may call its methods.
type monitor struct {
	run   string
	agent int

	mu       sync.Mutex
	phase    string // what is done now
	done, of int    // steps of it
	saved    int    // iteration of the newest checkpoint; -1: none yet
	savedAt  time.Time
	exchange exchange // nil before it is open
}

func newMonitor(run string, agent int) *monitor {
	return &monitor{run: run, agent: agent, phase: "starting", saved: -1}
}

func (m *monitor) start(phase string, of int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.phase, m.done, m.of = phase, 0, of
}

func (m *monitor) set(done int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done = done
}

func (m *monitor) checkpoint(iteration int, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.saved, m.savedAt = iteration, at
}

func (m *monitor) watch(e exchange) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.exchange = e
}

// handler returns what is served.
func (m *monitor) handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(m, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", m.health)
	return mux
}

// health answers as long as the process does; whom the agent waits for is in the text.
func (m *monitor) health(w http.ResponseWriter, _ *http.Request) {
	m.mu.Lock()
	text := fmt.Sprintf("ok: agent %d of %s, %s", m.agent, m.run, m.phase)
	if m.of > 0 {
		text += fmt.Sprintf(" %d of %d", m.done, m.of)
	}
	e := m.exchange
	m.mu.Unlock()
	if e != nil {
		var away []string
		for _, n := range e.Status().Neighbours {
			if !n.Connected {
				away = append(away, fmt.Sprint(n.Agent))
			}
		}
		if len(away) > 0 {
			text += "; not connected: agent " + strings.Join(away, ", ")
		}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintln(w, text)
}

// What Prometheus is told of an agent.
var (
	aboutAgent = prometheus.NewDesc("dsbo_agent_info", "Which agent of which run this is.", []string{"run", "agent"}, nil)
	aboutDone  = prometheus.NewDesc("dsbo_step", "Steps done of the phase.", []string{"phase"}, nil)
	aboutOf    = prometheus.NewDesc("dsbo_steps", "Steps that the phase has.", []string{"phase"}, nil)
	aboutSaved = prometheus.NewDesc("dsbo_checkpoint_iteration", "Iteration of the newest checkpoint that this process has written.", nil, nil)
	aboutWhen  = prometheus.NewDesc("dsbo_checkpoint_timestamp_seconds", "When it was written, in seconds since 1970.", nil, nil)
)

// A quantity is a number about a whole exchange, or about one neighbour in it.
type quantity[T any] struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(T) float64
}

func gauge[T any](name, help string, labels []string, of func(T) float64) quantity[T] {
	return quantity[T]{prometheus.NewDesc("dsbo_"+name, help, labels, nil), prometheus.GaugeValue, of}
}

func counter[T any](name, help string, labels []string, of func(T) float64) quantity[T] {
	return quantity[T]{prometheus.NewDesc("dsbo_"+name+"_total", help, labels, nil), prometheus.CounterValue, of}
}

var aboutExchange = []quantity[dsbogrpc.Status]{
	gauge("round", "The next exchange, or the one under way; a rollback lowers it.", nil, func(s dsbogrpc.Status) float64 { return float64(s.Round) }),
	counter("rollbacks", "How often the agent went back to an earlier exchange.", nil, func(s dsbogrpc.Status) float64 { return float64(s.Rewinds) }),
	counter("refused_connections", "Connections that were refused.", nil, func(s dsbogrpc.Status) float64 { return float64(s.Refused) }),
	counter("vectors_sent", "Vectors sent, one to each neighbour in an exchange, each once.", nil, func(s dsbogrpc.Status) float64 { return float64(s.Vectors) }),
	counter("vector_bytes_sent", "Bytes of the numbers in them.", nil, func(s dsbogrpc.Status) float64 { return float64(s.VectorBytes) }),
}

var byNeighbour = []string{"neighbour"}

var aboutNeighbour = []quantity[dsbogrpc.Neighbour]{
	gauge("neighbour_connected", "1 if there is a connection.", byNeighbour, func(n dsbogrpc.Neighbour) float64 {
		if n.Connected {
			return 1
		}
		return 0
	}),
	gauge("neighbour_round", "Exchanges that the neighbour is known to have sent.", byNeighbour, func(n dsbogrpc.Neighbour) float64 { return float64(n.Round) }),
	gauge("neighbour_silent_seconds", "Time since something was heard of it.", byNeighbour, func(n dsbogrpc.Neighbour) float64 { return n.Silent.Seconds() }),
	counter("neighbour_waiting_seconds", "Time spent waiting for its vectors.", byNeighbour, func(n dsbogrpc.Neighbour) float64 { return n.Waited.Seconds() }),
	counter("neighbour_connects", "How often a connection was made.", byNeighbour, func(n dsbogrpc.Neighbour) float64 { return float64(n.Connects) }),
	counter("neighbour_frames_sent", "Frames sent to it, of all kinds.", byNeighbour, func(n dsbogrpc.Neighbour) float64 { return float64(n.FramesSent) }),
	counter("neighbour_bytes_sent", "Bytes of them, without what TLS and gRPC add.", byNeighbour, func(n dsbogrpc.Neighbour) float64 { return float64(n.BytesSent) }),
	counter("neighbour_frames_received", "Frames received from it, of all kinds.", byNeighbour, func(n dsbogrpc.Neighbour) float64 { return float64(n.FramesReceived) }),
	counter("neighbour_bytes_received", "Bytes of them.", byNeighbour, func(n dsbogrpc.Neighbour) float64 { return float64(n.BytesReceived) }),
	counter("neighbour_resent", "Vectors that were sent to it again.", byNeighbour, func(n dsbogrpc.Neighbour) float64 { return float64(n.Resent) }),
	counter("neighbour_duplicates", "Vectors that came again.", byNeighbour, func(n dsbogrpc.Neighbour) float64 { return float64(n.Duplicates) }),
}

// Describe implements prometheus.Collector.
func (m *monitor) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{aboutAgent, aboutDone, aboutOf, aboutSaved, aboutWhen} {
		to <- d
	}
	for _, q := range aboutExchange {
		to <- q.desc
	}
	for _, q := range aboutNeighbour {
		to <- q.desc
	}
}

// Collect implements prometheus.Collector.
func (m *monitor) Collect(to chan<- prometheus.Metric) {
	m.mu.Lock()
	phase, done, of, saved, at, e := m.phase, m.done, m.of, m.saved, m.savedAt, m.exchange
	m.mu.Unlock()
	send := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	send(aboutAgent, prometheus.GaugeValue, 1, m.run, fmt.Sprint(m.agent))
	send(aboutDone, prometheus.GaugeValue, float64(done), phase)
	send(aboutOf, prometheus.GaugeValue, float64(of), phase)
	if saved >= 0 {
		send(aboutSaved, prometheus.GaugeValue, float64(saved))
		send(aboutWhen, prometheus.GaugeValue, float64(at.UnixMilli())/1000)
	}
	if e == nil {
		return
	}
	now := e.Status()
	for _, q := range aboutExchange {
		send(q.desc, q.kind, q.of(now))
	}
	for _, n := range now.Neighbours {
		for _, q := range aboutNeighbour {
			send(q.desc, q.kind, q.of(n), fmt.Sprint(n.Agent))
		}
	}
}

// httpAddress returns the host:port that -http stands for: a port alone is on loopback.
func httpAddress(text string) (string, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		host, port, err = net.SplitHostPort(":" + text)
	}
	if err != nil || !isPort(port) {
		return "", dsbo.Errorf(dsbo.ErrConfig, "-http must be host:port, or a port, which is then on loopback; it is %s", text)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// serve answers on the address that -http stands for until stop is called. It returns where.
func (m *monitor) serve(address string) (at string, stop func(), err error) {
	if address, err = httpAddress(address); err != nil {
		return "", nil, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", nil, fmt.Errorf("-http: %w", err)
	}
	s := &http.Server{Handler: m.handler(), ReadHeaderTimeout: 5 * time.Second}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Serve(l) // ends by stop, with an error that says so
	}()
	return l.Addr().String(), func() {
		_ = s.Close()
		<-ended
	}, nil
}
