package command

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"dsbo/experiment"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/network/session"
	"dsbo/runs"
)

// status returns what an agent's sessions tell of themselves.
func status(s session.Status) func() session.Status { return func() session.Status { return s } }

// watched is of a session with two neighbours, one of which is not there.
var watched = status(session.Status{Session: 9, Exchange: 40, Refused: 3, Vectors: 80, VectorBytes: 6400,
	Neighbours: []session.Neighbour{
		{Agent: 1, Connected: true, Connects: 2, Waited: 1500 * time.Millisecond, FramesSent: 50, BytesSent: 5000,
			FramesReceived: 51, BytesReceived: 5100},
		{Agent: 3, Connects: 1, Silent: 6 * time.Second},
	}})

// held is of a session whose exchange waits for agents 3 and 5.
func held(computes bool, since time.Duration) func() session.Status {
	return status(session.Status{Session: 4, Exchange: 17, Holdups: []int{3, 5}, Computing: computes, Since: since})
}

// meeting is of agents that cannot begin a session without agent 2, before a third one.
var meeting = status(session.Status{Session: 2, Meets: true, Waiting: "waits for agent 2", Holdups: []int{2},
	Since: 20 * time.Second, Quorum: 3})

// slowed is of a session that has left out agents 1 and 2 as slow.
var slowed = status(session.Status{Quorum: 3, Epoch: 2, Members: []int{0, 3, 4}, Slow: []int{1, 2}})

// pageAt returns what a monitor serves at a path, which must be well.
func pageAt(t *testing.T, m *monitor, path string) string {
	t.Helper()
	code, text := getCode(t, m, path)
	if code != http.StatusOK {
		t.Fatalf("%s: %d", path, code)
	}
	return text
}

// getCode checks that a page is plain text, too, which no browser runs.
func getCode(t *testing.T, m *monitor, path string) (code int, text string) {
	t.Helper()
	r := httptest.NewRecorder()
	m.handler().ServeHTTP(r, httptest.NewRequest(http.MethodGet, path, nil))
	if h := r.Header(); path != "/metrics" && (h.Get("Content-Type") != "text/plain; charset=utf-8" ||
		h.Get("X-Content-Type-Options") != "nosniff") {
		t.Errorf("headers %v; a browser must take it for text", h)
	}
	return r.Code, r.Body.String()
}

// wantMetrics checks that a monitor serves some metrics.
func wantMetrics(t *testing.T, m *monitor, lines ...string) {
	t.Helper()
	text := pageAt(t, m, "/metrics")
	for _, line := range lines {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
}

func TestMetrics(t *testing.T) {
	m := newMonitor("mnist-8", 2)
	m.position = position{
		Progress: experiment.Progress{Phase: "iteration", Done: 12, Total: 60, Share: 0.25,
			Remaining: 90 * time.Second},
		saved: 10, savedAt: time.UnixMilli(1_700_000_000_500), expires: time.Unix(1_800_000_000, 0),
		status: watched,
		record: &runs.Record{Iteration: 8, Phi: 0.25, TrainLoss: 0.5, ValLoss: runs.Unknown(), MsPerIteration: 20},
	}
	m.build = prometheus.Labels{"version": "v1", "go": "go1.26"}
	wantMetrics(t, m, strings.Split(`dsbo_agent_info{agent="2",run="mnist-8"} 1
dsbo_step{phase="iteration"} 12
dsbo_steps{phase="iteration"} 60
dsbo_progress 0.25
dsbo_left_seconds 90
dsbo_build_info{go="go1.26",version="v1"} 1
dsbo_record_iteration 8
dsbo_phi 0.25
dsbo_train_loss 0.5
dsbo_iterations_per_second 50
dsbo_checkpoint_iteration 10
dsbo_checkpoint_timestamp_seconds 1.7000000005e+09
dsbo_certificate_expiry_timestamp_seconds 1.8e+09
dsbo_session 9
dsbo_meets 0
dsbo_exchange 40
dsbo_ready 1
dsbo_waiting_seconds 0
dsbo_refused_connections_total 3
dsbo_session_vectors_sent 80
dsbo_session_vector_bytes_sent 6400
dsbo_neighbour_connected{neighbour="1"} 1
dsbo_neighbour_connected{neighbour="3"} 0
dsbo_neighbour_silent_seconds{neighbour="3"} 6
dsbo_neighbour_session_waiting_seconds{neighbour="1"} 1.5
dsbo_neighbour_connects_total{neighbour="1"} 2
dsbo_neighbour_frames_sent_total{neighbour="1"} 50
dsbo_neighbour_bytes_sent_total{neighbour="1"} 5000
dsbo_neighbour_frames_received_total{neighbour="1"} 51
dsbo_neighbour_bytes_received_total{neighbour="1"} 5100
# TYPE dsbo_session gauge
# TYPE dsbo_refused_connections_total counter`, "\n")...)
	text := pageAt(t, m, "/metrics")
	if strings.Contains(text, "dsbo_validation_loss") {
		t.Error("a loss that is not known")
	}
	if !strings.Contains(text, "go_goroutines ") {
		t.Error("nothing about the process")
	}
}

// An agent that has not come far has less to say.
func TestMetricsAtTheStart(t *testing.T) {
	text := pageAt(t, newMonitor("mnist-8", 0), "/metrics")
	if !strings.Contains(text, `dsbo_step{phase="starting"} 0`+"\n") {
		t.Error(text)
	}
	for _, not := range []string{"dsbo_checkpoint", "dsbo_certificate", "dsbo_record", "dsbo_phi", "dsbo_session",
		"dsbo_neighbour"} {
		if strings.Contains(text, not) {
			t.Errorf("%s in\n%s", not, text)
		}
	}
}

// TestHealth: /healthz and /readyz have an agent's activity, the agent it waits for and since when.
// They are 503 while no session can begin, or one that does not compute holds it up; /livez never
// is.
func TestHealth(t *testing.T) {
	const slander = `agent 1 ended the run: </title><script>alert(1)</script>\x1b[2J`
	slandered := status(session.Status{Epoch: 1, Members: []int{0, 1, 2},
		Neighbours: []session.Neighbour{{Agent: 1, Connected: true, Fault: slander}}})
	const well, ill = http.StatusOK, http.StatusServiceUnavailable
	for _, c := range []struct {
		status func() session.Status
		code   int
		state  string // before what it is of
		after  string // after how far it is
	}{
		{nil, well, "computes", ""},
		{watched, well, "computes", "; not connected: agent 3"},
		{held(false, 999*time.Millisecond), well, "computes", ""},
		{held(false, 4*time.Second), ill, "waiting", "; waits for agent 3, 5 since 4s"},
		{held(true, 20*time.Second), well, "waits", "; waits for agent 3, 5, which computes, since 20s"},
		{meeting, ill, "waiting", "; waits for agent 2, since 20s"},
		{slowed, well, "computes", "; epoch 2, of agents 0 3 4; left out as slow: agent 1, 2"},
		{slandered, well, "computes", "; epoch 1, of agents 0 1 2; " + slander},
	} {
		m := newMonitor("mnist-8", 2)
		for far, p := range map[string]experiment.Progress{"starting": m.Progress, "iteration 12 of 60, 1m30s left": {
			Phase: "iteration", Done: 12, Total: 60, Remaining: 90 * time.Second}} {
			m.position = position{Progress: p, status: c.status}
			want := c.state + ": agent 2 of mnist-8, " + far + c.after + "\n"
			for _, path := range []string{"/healthz", "/readyz"} {
				if code, text := getCode(t, m, path); code != c.code || text != want {
					t.Errorf("%s: %d %q; it must be %d %q", path, code, text, c.code, want)
				}
			}
			if text := pageAt(t, m, "/livez"); text != "alive: agent 2 of mnist-8, "+far+"\n" {
				t.Errorf("/livez: %q", text)
			}
		}
	}
}

// TestWaits: the metrics tell for whom an agent waits, since when, whether that one computes, and
// who is left out.
func TestWaits(t *testing.T) {
	m := newMonitor("mnist-8", 2)
	for computes, ready := range map[bool]string{false: "dsbo_ready 0", true: "dsbo_ready 1"} {
		m.status = held(computes, 20*time.Second)
		wantMetrics(t, m, "dsbo_waiting_seconds 20", `dsbo_waits{for="3"} 1`, `dsbo_waits{for="5"} 1`, "dsbo_meets 0",
			ready)
	}
	m.status = meeting
	wantMetrics(t, m, "dsbo_waiting_seconds 20", `dsbo_waits{for="2"} 1`, "dsbo_meets 1", "dsbo_ready 0",
		"dsbo_session 2")
	m.status = slowed
	wantMetrics(t, m, "dsbo_members_left_as_slow 2", "dsbo_waiting_seconds 0")
}

func TestServe(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, address := range []string{"0", ":0", "localhost:0"} {
		at, stop := testkit.Get2(newMonitor("r", 0).serve(testkit.Get((&options{http: address}).httpAddress(0))))
		if !strings.HasPrefix(at, "127.0.0.1:") && !strings.HasPrefix(at, "[::1]:") {
			t.Errorf("-http %s listens on %s, want it on loopback", address, at)
		}
		testkit.Get(http.Get("http://" + at + "/healthz")).Body.Close()
		if _, _, err := newMonitor("r", 0).serve(at); err == nil || !strings.Contains(err.Error(), "-http: ") {
			t.Errorf("an address that is taken: %v", err)
		}
		stop()
		http.DefaultClient.CloseIdleConnections()
	}
	_, err := (&options{http: "a:b:c"}).httpAddress(0)
	wantError(t, err, cli.Usage, "-http must be host:port")
}
