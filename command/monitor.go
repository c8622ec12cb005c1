package command

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"dsbo/experiment"
	"dsbo/internal/entrance"
	"dsbo/network"
	dsbogrpc "dsbo/network/grpc"
	"dsbo/runs"
)

// An exchange is an agent's end of the exchange, as a monitor sees it.
type exchange interface {
	Status() dsbogrpc.Status
}

// A monitor keeps the position of an agent and serves it over HTTP: /healthz for people and supervisors, /metrics for
// Prometheus. Any goroutine may call its methods.
type monitor struct {
	run   string
	agent int
	build prometheus.Labels // the program

	mu sync.Mutex
	position
}

// A position is how far an agent's run is, and its newest checkpoint.
type position struct {
	experiment.Progress
	saved    int // iteration of the newest checkpoint; -1: none yet
	savedAt  time.Time
	record   *runs.Record // the newest; nil: none yet
	expires  time.Time    // of its certificate; zero: it has none
	exchange exchange     // nil until the agent has opened it
}

func newMonitor(run string, agent int) *monitor {
	p := network.ThisProgram()
	program := prometheus.Labels{"version": p.Version, "kernels": p.Kernels, "architecture": p.Architecture, "level": p.Level, "arithmetic": p.Arithmetic, "go": runtime.Version()}
	return &monitor{run: run, agent: agent, build: program, position: position{Progress: experiment.Progress{Phase: "starting", Left: -1}, saved: -1}}
}

// update changes the position.
func (m *monitor) update(change func(p *position)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(&m.position)
}

// current returns a copy of the position.
func (m *monitor) current() position {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.position
}

// handler returns the HTTP handler of /healthz and /metrics.
func (m *monitor) handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(m, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", m.health)
	return mux
}

// health serves /healthz: the agent's position, what it waits for, and the neighbours that are not connected. It is 503 while an
// agent that does not compute holds up the run.
func (m *monitor) health(w http.ResponseWriter, _ *http.Request) {
	p := m.current()
	state, code, text := "ok", http.StatusOK, ""
	if p.exchange != nil {
		s := p.exchange.Status()
		if s.Holdup != nil {
			text = "; " + s.Holdup.String()
		}
		if s.Stalled {
			state, code = "waiting", http.StatusServiceUnavailable
		}
		if s.Waiting != "" {
			state, code, text = "waiting", http.StatusServiceUnavailable, text+"; "+s.Waiting
		}
		if s.Epoch > 0 {
			text += fmt.Sprintf("; epoch %d, of agents %s", s.Epoch, strings.Trim(fmt.Sprint(s.Members), "[]"))
		}
		var away []string
		for _, n := range s.Neighbours {
			if !n.Connected {
				away = append(away, fmt.Sprint(n.Agent))
			}
		}
		if len(away) > 0 {
			text += "; not connected: agent " + strings.Join(away, ", ")
		}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	fmt.Fprintf(w, "%s: agent %d of %s, %v%s\n", state, m.agent, m.run, p.Progress, text)
}

// Describe sends nothing: the metrics depend on the position of the agent.
func (m *monitor) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (m *monitor) Collect(to chan<- prometheus.Metric) {
	p := m.current()
	send := func(kind prometheus.ValueType, name, help string, value float64, labels prometheus.Labels) {
		desc := prometheus.NewDesc("dsbo_"+name, help, nil, labels)
		to <- prometheus.MustNewConstMetric(desc, kind, value)
	}
	gauge := func(name, help string, value float64, labels prometheus.Labels) {
		send(prometheus.GaugeValue, name, help, value, labels)
	}
	counter := func(name, help string, value float64, labels prometheus.Labels) {
		send(prometheus.CounterValue, name+"_total", help, value, labels)
	}
	gauge("agent_info", "The run and the number of the agent.", 1, prometheus.Labels{"run": m.run, "agent": fmt.Sprint(m.agent)})
	gauge("build_info", "The program of the agent.", 1, m.build)
	gauge("step", "Steps done in the phase.", float64(p.Done), prometheus.Labels{"phase": p.Phase})
	gauge("steps", "Steps of the phase in all.", float64(p.Of), prometheus.Labels{"phase": p.Phase})
	gauge("progress", "Share of the run's time that is spent, from 0 to 1.", p.Share, nil)
	if p.Left >= 0 {
		gauge("left_seconds", "Time to the end of the run, as it is expected.", p.Left.Seconds(), nil)
	}
	if p.record != nil {
		collectRecord(p.record, gauge)
	}
	if p.saved >= 0 {
		gauge("checkpoint_iteration", "Iteration of the newest checkpoint that this process has written.", float64(p.saved), nil)
		gauge("checkpoint_timestamp_seconds", "Time when it was written, in seconds since 1970.", float64(p.savedAt.UnixMilli())/1000, nil)
	}
	if !p.expires.IsZero() {
		gauge("certificate_expiry_timestamp_seconds", "Time when the agent's certificate expires, in seconds since 1970.", float64(p.expires.Unix()), nil)
	}
	if p.exchange == nil {
		return
	}
	s := p.exchange.Status()
	if s.Quorum > 0 {
		waiting := 0.0
		if s.Waiting != "" {
			waiting = 1
		}
		gauge("membership_epoch", "How often the members have changed.", float64(s.Epoch), nil)
		gauge("members", "Agents that take part.", float64(len(s.Members)), nil)
		gauge("membership_waiting", "1 while the members must change and cannot, for want of a quorum or of edges.", waiting, nil)
	}
	gauge("round", "The next exchange, or the one under way; a rollback lowers it.", float64(s.Round), nil)
	counter("rollbacks", "Times that the agent went back to an earlier exchange.", float64(s.Rewinds), nil)
	counter("refused_connections", "Connections that were refused.", float64(s.Refused), nil)
	counter("vectors_sent", "Vectors sent, one to each neighbour in an exchange, without repetitions.", float64(s.Vectors), nil)
	counter("vector_bytes_sent", "Bytes of the numbers in them.", float64(s.VectorBytes), nil)
	waiting, stalled := 0.0, 0.0
	if s.Holdup != nil {
		waiting = s.Holdup.Waiting.Seconds()
		gauge("holdup_agent", "The agent that holds up the exchange under way, in the end.", float64(s.Holdup.Agent), nil)
	}
	if s.Stalled {
		stalled = 1
	}
	gauge("waiting_seconds", "Time for which the exchange under way has waited for others; 0: it does not.", waiting, nil)
	gauge("stalled", "1 if it has waited for one that does not compute for so long that the log says so.", stalled, nil)
	for _, n := range s.Neighbours {
		neighbour, connected := prometheus.Labels{"neighbour": fmt.Sprint(n.Agent)}, 0.0
		if n.Connected {
			connected = 1
		}
		gauge("neighbour_connected", "1 if there is a connection.", connected, neighbour)
		gauge("neighbour_round", "Exchanges that the neighbour is known to have sent.", float64(n.Round), neighbour)
		gauge("neighbour_silent_seconds", "Time since the neighbour was heard.", n.Silent.Seconds(), neighbour)
		gauge("neighbour_present_waiting_seconds", "Time for which the exchange under way has waited for the neighbour's vector.", n.Waiting.Seconds(), neighbour)
		counter("neighbour_waiting_seconds", "Time spent waiting for the neighbour's vectors.", n.Waited.Seconds(), neighbour)
		counter("neighbour_connects", "Connections made to the neighbour.", float64(n.Connects), neighbour)
		counter("neighbour_frames_sent", "Frames sent to the neighbour, of all kinds.", float64(n.FramesSent), neighbour)
		counter("neighbour_bytes_sent", "Bytes of them, without what TLS and gRPC add.", float64(n.BytesSent), neighbour)
		counter("neighbour_frames_received", "Frames received from the neighbour, of all kinds.", float64(n.FramesReceived), neighbour)
		counter("neighbour_bytes_received", "Bytes of them, without what TLS and gRPC add.", float64(n.BytesReceived), neighbour)
		counter("neighbour_resent", "Vectors sent to the neighbour again.", float64(n.Resent), neighbour)
		counter("neighbour_offences", "Connections to the neighbour that ended because of what it sent.", float64(n.Offences), neighbour)
		counter("neighbour_duplicates", "Vectors received from the neighbour again.", float64(n.Duplicates), neighbour)
	}
}

// collectRecord sends what a record knows.
func collectRecord(r *runs.Record, gauge func(name, help string, value float64, labels prometheus.Labels)) {
	gauge("record_iteration", "Iteration of the newest record, of which the following are.", float64(r.Iteration), nil)
	for _, v := range []struct {
		name, help string
		value      runs.Number
	}{
		{"phi", "Φ, the validation loss at the best model for λ.", r.Phi},
		{"gradient_norm", "Norm of the gradient of Φ.", r.GradNorm},
		{"train_loss", "Training loss of an example.", r.TrainLoss},
		{"validation_loss", "Validation loss of an example.", r.ValLoss},
		{"holdout_loss", "Loss of a validation example that tunes nothing.", r.HoldoutLoss},
		{"test_loss", "Test loss of an example.", r.TestLoss},
		{"iterations_per_second", "Iterations a second since the record before, by their median time.", 1000 / r.MsPerIteration},
	} {
		if v.value.Known() {
			gauge(v.name, v.help, float64(v.value), nil)
		}
	}
}

// mostViewers is how many connections to both pages there may be at once; the oldest makes room.
const mostViewers = 64

// serve serves both pages on an address until stop is called, and returns the address, with the port chosen for port 0.
func (m *monitor) serve(address string) (bound string, stop func(), err error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", nil, fmt.Errorf("-http: %w", err)
	}
	s := &http.Server{
		Handler:           m.handler(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       5 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    8 << 10,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	l = entrance.Wrap(l, entrance.Limits{Strangers: mostViewers})
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
