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
	dsbogrpc "dsbo/network/grpc"
	"dsbo/runs"
)

// status returns what an exchange says of itself.
func status(s dsbogrpc.Status) func() dsbogrpc.Status { return func() dsbogrpc.Status { return s } }

// watched is of an exchange with two neighbours, one of which is not there.
var watched = status(dsbogrpc.Status{Round: 40, Rewinds: 2, Refused: 3, Vectors: 80, VectorBytes: 6400,
	Neighbours: []dsbogrpc.Neighbour{
		{Agent: 1, Connected: true, Connects: 2, Round: 41, Silent: 0, Waited: 1500 * time.Millisecond,
			FramesSent: 50, BytesSent: 5000, FramesReceived: 51, BytesReceived: 5100, Resent: 4, Duplicates: 5},
		{Agent: 3, Connects: 1, Round: 39, Silent: 6 * time.Second},
	}})

// stalled is of an exchange that waits for agent 5, as agent 3 says.
func stalled(computes bool) func() dsbogrpc.Status {
	return status(dsbogrpc.Status{Round: 17, Stalled: !computes,
		Neighbours: []dsbogrpc.Neighbour{{Agent: 3, Connected: true, Waiting: 20 * time.Second}},
		Holdup: &dsbogrpc.Holdup{Agent: 5, Source: 3, Exchange: 17, Waiting: 20 * time.Second, Computing: computes,
			Reason: "it is there"}})
}

// slowed is of an exchange that finds agent 3 too slow, and has left out agents 1 and 2 as slow.
var slowed = status(dsbogrpc.Status{Quorum: 3, Epoch: 2, Members: []int{0, 3, 4}, Slow: []int{1, 2},
	Neighbours: []dsbogrpc.Neighbour{{Agent: 3, Connected: true, Slow: true}}})

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
	if h := r.Header(); path == "/healthz" && (h.Get("Content-Type") != "text/plain; charset=utf-8" ||
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
dsbo_round 40
dsbo_rollbacks_total 2
dsbo_refused_connections_total 3
dsbo_vectors_sent_total 80
dsbo_vector_bytes_sent_total 6400
dsbo_neighbour_connected{neighbour="1"} 1
dsbo_neighbour_connected{neighbour="3"} 0
dsbo_neighbour_round{neighbour="1"} 41
dsbo_neighbour_silent_seconds{neighbour="3"} 6
dsbo_neighbour_waiting_seconds_total{neighbour="1"} 1.5
dsbo_neighbour_connects_total{neighbour="1"} 2
dsbo_neighbour_frames_sent_total{neighbour="1"} 50
dsbo_neighbour_bytes_sent_total{neighbour="1"} 5000
dsbo_neighbour_frames_received_total{neighbour="1"} 51
dsbo_neighbour_bytes_received_total{neighbour="1"} 5100
dsbo_neighbour_resent_total{neighbour="1"} 4
dsbo_neighbour_duplicates_total{neighbour="1"} 5
# TYPE dsbo_round gauge
# TYPE dsbo_rollbacks_total counter`, "\n")...)
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
	for _, not := range []string{"dsbo_checkpoint", "dsbo_certificate", "dsbo_record", "dsbo_phi", "dsbo_round",
		"dsbo_neighbour"} {
		if strings.Contains(text, not) {
			t.Errorf("%s in\n%s", not, text)
		}
	}
}

// TestHealth: /healthz says what an agent does. It is not well while it waits for one that does not
// compute, or while a member is at fault, and is when that one is left out.
func TestHealth(t *testing.T) {
	const slander = `agent 1 ended the run: </title><script>alert(1)</script>\x1b[2J`
	slandered := func(members ...int) func() dsbogrpc.Status {
		return status(dsbogrpc.Status{Epoch: 1, Members: members,
			Neighbours: []dsbogrpc.Neighbour{{Agent: 1, Connected: true, Fault: slander}}})
	}
	held := func(waiting time.Duration) func() dsbogrpc.Status { // for less time than makes it stalled
		return status(dsbogrpc.Status{Holdup: &dsbogrpc.Holdup{Agent: 1, Waiting: waiting, Reason: "it is there"}})
	}
	const well, ill = http.StatusOK, http.StatusServiceUnavailable
	for _, c := range []struct {
		status func() dsbogrpc.Status
		code   int
		state  string // before what it is of
		after  string // after how far it is
	}{
		{nil, well, "computes", ""},
		{watched, well, "computes", "; not connected: agent 3"},
		{held(999 * time.Millisecond), well, "computes", ""},
		{held(4 * time.Second), well, "waits for agent 1 since 4s", ""},
		{stalled(false), ill, "waiting", "; exchange 17 has waited for agent 5 for 20s: it is there, as agent 3 says"},
		{stalled(true), well, "waits for agent 5, which computes, since 20s", ""},
		{slowed, well, "computes", "; epoch 2, of agents 0 3 4; left out as slow: agent 1, 2; too slow: agent 3"},
		{slandered(0, 1, 2), ill, "waiting", "; epoch 1, of agents 0 1 2; " + slander},
		{slandered(0, 2), well, "computes", "; epoch 1, of agents 0 2; left out: " + slander},
	} {
		m := newMonitor("mnist-8", 2)
		for far, p := range map[string]experiment.Progress{"starting": m.Progress, "iteration 12 of 60, 1m30s left": {
			Phase: "iteration", Done: 12, Total: 60, Remaining: 90 * time.Second}} {
			m.position = position{Progress: p, status: c.status}
			want := c.state + ": agent 2 of mnist-8, " + far + c.after + "\n"
			if code, text := getCode(t, m, "/healthz"); code != c.code || text != want {
				t.Errorf("%d %q; it must be %d %q", code, text, c.code, want)
			}
		}
	}
}

// TestHoldup: the metrics say for whom an agent waits, whether that one computes, and who is
// too slow.
func TestHoldup(t *testing.T) {
	m := newMonitor("mnist-8", 2)
	for computes, stall := range map[bool]string{false: "dsbo_stalled 1", true: "dsbo_stalled 0"} {
		m.status = stalled(computes)
		wantMetrics(t, m, "dsbo_waiting_seconds 20", "dsbo_holdup_agent 5", stall,
			`dsbo_neighbour_present_waiting_seconds{neighbour="3"} 20`)
	}
	m.status = slowed
	wantMetrics(t, m, "dsbo_members_left_as_slow 2", `dsbo_neighbour_slow{neighbour="3"} 1`)
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
