package experiment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"dsbo"
	"dsbo/data"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
	"dsbo/runs"
)

// A fakeWorld is a rank of two.
type fakeWorld int

func (w fakeWorld) Rank() int                 { return int(w) }
func (fakeWorld) Size() int                   { return 2 }
func (fakeWorld) Close(context.Context) error { return nil }
func (fakeWorld) Abort(int)                   {}

// runRanks runs a command line on two ranks of three agents; the second rank adds a flag of
// its own.
func runRanks(t *testing.T, out, args, second string, log io.Writer) [2]error {
	t.Helper()
	var teams []network.Team
	var closeAll func()
	var once sync.Once
	var errs [2]error
	var wg sync.WaitGroup
	for k := range errs {
		j := parseTiny(t, "-report=false -out="+out+" "+args+[]string{"", second}[k])
		j.Layout = &ranks{
			world: fakeWorld(k),
			open: func(_ context.Context, g *network.Graph) (network.Team, error) {
				once.Do(func() { teams, closeAll = networktest.Processes(g.W, []int{0, 1}, []int{2}) })
				return teams[k], nil
			},
		}
		wg.Go(func() { errs[k] = j.Run(t.Context(), io.Discard, []io.Writer{log, io.Discard}[k]) })
	}
	wg.Wait()
	closeAll()
	return errs
}

const tinyFlags = "-agents=3 -K=6 -eval-every=2 "

// TestRanks: ranks find what one process finds, write one run folder, and go on with it only as as
// many as they were.
func TestRanks(t *testing.T) {
	dir := t.TempDir()
	alone, together := filepath.Join(dir, "alone"), filepath.Join(dir, "together")
	testkit.OK(runIn(t, newTiny(), alone, tinyFlags))
	for _, err := range runRanks(t, together, tinyFlags+"-keep-checkpoints", "", io.Discard) {
		testkit.OK(err)
	}
	leftBy(t, alone).check(t, together, "all")
	testkit.OK(os.Remove(filepath.Join(together, "summary.json")))
	err := runIn(t, newTiny(), together, "-resume")
	if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), "has its agents in 2 processes") {
		t.Errorf("one process goes on with a run of two: %v", err)
	}
	var log bytes.Buffer
	for _, err := range runRanks(t, together, "-resume", "", &log) {
		testkit.OK(err)
	}
	leftBy(t, alone).check(t, together, "all")
	if !strings.Contains(log.String(), "going on after iteration 6") {
		t.Errorf("it does not go on where both were:\n%s", &log)
	}
}

// A gathering is a team of another agent, with 7 rows.
type gathering struct{ network.Team }

func (gathering) Gather(_ context.Context, rows [][]float64) error { rows[1][0] = 7; return nil }

// TestGatheredCounts: choices at the start are by the rows of all agents, where others have some.
func TestGatheredCounts(t *testing.T) {
	for want, team := range map[float64]network.Team{1: nil, 7: gathering{}} {
		counts := testkit.Get(gatherCounts(t.Context(), team, make([]data.Shard, 2),
			func(data.Shard) []float64 { return []float64{1} }))
		if counts[0][0] != 1 || counts[1][0] != want {
			t.Errorf("counts %v, want 1 and %g", counts, want)
		}
	}
}

// TestMoreRanksThanAgents: each process must have an agent.
func TestMoreRanksThanAgents(t *testing.T) {
	for agents, fault := range map[int]string{1: "-agents must be at least 2, the number of processes; it is 1",
		2: "met"} {
		j := parseTiny(t, fmt.Sprintf("-graph=complete -agents=%d -out=%s", agents, filepath.Join(t.TempDir(), "run")))
		j.Layout = &ranks{world: fakeWorld(0), open: func(context.Context, *network.Graph) (network.Team, error) {
			return nil, dsbo.ConfigErrorf("met")
		}}
		testkit.WantError(t, fault, j.Run(t.Context(), io.Discard, io.Discard), dsbo.ErrConfig, fault)
	}
}

// TestRanksThatDiffer: both ranks end with the name of the flag, and nothing is written.
func TestRanksThatDiffer(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	errs := runRanks(t, out, tinyFlags+"-seed=1", " -seed=5", io.Discard)
	want := "process of agent 2 runs with -seed 5, that of agent 0 with -seed 1"
	if !errors.Is(errs[0], dsbo.ErrConfig) || errs[0].Error() != want {
		t.Errorf("first rank: %v, want %s", errs[0], want)
	}
	if errs[1] == nil || !strings.Contains(errs[1].Error(), want) {
		t.Errorf("second rank: %v, want %s", errs[1], want)
	}
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
}

// TestJobError: all ranks of a job end with the exit code of the error that ended it, as any of
// them may be the first to end.
func TestJobError(t *testing.T) {
	for _, origin := range []error{
		dsbo.ConfigErrorf("-batch must be at most 30; it is 31"),
		fmt.Errorf("x: %w", dsbo.ErrDiverged), dsbo.ErrPeer,
		context.Canceled, errors.New("the disk is full"),
	} {
		heard := fmt.Errorf("exchange 3: %w",
			&network.EndedError{Process: "rank 1", Number: 1, Reason: origin.Error(), Kind: network.Kind(origin)})
		if own, others := cli.Code(cli.Reported(jobError(origin))),
			cli.Code(cli.Reported(jobError(heard))); own != others {
			t.Errorf("%v: exit code %d of its own rank, %d of others; they must be the same", origin, own, others)
		}
	}
}

// TestFlagsReplaced: a run is not resumed by the flags of another one, which was in its folder when
// the command line was read.
func TestFlagsReplaced(t *testing.T) {
	for flag, same := range map[string]bool{"-K=2": true, "-K=3": false} {
		r := ofJob(new(Job), run{folder: runs.Folder(t.TempDir())})
		r.settings.resumedFlags = []string{"-K=2"}
		testkit.OK(r.folder.WriteConfig(runs.Config{Flags: []string{flag}}))
		if err := r.checkFlags(); (err == nil) != same {
			t.Errorf("flag %s: %v", flag, err)
		}
		r.folder = runs.Folder(t.TempDir())
		if err := r.checkFlags(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("without a run: %v", err)
		}
	}
}

// TestFolderOfOthers: a run is resumed where its agents are, and by whom it belongs to.
func TestFolderOfOthers(t *testing.T) {
	for want, c := range map[string]runs.Config{"": {Transport: "local", Processes: 1},
		"in 2 processes (-transport local)": {Transport: "local", Processes: 2},
		"in 1 process (-transport mpi)":     {Transport: "mpi", Processes: 1},
		"holds another run":                 {Transport: "local", Processes: 1, Identity: "agent-1"}} {
		r := ofJob(new(Job), run{folder: runs.Folder(t.TempDir())})
		testkit.OK(r.folder.WriteConfig(c))
		err := r.checkOwner(inProcess{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
}

// TestGraphRead: a graph file has the number of agents, unless -agents has it; the rings' -w is for
// rings alone.
func TestGraphRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph.json")
	testkit.OK(os.WriteFile(path, []byte(`{"agents": 3, "edges": [[0, 1], [1, 2]]}`), 0o644))
	for args, want := range map[string]int{"-graph=" + path: 3, "-agents=3 -graph=" + path: 3,
		"-agents=2 -graph=" + path: 0, "-agents=5": 5} {
		s := parseTiny(t, args).Settings
		if g, err := s.network(); (err == nil) != (want > 0) || err == nil &&
			(g.W.N() != want || s.Agents != want || (s.W == 0) != (want == 3)) {
			t.Errorf("%q: %d agents, w = %g, error %v; want %d", args, s.Agents, s.W, err, want)
		}
	}
}
