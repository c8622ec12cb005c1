package experiment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"dsbo"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/membership"
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
func runRanks(t *testing.T, out, args, second string) [2]error {
	t.Helper()
	var teams []network.Team
	var closeAll func()
	var once sync.Once
	var errs [2]error
	var wg sync.WaitGroup
	for k := range errs {
		j := parseTiny(t, "-report=false -quiet -out="+out+" "+args+[]string{"", second}[k])
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

const tinyFlags = "-agents=3 -K=6 -eval-every=2 "

// TestRanks: ranks find what one process finds, write one run folder, and go on with it only as as
// many as they were.
func TestRanks(t *testing.T) {
	dir := t.TempDir()
	alone, together := filepath.Join(dir, "alone"), filepath.Join(dir, "together")
	testkit.OK(runIn(t, newTiny(), alone, tinyFlags))
	for _, err := range runRanks(t, together, tinyFlags, "") {
		testkit.OK(err)
	}
	leftBy(t, alone).check(t, together, "all")
	testkit.OK(os.Remove(filepath.Join(together, "summary.json")))
	err := runIn(t, newTiny(), together, "-resume")
	if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), "has its agents in 2 processes") {
		t.Errorf("one process goes on with a run of two: %v", err)
	}
	for _, err := range runRanks(t, together, "-resume", "") {
		testkit.OK(err)
	}
	leftBy(t, alone).check(t, together, "all")
}

// TestRanksThatDiffer: both ranks end with the name of the flag, and nothing is written.
func TestRanksThatDiffer(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	errs := runRanks(t, out, tinyFlags+"-seed=1", " -seed=5")
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
		r := newRunner(nil, nil)
		r.team = team
		new(oneAgent).fail(r, tt.err)
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
	testkit.OK(runIn(t, newTiny(), string(out), tinyFlags))
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

// A lone team has one agent, and neighbours that it knows of by what they need again.
type lone struct {
	round  int
	needed []int // by each Drain: an exchange that a neighbour needs again
	backTo []int // by each Rewind
}

func (*lone) Local() []int                              { return []int{0} }
func (l *lone) Mixer(int) dsbo.Mixer                    { return l }
func (*lone) Gather(context.Context, [][]float64) error { return nil }
func (*lone) Fail(error)                                {}
func (l *lone) Round() int                              { return l.round }

func (l *lone) Mix(_ context.Context, dst, src []float64) error {
	l.round++
	copy(dst, src)
	return nil
}

func (l *lone) Rewind(round int) error {
	l.round, l.backTo = round, append(l.backTo, round)
	return nil
}

func (l *lone) Drain(context.Context) error {
	if len(l.needed) == 0 {
		return nil
	}
	needed := l.needed[0]
	l.needed = l.needed[1:]
	return &network.RollbackError{Neighbour: 1, Round: needed}
}

// A dropped team is a lone one whose members change as the agent has finished: it begins epoch 1,
// and is none of epoch 2.
type dropped struct {
	*lone
	log    membership.Log
	epochs []int // that it has begun
}

func (d *dropped) Drain(context.Context) error {
	d.log = append(slices.Clip(d.log),
		membership.Change{Epoch: 1 + len(d.log), Iteration: 2, Members: []int{min(len(d.log), 1)}})
	return &network.ChangedError{Epoch: len(d.log)}
}

func (d *dropped) Changes() membership.Log { return d.log }

func (d *dropped) Reform(e membership.Epoch, round int) error {
	d.round, d.epochs = round, append(d.epochs, e.Number)
	return nil
}

func (*dropped) AwaitChange(context.Context, bool) error { return context.Canceled }

func (*dropped) TakeOver(context.Context, int, int) ([]byte, error) {
	return nil, errors.New("nobody is there")
}

// withTeam runs the method madsbo of one agent, whose exchange is a team's, in a folder.
func withTeam(t *testing.T, out, flags string, team network.Team) (seat *Seat, err error) {
	j := parseTiny(t, "-agents=1 -algorithm=madsbo -K=4 -checkpoint-every=1 -keep-checkpoints -report=false "+
		"-quiet -out="+out+flags)
	j.Layout = OneAgent(0, "the run",
		func(_ context.Context, _ *network.Graph, _ int, _ []byte, s *Seat, _ int) (network.Team, error) {
			seat = s
			return team, nil
		})
	err = j.Run(t.Context(), io.Discard, io.Discard)
	return seat, err
}

// TestOneAgentStopsLeftOut: an agent that was left out after it had finished, and is stopped as it
// waits, says so and ends in order.
func TestOneAgentStopsLeftOut(t *testing.T) {
	d := &dropped{lone: new(lone)}
	_, err := withTeam(t, filepath.Join(t.TempDir(), "run"), "", d)
	if !errors.Is(err, context.Canceled) || len(d.log) != 2 {
		t.Errorf("error %v after %d changes; it must be that it was interrupted, after 2", err, len(d.log))
	}
}

// TestOneAgentFinishedBefore: an agent that has finished and is lost, and whose members have
// changed, has not finished when it is back. What it hands over is the state of the epoch that it
// is asked for, though a later one began with the same iteration.
func TestOneAgentFinishedBefore(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	testkit.Get(withTeam(t, out, "", new(lone)))
	folder, log := runs.Folder(out),
		membership.Log{{Epoch: 1, Iteration: 2, Members: []int{0}}, {Epoch: 2, Iteration: 2, Members: []int{0}}}
	before := testkit.Get(folder.State())
	testkit.OK(folder.WriteChanges(log)) // as the council does
	if after := testkit.Get(folder.State()); before != runs.Finished || after != runs.Unfinished {
		t.Errorf("the run is %v, and after two changes %v; it must be finished, and unfinished", before, after)
	}
	d := &dropped{lone: new(lone), log: log}
	seat, err := withTeam(t, out, " -resume", d)
	if !errors.Is(err, context.Canceled) || !slices.Equal(d.epochs, []int{2, 3}) {
		t.Errorf("error %v after epochs %v; it must be that it was interrupted, after 2 and 3", err, d.epochs)
	}
	_, former := seat.Handover(1)
	if _, err := seat.Handover(2); former == nil || err != nil {
		t.Errorf(
			"for epoch 1 the error is %v, and for epoch 2, which has begun again with its iteration, %v; only the "+
				"state of epoch 2 is there", former, err)
	}
}

// TestOneAgentGoesBack: an agent that has finished goes back to its newest checkpoint from which it
// sends again what a neighbour needs, or stays where it is if it needs nothing again, and ends
// where it had ended.
func TestOneAgentGoesBack(t *testing.T) {
	run := func(t *testing.T, out string, needed ...int) *lone {
		l := &lone{needed: needed}
		testkit.Get(withTeam(t, out, "", l))
		return l
	}
	straight := filepath.Join(t.TempDir(), "run")
	end := run(t, straight).round
	points, damaged, err := train.Points(runs.Folder(straight), []int{0})
	if err != nil || damaged != nil || len(points) < 3 || points[1].Round <= points[2].Round+1 {
		t.Fatalf("checkpoints %+v, %v, %v; there must be some, with exchanges between them", points, damaged, err)
	}
	last, before := points[1].Round, points[2].Round
	for _, tt := range []struct{ needed, want int }{
		{end, end}, {end - 1, last}, {last, last}, {last - 1, before}, {before + 1, before}, {before, before}, {0, 0},
	} {
		out := filepath.Join(t.TempDir(), "run")
		l := run(t, out, tt.needed)
		if !slices.Equal(l.backTo, []int{tt.want}) || l.round != end {
			t.Errorf("exchange %d is needed again: back to %v, and to the end at %d; it must be %d and %d", tt.needed,
				l.backTo, l.round, tt.want, end)
		}
		leftBy(t, straight).check(t, out, fmt.Sprint("going back to ", tt.want))
	}
}
