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
	"dsbo/internal/wording"
	"dsbo/network"
	"dsbo/network/pki"
	"dsbo/network/session"
	"dsbo/runs"
)

// A monitor keeps the position of an agent and serves it over HTTP: /livez and /readyz for
// supervisors, /healthz, which is /readyz, for people, /metrics for Prometheus. Any goroutine may
// call its methods.
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
	saved   int // iteration of the newest checkpoint; -1: none yet
	savedAt time.Time
	record  *runs.Record          // the newest; nil: none yet
	expires time.Time             // of its certificate; zero: it has none
	status  func() session.Status // of its end of the exchange; nil until the agent has opened it
}

func newMonitor(run string, agent int) *monitor {
	p := network.ThisProgram()
	program := prometheus.Labels{"version": p.Version, "kernels": p.Kernels, "architecture": p.Architecture,
		"level": p.Level, "arithmetic": p.Arithmetic, "go": runtime.Version()}
	return &monitor{run: run, agent: agent, build: program,
		position: position{Progress: experiment.Progress{Phase: "starting", Remaining: -1}, saved: -1}}
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

// handler returns the HTTP handler of all pages.
func (m *monitor) handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(m, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /livez", m.serveLive)
	mux.HandleFunc("GET /readyz", m.serveReady)
	mux.HandleFunc("GET /healthz", m.serveReady)
	return mux
}

// serveLive serves /livez: 200 as long as the process answers, also while it waits for other
// agents, since a restart would not help. It does not answer if the agent's lock is never released.
func (m *monitor) serveLive(w http.ResponseWriter, _ *http.Request) {
	if p := m.current(); p.status != nil {
		p.status()
	}
	m.writePage(w, http.StatusOK, "alive", "")
}

// serveReady serves /readyz and /healthz: the agent's state and position, the agent that it waits
// for and since when, and neighbours that are not connected. Waiting for an agent that computes is
// normal ("waits", 200). The status is 503 ("waiting") while no session can begin, or another cause
// delays it.
func (m *monitor) serveReady(w http.ResponseWriter, _ *http.Request) {
	state, code, details := "computes", http.StatusOK, ""
	if p := m.current(); p.status != nil {
		s := p.status()
		if holdup := s.Holdup(); holdup != "" {
			state = "waits"
			if details = "; " + holdup; !isReady(s) {
				state, code = "waiting", http.StatusServiceUnavailable
			}
		}
		details += sessionDetails(s)
	}
	m.writePage(w, code, state, details)
}

// isReady reports whether the agent computes, or waits for an agent that does.
func isReady(s session.Status) bool { return s.Holdup() == "" || s.Computing }

func (m *monitor) writePage(w http.ResponseWriter, code int, state, details string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff") // others' text is none that a browser runs
	w.WriteHeader(code)
	fmt.Fprintf(w, "%s: agent %d of %s, %v%s\n", state, m.agent, m.run, m.current().Progress, details)
}

// sessionDetails returns, each after a semicolon: the members, if they have changed; members left
// out as slow; faults of neighbours; and neighbours that are not connected.
func sessionDetails(s session.Status) string {
	text := ""
	if s.Epoch > 0 {
		text += fmt.Sprintf("; epoch %d, of agents %s", s.Epoch, strings.Trim(fmt.Sprint(s.Members), "[]"))
	}
	if len(s.Slow) > 0 {
		text += "; left out as slow: agent " + wording.List(s.Slow)
	}
	var missing []int
	for _, n := range s.Neighbours {
		if n.Fault != "" {
			text += "; " + n.Fault
		}
		if !n.Connected {
			missing = append(missing, n.Agent)
		}
	}
	if len(missing) > 0 {
		text += "; not connected: agent " + wording.List(missing)
	}
	return text
}

// mostViewers is how many connections to the pages there may be at once; the oldest makes room.
const mostViewers = 64

// serve serves the pages on an address until stop is called, which waits for the server to end. It
// returns the bound address, with the chosen port if port 0 was asked for. Timeouts and the number
// of connections are limited, as anybody who reaches the port can use it.
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
	l = pki.LimitStrangers(l, pki.Limits{Strangers: mostViewers})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Serve(l) // always ends with an error, after stop
	}()
	return l.Addr().String(), func() {
		_ = s.Close()
		<-ended
	}, nil
}
