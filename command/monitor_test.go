package command

import (
	"io"
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

// watched is an exchange with two neighbours, one of which is not there.
type watched struct{}

func (watched) Status() dsbogrpc.Status {
	return dsbogrpc.Status{Round: 40, Rewinds: 2, Refused: 3, Vectors: 80, VectorBytes: 6400,
		Neighbours: []dsbogrpc.Neighbour{
			{
				Agent: 1, Connected: true, Connects: 2, Round: 41, Silent: 0, Waited: 1500 * time.Millisecond,
				FramesSent: 50, BytesSent: 5000, FramesReceived: 51, BytesReceived: 5100, Resent: 4, Duplicates: 5,
			},
			{Agent: 3, Connects: 1, Round: 39, Silent: 6 * time.Second},
		}}
}

// A stalled exchange waits for agent 5, as agent 3 says.
type stalled struct{ computes bool }

func (s stalled) Status() dsbogrpc.Status {
	return dsbogrpc.Status{Round: 17, Stalled: !s.computes,
		Neighbours: []dsbogrpc.Neighbour{{Agent: 3, Connected: true, Waiting: 20 * time.Second}},
		Holdup: &dsbogrpc.Holdup{Agent: 5, Source: 3, Exchange: 17, Waiting: 20 * time.Second, Computing: s.computes,
			Reason: "it is there"}}
}

// pageAt returns what a monitor serves at a path.
func pageAt(t *testing.T, m *monitor, path string) string {
	t.Helper()
	code, text := getCode(t, m, path)
	if code != http.StatusOK {
		t.Fatalf("%s: %d", path, code)
	}
	return text
}

func getCode(t *testing.T, m *monitor, path string) (code int, text string) {
	t.Helper()
	s := httptest.NewServer(m.handler())
	defer s.Close()
	r := testkit.Get(s.Client().Get(s.URL + path))
	defer r.Body.Close()
	return r.StatusCode, string(testkit.Get(io.ReadAll(r.Body)))
}

func TestMetrics(t *testing.T) {
	m := newMonitor("mnist-8", 2)
	m.position = position{
		Progress: experiment.Progress{Phase: "iteration", Done: 12, Total: 60, Share: 0.25,
			Remaining: 90 * time.Second},
		saved: 10, savedAt: time.UnixMilli(1_700_000_000_500), expires: time.Unix(1_800_000_000, 0),
		exchange: watched{},
		record:   &runs.Record{Iteration: 8, Phi: 0.25, TrainLoss: 0.5, ValLoss: runs.Unknown(), MsPerIteration: 20},
	}
	m.build = prometheus.Labels{"version": "v1", "go": "go1.26"}
	text := pageAt(t, m, "/metrics")
	for _, line := range strings.Split(`dsbo_agent_info{agent="2",run="mnist-8"} 1
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
# TYPE dsbo_rollbacks_total counter`, "\n") {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
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

func TestHealth(t *testing.T) {
	for want, p := range map[string]position{
		"starting": newMonitor("", 0).position,
		"iteration 12 of 60, 1m30s left; not connected: agent 3": {
			Progress: experiment.Progress{Phase: "iteration", Done: 12, Total: 60, Remaining: 90 * time.Second},
			exchange: watched{}},
	} {
		m := &monitor{run: "mnist-8", agent: 2, position: p}
		if got := pageAt(t, m, "/healthz"); got != "computes: agent 2 of mnist-8, "+want+"\n" {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A slandered exchange has a neighbour at fault, whose words say so.
type slandered struct{ members []int }

const slander = `agent 1 ended the run: </title><script>alert(1)</script>\x1b[2J`

func (s slandered) Status() dsbogrpc.Status {
	return dsbogrpc.Status{Epoch: 1, Members: s.members,
		Neighbours: []dsbogrpc.Neighbour{{Agent: 1, Connected: true, Fault: slander}}}
}

// TestFaultyNeighbour: /healthz is not well while a member is at fault, and is when that one is
// left out. Its words are no page.
func TestFaultyNeighbour(t *testing.T) {
	m := newMonitor("mnist-8", 2)
	for _, tt := range []struct {
		members []int
		code    int
		says    string
	}{
		{[]int{0, 1, 2}, http.StatusServiceUnavailable,
			"waiting: agent 2 of mnist-8, starting; epoch 1, of agents 0 1 2; " + slander + "\n"},
		{[]int{0, 2}, http.StatusOK,
			"computes: agent 2 of mnist-8, starting; epoch 1, of agents 0 2; left out: " + slander + "\n"},
	} {
		m.position.exchange = slandered{tt.members}
		r := httptest.NewRecorder()
		m.handler().ServeHTTP(r, httptest.NewRequest(http.MethodGet, "/healthz", nil))
		if got := r.Body.String(); r.Code != tt.code || got != tt.says {
			t.Errorf("%d %q; it must be %d %q", r.Code, got, tt.code, tt.says)
		}
		if h := r.Header(); h.Get("Content-Type") != "text/plain; charset=utf-8" ||
			h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("headers %v; a browser must take it for text", h)
		}
	}
}

// TestWait: an agent that has waited for a moment says so in place of what it does, and is well.
func TestWait(t *testing.T) {
	m := newMonitor("mnist-8", 2)
	for waiting, want := range map[time.Duration]string{
		999 * time.Millisecond: "computes: agent 2 of mnist-8, starting\n",
		4 * time.Second:        "waits for agent 1 since 4s: agent 2 of mnist-8, starting\n",
	} {
		m.position.exchange = held{waiting}
		if got := pageAt(t, m, "/healthz"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A held exchange has waited for agent 1, for less time than makes it stalled.
type held struct{ waiting time.Duration }

func (h held) Status() dsbogrpc.Status {
	return dsbogrpc.Status{Holdup: &dsbogrpc.Holdup{Agent: 1, Waiting: h.waiting, Reason: "it is there"}}
}

// TestHoldup: an agent that waits for one that does not compute is not well, and says for whom
// it waits.
func TestHoldup(t *testing.T) {
	m := newMonitor("mnist-8", 2)
	for _, computes := range []bool{false, true} {
		m.position.exchange = stalled{computes}
		want, says := http.StatusServiceUnavailable, "waiting: agent 2 of mnist-8, starting; "
		if computes {
			want, says = http.StatusOK,
				"waits for agent 5, which computes, since 20s: agent 2 of mnist-8, starting\n"
		} else {
			says += "exchange 17 has waited for agent 5 for 20s: it is there, as agent 3 says\n"
		}
		if code, text := getCode(t, m, "/healthz"); code != want || text != says {
			t.Errorf("%d %q; it must be %d %q", code, text, want, says)
		}
		stalled := "dsbo_stalled 1\n"
		if computes {
			stalled = "dsbo_stalled 0\n"
		}
		for _, line := range []string{"dsbo_waiting_seconds 20\n", "dsbo_holdup_agent 5\n", stalled,
			`dsbo_neighbour_present_waiting_seconds{neighbour="3"} 20` + "\n"} {
			if text := pageAt(t, m, "/metrics"); !strings.Contains(text, line) {
				t.Errorf("no line %q in\n%s", line, text)
			}
		}
	}
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
