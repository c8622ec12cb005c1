package command

import (
	"path/filepath"
	"strings"
	"testing"

	"dsbo/internal/cli"
	dsbogrpc "dsbo/network/grpc"
)

// TestStragglerDeadline: a deadline for slow agents needs a quorum, and time enough; each refusal
// says why.
func TestStragglerDeadline(t *testing.T) {
	quorum := map[string]any{"quorum": 2, "absent_after": "1m"}
	for _, tt := range []struct {
		settings map[string]any
		deadline string
		want     string
	}{
		{nil, "10m", `-straggler-deadline needs a "quorum" in the cluster file`},
		{quorum, "5s",
			"-straggler-deadline must be longer than -silent-after, 5s, and at most -compute-timeout, 24h0m0s; " +
				"it is 5s"},
		{quorum, "25h",
			"-straggler-deadline must be longer than -silent-after, 5s, and at most -compute-timeout, " +
				"24h0m0s; it is 25h"},
		{quorum, "-1m", "-straggler-deadline must be longer than -silent-after"},
	} {
		for _, verb := range []string{"run", "agent"} {
			dir := t.TempDir()
			args := []string{verb, "-cluster=" + writeCluster(t, dir, 3, tt.settings),
				"-out=" + filepath.Join(dir, "run"), "-straggler-deadline=" + tt.deadline}
			if verb == "agent" {
				args = append(args, "-agent=0")
			}
			_, err := command(t, args...)
			wantError(t, err, cli.Usage, tt.want)
		}
	}
}

// A slowed exchange finds agent 3 too slow, and has left out agents 1 and 2 as slow.
type slowed struct{}

func (slowed) Status() dsbogrpc.Status {
	return dsbogrpc.Status{Quorum: 3, Epoch: 2, Members: []int{0, 3, 4}, Slow: []int{1, 2},
		Neighbours: []dsbogrpc.Neighbour{{Agent: 3, Connected: true, Slow: true}}}
}

// TestSlowIsShown on both pages.
func TestSlowIsShown(t *testing.T) {
	m := newMonitor("mnist-8", 0)
	m.position.exchange = slowed{}
	if text := pageAt(t, m, "/healthz"); !strings.HasSuffix(text,
		"; epoch 2, of agents 0 3 4; left out as slow: agent 1, 2; too slow: agent 3\n") {
		t.Errorf("/healthz: %q", text)
	}
	for _, line := range []string{"dsbo_members_left_as_slow 2\n", `dsbo_neighbour_slow{neighbour="3"} 1` + "\n"} {
		if text := pageAt(t, m, "/metrics"); !strings.Contains(text, line) {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
}
