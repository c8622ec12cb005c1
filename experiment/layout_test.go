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
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
	"dsbo/runs"
	"dsbo/train"
)

// A fakeWorld is a rank of two.
type fakeWorld int

func (w fakeWorld) Rank() int                 { return int(w) }
func (fakeWorld) Size() int                   { return 2 }
func (fakeWorld) Close(context.Context) error { return nil }
func (fakeWorld) Abort(int)                   {}

// runRanks runs a command line on two ranks of three agents; the second rank adds a flag of
// its own.
func runRanks(t *testing.T, args, second string) [2]error {
	t.Helper()
	var teams []network.Team
	var closeAll func()
	var once sync.Once
	var errs [2]error
	var wg sync.WaitGroup
	for k := range errs {
		text := args
		if k == 1 {
			text += second
		}
		j := parseTiny(t, text)
		j.Layout = &ranks{
			world: fakeWorld(k),
			open: func(_ context.Context, g *network.Graph) (network.Team, error) {
				once.Do(func() { teams, closeAll = networktest.Processes(g.W, []int{0, 1}, []int{2}) })
				return teams[k], nil
			},
		}
		wg.Go(func() { errs[k] = j.Run(t.Context(), io.Discard, io.Discard) })
	}
	wg.Wait()
	closeAll()
	return errs
}

const tinyFlags = "-agents=3 -K=6 -report=false -quiet -eval-every=2 "

// sameFiles checks that two runs found the same, to the byte.
func sameFiles(t *testing.T, a, b string) {
	t.Helper()
	for _, name := range []string{"lambda.npy", "omega.npy"} {
		one := testkit.Get(os.ReadFile(filepath.Join(a, name)))
		two := testkit.Get(os.ReadFile(filepath.Join(b, name)))
		if !bytes.Equal(one, two) {
			t.Errorf("%s differs", name)
		}
	}
}

// TestRanks: ranks find what one process finds, write one run folder, and go on with it only as as
// many as they were.
func TestRanks(t *testing.T) {
	dir := t.TempDir()
	alone, together := filepath.Join(dir, "alone"), filepath.Join(dir, "together")
	testkit.OK(parseTiny(t, tinyFlags+"-out="+alone).Run(t.Context(), io.Discard, io.Discard))
	for _, err := range runRanks(t, tinyFlags+"-out="+together, "") {
		testkit.OK(err)
	}
	sameFiles(t, alone, together)
	testkit.OK(os.Remove(filepath.Join(together, "summary.json")))
	err := parseTiny(t, "-resume -out="+together).Run(t.Context(), io.Discard, io.Discard)
	if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), "has its agents in 2 processes") {
		t.Errorf("one process goes on with a run of two: %v", err)
	}
	for _, err := range runRanks(t, "-resume -quiet -report=false -out="+together, "") {
		testkit.OK(err)
	}
	sameFiles(t, alone, together)
}

// TestRanksThatDiffer: both ranks end with the name of the flag, and nothing is written.
func TestRanksThatDiffer(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	errs := runRanks(t, tinyFlags+"-seed=1 -out="+out, " -seed=5")
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

// TestWhatEndsAllAgents: an agent that was stopped or could not write its files is waited for, any
// other error ends the run.
func TestWhatEndsAllAgents(t *testing.T) {
	disk := &fs.PathError{Op: "write", Path: "checkpoint", Err: errors.New("no space left on device")}
	for _, tt := range []struct {
		err  error
		ends bool
	}{
		{train.ErrInterrupted, false}, {fmt.Errorf("refit: %w", context.Canceled), false}, {disk, false},
		{dsbo.ConfigErrorf("-data: %w", disk), true}, {&dsbo.DivergedError{}, true},
		{errors.New("a defect"), true},
	} {
		team := &failing{}
		new(oneAgent).fail(&runner{team: team}, tt.err)
		if team.failed != tt.ends {
			t.Errorf("%v: ends the run is %t, want %t", tt.err, team.failed, tt.ends)
		}
	}
}

// A failing team notes whether it was told to end.
type failing struct {
	network.Team
	failed bool
}

func (f *failing) Fail(error) { f.failed = true }

// TestFolderOfAnother: an agent does not touch the run folder of another.
func TestFolderOfAnother(t *testing.T) {
	out := runs.Folder(filepath.Join(t.TempDir(), "run"))
	testkit.OK(parseTiny(t, tinyFlags+"-out="+string(out)).Run(t.Context(), io.Discard, io.Discard))
	j := parseTiny(t, tinyFlags+"-out="+string(out))
	j.Layout = OneAgent(1, "run agent-1", nil)
	if err := j.Run(t.Context(), io.Discard, io.Discard); !errors.Is(err, dsbo.ErrConfig) ||
		!strings.Contains(err.Error(), "holds another run") {
		t.Errorf("%v, want that the folder is refused", err)
	}
}

// newDeferred returns a task that loads when the agents have met, and knows its files before.
func newDeferred() Task {
	t := newTiny()
	t.Fingerprint = func(a Agents) ([]byte, error) { return fmt.Append(nil, "files of ", a.Local), nil }
	return t
}

// TestFingerprint: an agent meets the others with a fingerprint of its data: of its files if the
// task tells it, else of what the task has loaded.
func TestFingerprint(t *testing.T) {
	met := errors.New("met")
	of := func(agent int, task Task, args string) string {
		var got []byte
		later := task.Fingerprint != nil
		j := testkit.Get(Parse(task, strings.Fields(tinyFlags+args+" -out="+filepath.Join(t.TempDir(), "run")),
			io.Discard))
		j.Layout = OneAgent(agent, "run",
			func(_ context.Context, _ *network.Graph, _ int, fingerprint []byte, _ *Seat,
				longest int) (network.Team, error) {
				got = fingerprint
				if later != (longest == 0) {
					t.Errorf("at most %d numbers in a vector; it must be known if the data are loaded", longest)
				}
				return nil, met
			})
		if err := j.Run(t.Context(), io.Discard, io.Discard); !errors.Is(err, met) {
			t.Fatal(err)
		}
		return string(got)
	}
	first := of(1, newTiny(), "-seed=1")
	if again := of(1, newTiny(), "-seed=1 -K=7"); again != first || first == "" {
		t.Errorf("fingerprints %q and %q of the same data", first, again)
	}
	if other, seed := of(2, newTiny(), "-seed=1"), of(1, newTiny(), "-seed=2"); other == first || seed == first {
		t.Errorf("fingerprint %q of other data too", first)
	}
	if got := of(2, newDeferred(), ""); got != "files of [2]" {
		t.Errorf("fingerprint %q; it must be that of the files", got)
	}
}
