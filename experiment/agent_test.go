package experiment

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/network/register"
	"dsbo/runs"
	"dsbo/train"
)

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
		m := &lone{}
		(&oneAgent{meeting: m}).fail(tt.err)
		if m.failed != tt.ends {
			t.Errorf("%v: ends the run is %t, want %t", tt.err, m.failed, tt.ends)
		}
	}
}

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
		later, out := task.Fingerprint != nil, runs.Folder(filepath.Join(t.TempDir(), "run"))
		j := testkit.Get(Parse(task, strings.Fields(tinyFlags+args+" -out="+string(out)), io.Discard))
		j.Layout = OneAgent(agent, "run",
			func(_ *network.Graph, _ register.Store, data []byte, longest int) (Meeting, error) {
				got = data
				if later != (longest == 0) {
					t.Errorf("at most %d numbers in a vector; it must be known if the data are loaded", longest)
				}
				return nil, met
			})
		if err := j.Run(t.Context(), io.Discard, io.Discard); !errors.Is(err, met) {
			t.Fatal(err)
		}
		if state, err := out.State(); state != runs.Absent || err != nil {
			t.Errorf("a meeting that did not begin leaves a folder: %v, %v", state, err)
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
	files := of(2, newDeferred(), "-p=4")
	for _, tt := range []struct {
		agent int
		args  string
		same  bool
	}{{2, "-p=4 -K=7", true}, {1, "-p=4", false}, {2, "-p=4 -seed=7", false}, {2, "-p=3", false}} {
		if same := of(tt.agent, newDeferred(), tt.args) == files; same != tt.same {
			t.Errorf("agent %d with %s has the fingerprint of agent 2's files with -p=4: %v", tt.agent, tt.args, same)
		}
	}
	more := newDeferred() // of a later program, which has one more flag
	flags := more.Flags
	more.Flags = func(f *flag.FlagSet) { flags(f); f.Int("later", 1, "`number`") }
	if of(2, more, "-p=4") != files || of(2, more, "-p=4 -later=2") == files {
		t.Error("a flag of a later program must change the fingerprint where it is set, and only there")
	}
}

// A lone agent meets nobody: each session begins with its newest point, and ends as the agent has
// saved often enough.
type lone struct {
	network.Team
	folder register.Store
	begun  []register.Session // sessions
	lasts  int                // how often the agent can save in a session
	left   int                // how often in this one
	early  bool               // a session ends before its last file is written
	out    string             // the folder
	kept   string             // what it had when the last file was written, or a session ended
	saved  int                // in all of them
	given  []byte             // what the first session has it take over; nil: nothing
	final  bool
	failed bool
}

func (l *lone) Next(context.Context) (Session, error) {
	if l.final {
		return nil, register.ErrFinal
	}
	d := register.Session{Number: uint64(1 + len(l.begun)), Epoch: membership.First(1),
		Begin: register.Point{Iteration: register.Start}, Kept: testkit.Get(l.folder.Kept())}
	if now := l.files(); len(l.begun) > 0 && now != l.kept {
		return nil, fmt.Errorf("after the end of session %d the folder has\n%s, before\n%s", len(l.begun), now, l.kept)
	}
	for _, p := range testkit.Get(l.folder.Points()) {
		if p.Iteration > d.Begin.Iteration {
			d.Begin = p
		}
	}
	if l.given != nil {
		d.Begin.Iteration = register.Result
	}
	l.begun, l.left = append(l.begun, d), l.lasts
	return l, nil
}

func (l *lone) Linger(context.Context) error { return nil }
func (l *lone) Fail(error)                   { l.failed = true }
func (l *lone) Decided() register.Session    { return l.begun[len(l.begun)-1] }
func (l *lone) Enters() bool                 { return l.given != nil }

func (l *lone) Join(_ context.Context, keep func([]byte) error) error {
	if l.given == nil {
		return nil
	}
	return keep(l.given)
}

func (l *lone) Save(_ context.Context, write func() error) error {
	over := &register.Over{Session: l.Decided().Number, Why: "a test ends it"}
	defer func() { l.kept = l.files() }()
	if l.left--; l.left == 0 && l.early {
		for line := range strings.Lines(l.files()) {
			saved := strings.HasPrefix(line, "checkpoint") || strings.HasPrefix(line, runs.KeptPrefix)
			if saved && !strings.Contains(l.kept, line) {
				return fmt.Errorf("there is %safter\n%s, before session %d has saved", line, l.kept, len(l.begun))
			}
		}
		return over
	}
	if err := write(); err != nil {
		return err
	}
	if l.saved++; l.left == 0 {
		return over
	}
	return nil
}

// files lists the files of the folder with their sizes, without the list of digests.
func (l *lone) files() string {
	var all strings.Builder
	for _, e := range testkit.Get(os.ReadDir(l.out)) {
		if e.Name() != runs.SumsFile {
			fmt.Fprintln(&all, e.Name(), testkit.Get(e.Info()).Size())
		}
	}
	return all.String()
}

func (l *lone) Finish() error {
	l.final = true
	return nil
}

// runLone runs the method madsbo of one agent in a folder.
func runLone(t *testing.T, l *lone, out string) {
	j := parseTiny(t, "-agents=1 -algorithm=madsbo -K=6 -checkpoint-every=1 -keep-checkpoints "+
		"-report=false -quiet -out="+out)
	j.Layout = OneAgent(0, "the run",
		func(g *network.Graph, folder register.Store, _ []byte, _ int) (Meeting, error) {
			l.Team, l.folder, l.out = network.NewLocal(g.W), folder, out
			return l, nil
		})
	testkit.OK(j.Run(t.Context(), io.Discard, io.Discard))
}

// TestSessions: however often a session ends during a save, the agent resumes from its last save,
// leaves the files of an undisturbed run, and no checkpoints but the newest.
func TestSessions(t *testing.T) {
	straight := filepath.Join(t.TempDir(), "run")
	undisturbed := &lone{}
	runLone(t, undisturbed, straight)
	want := leftBy(t, straight)
	for lasts := 2; lasts <= undisturbed.saved; lasts++ { // the first saves again what it begins with
		out := filepath.Join(t.TempDir(), "run")
		l := &lone{lasts: lasts, early: lasts%2 > 0}
		runLone(t, l, out)
		want.check(t, out, fmt.Sprint("sessions of ", lasts))
		if paths := testkit.Get(runs.Folder(out).Checkpoints([]int{0})); len(l.begun) < 2 || len(paths) > 3 ||
			len(testkit.Get(runs.Folder(out).PathsWithPrefix(runs.KeptPrefix))) > 0 {
			t.Errorf("%d sessions have left %v; it must be some, and three checkpoints at most", len(l.begun), paths)
		}
	}
}

// TestResultIsTakenOver: an agent that takes part in the end alone has the same result, and so has
// one that is started once more.
func TestResultIsTakenOver(t *testing.T) {
	first, out := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	runLone(t, &lone{}, first)
	late := &lone{given: testkit.Get(runs.PackResult(runs.Folder(first)))}
	for range 2 {
		runLone(t, late, out)
		leftBy(t, first).check(t, out, "taken over")
		if state := testkit.Get(runs.Folder(out).State()); state != runs.Finished || late.saved > 0 || !late.final {
			t.Errorf("the run is %v after %d files; it must be finished, and final", state, late.saved)
		}
	}
	for name, archive := range map[string][]byte{"cut": late.given[:700], "none": {}} {
		if err := runs.UnpackResult(runs.Folder(t.TempDir()), archive, "x"); !errors.Is(err, dsbo.ErrPeer) {
			t.Errorf("%s: error %v; it must be that of a peer", name, err)
		}
	}
}

// TestPoints: what an agent tells of its folder names checkpoints by the sessions that began their
// epochs, and a result of an epoch before the last one is none.
func TestPoints(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	runLone(t, &lone{}, out)
	f := &agentFolder{Folder: runs.Folder(out)}
	points := testkit.Get(f.Points())
	if n := len(points); n < 3 || points[n-1].Iteration != register.Result || points[n-1].Digest == "" ||
		points[0].Iteration != 6 || points[0].Epoch != 0 {
		t.Errorf("points %+v; they must be checkpoints, the newest after 6 iterations, and the result", points)
	}
	summary := testkit.Get(f.ReadSummary())
	summary.Epoch = 1 // as one that is taken over has, before its changes are on the disk
	testkit.OK(f.WriteSummary(summary))
	has := func(p register.Point) bool { return p.Iteration == register.Result }
	if slices.ContainsFunc(testkit.Get(f.Points()), has) {
		t.Error("a result of an epoch that is not known is a point")
	}
	summary.Epoch = 0
	testkit.OK(f.WriteSummary(summary))
	s := register.State{Promised: 9, Log: membership.Log{{Epoch: 1, Iteration: 2, Members: []int{0}}}}
	testkit.OK(f.SaveRegister(s))
	if again := testkit.Get(f.Register()); again.Promised != 9 || len(again.Log) != 1 ||
		len(testkit.Get(f.ReadChanges())) != 1 {
		t.Errorf("the register is %+v, and the changes are not in a file of their own", again)
	}
	if state := testkit.Get(f.State()); state != runs.Unfinished || slices.ContainsFunc(testkit.Get(f.Points()), has) {
		t.Errorf("the run is %v after a change, and has a result; it must be unfinished, and have none", state)
	}
}
