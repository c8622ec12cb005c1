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
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train"
)

// A meeting is where ranks that are goroutines of one test gather: the last that comes hands out all rows.
type meeting struct {
	mu    sync.Mutex
	next  *sync.Cond
	size  int
	teams []*rankTeam
	rows  [][][]float64
	turn  int
	err   error
}

// A rankTeam is the agents of one of these ranks.
type rankTeam struct {
	exchange *network.Local
	local    []int
	at       *meeting
}

func (r *rankTeam) Local() []int           { return r.local }
func (r *rankTeam) Mixer(i int) dsbo.Mixer { return r.exchange.Mixer(i) }

func (r *rankTeam) Fail(err error) {
	r.at.mu.Lock()
	defer r.at.mu.Unlock()
	if r.at.err == nil {
		r.at.err = err
	}
	r.at.next.Broadcast()
	r.exchange.Fail(err)
}

func (r *rankTeam) Gather(_ context.Context, rows [][]float64) error {
	m := r.at
	m.mu.Lock()
	defer m.mu.Unlock()
	m.teams, m.rows = append(m.teams, r), append(m.rows, rows)
	if len(m.teams) < m.size {
		for turn := m.turn; m.turn == turn && m.err == nil; {
			m.next.Wait()
		}
		return m.err
	}
	for k, from := range m.teams {
		for _, i := range from.local {
			for _, to := range m.rows {
				copy(to[i], m.rows[k][i])
			}
		}
	}
	m.teams, m.rows = nil, nil
	m.turn++
	m.next.Broadcast()
	return m.err
}

// A fakeWorld is a rank of two.
type fakeWorld int

func (w fakeWorld) Rank() int                 { return int(w) }
func (fakeWorld) Size() int                   { return 2 }
func (fakeWorld) Close(context.Context) error { return nil }
func (fakeWorld) Abort(int)                   {}

// runRanks runs a command line on two ranks of three agents; the second rank adds a flag of its own.
func runRanks(t *testing.T, args, second string) [2]error {
	t.Helper()
	m := &meeting{size: 2}
	m.next = sync.NewCond(&m.mu)
	var exchange *network.Local
	var once sync.Once
	var errs [2]error
	var wg sync.WaitGroup
	for k, local := range [][]int{{0, 1}, {2}} {
		text := args
		if k == 1 {
			text += second
		}
		j := parseTiny(t, text)
		j.Layout = &ranks{
			world: fakeWorld(k),
			open: func(_ context.Context, g *network.Graph) (network.Team, error) {
				once.Do(func() { exchange = network.NewLocal(g.W) })
				return &rankTeam{exchange, local, m}, nil
			},
		}
		wg.Go(func() { errs[k] = j.Run(t.Context(), io.Discard, io.Discard) })
	}
	wg.Wait()
	exchange.Close()
	return errs
}

const tinyFlags = "-agents=3 -K=6 -refit=20 -report=false -quiet -eval-every=2 "

// sameFiles checks that two runs found the same, to the byte.
func sameFiles(t *testing.T, a, b string) {
	t.Helper()
	for _, name := range []string{"lambda.npy", "omega.npy"} {
		one, err := os.ReadFile(filepath.Join(a, name))
		if err != nil {
			t.Fatal(err)
		}
		two, err := os.ReadFile(filepath.Join(b, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one, two) {
			t.Errorf("%s differs", name)
		}
	}
}

// TestRanks: ranks find what one process finds, write one run folder, and go on with it only as as many as they were.
func TestRanks(t *testing.T) {
	dir := t.TempDir()
	alone, together := filepath.Join(dir, "alone"), filepath.Join(dir, "together")
	if err := parseTiny(t, tinyFlags+"-out="+alone).Run(t.Context(), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, err := range runRanks(t, tinyFlags+"-out="+together, "") {
		if err != nil {
			t.Fatal(err)
		}
	}
	sameFiles(t, alone, together)
	if err := os.Remove(filepath.Join(together, "summary.json")); err != nil {
		t.Fatal(err)
	}
	err := parseTiny(t, "-resume -out="+together).Run(t.Context(), io.Discard, io.Discard)
	if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), "has its agents in 2 processes") {
		t.Errorf("one process goes on with a run of two: %v", err)
	}
	for _, err := range runRanks(t, "-resume -quiet -report=false -out="+together, "") {
		if err != nil {
			t.Fatal(err)
		}
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

// TestWhatEndsAllAgents: an agent that was stopped or could not write its files is waited for, any other error ends the run.
func TestWhatEndsAllAgents(t *testing.T) {
	disk := &fs.PathError{Op: "write", Path: "checkpoint", Err: errors.New("no space left on device")}
	for _, tt := range []struct {
		err  error
		ends bool
	}{
		{train.ErrInterrupted, false}, {fmt.Errorf("refit: %w", context.Canceled), false}, {disk, false},
		{dsbo.Errorf(dsbo.ErrConfig, "-data: %w", disk), true}, {&dsbo.DivergedError{}, true}, {errors.New("a defect"), true},
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
	if err := parseTiny(t, tinyFlags+"-out="+string(out)).Run(t.Context(), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	j := parseTiny(t, tinyFlags+"-out="+string(out))
	j.Layout = OneAgent(1, "run agent-1", nil)
	if err := j.Run(t.Context(), io.Discard, io.Discard); !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), "holds another run") {
		t.Errorf("%v, want that the folder is refused", err)
	}
}
