package train_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/network/networktest"
	"dsbo/runs"
	"dsbo/train"
)

// changes are some of a run of 40 iterations of 5 agents: at a checkpoint and at none, with an
// agent that returns, one that is admitted, one that has lost its state, and an edge that is cut.
var changes = membership.Log{
	{Epoch: 1, Iteration: 12, Session: 11, ID: sessionID, Members: []int{0, 2, 3, 4}},
	{Epoch: 2, Iteration: 24, Session: 12, ID: sessionID, Members: []int{0, 1, 2, 4, 5},
		Edges: [][2]int{{0, 5}, {2, 5}}, Cut: [][2]int{{1, 2}}},
	{Epoch: 3, Iteration: 24, Session: 13, ID: sessionID, Members: []int{0, 1, 2, 5}, Lost: []int{2}},
}

// changing is config with the changes, and a sixth agent to be admitted.
func changing(t *testing.T) (train.Config, []*algotest.Quadratic) {
	c, _ := config(t)
	qs := algotest.NewQuadratics(agents+1, p, q, 1)
	c.Problem = train.Problem{}
	for _, o := range qs {
		o.Noise = 0.1
		c.Problem.Oracles = append(c.Problem.Oracles, o)
		c.Problem.Evaluate = append(c.Problem.Evaluate, o)
	}
	c.Membership, c.Changing = changes, true
	c.Following, c.Start.Curvature = []string{"beta", "gamma"}, 1 // of which methods have some or none
	return c, qs
}

// starting returns the named method with all of its trackers, and without a search for the start,
// for which quadratics have no penalty.
func starting(t *testing.T, name string) algo.Method {
	more := []string{"warm_z=true", "track_y=true", "mom_y=0.5", "mom_z=0.5"}
	if name == "newtoncg" {
		more = append(more, `init="x0"`, "mem=6")
	}
	return method(t, name, more...)
}

// TestMembersChange: exact values belong to the agents that are there, and so is what the run
// ends with.
func TestMembersChange(t *testing.T) {
	c, qs := changing(t)
	var begun []int
	c.OnEpoch = func(e membership.Epoch) { begun = append(begun, e.Number) }
	r := run(t, c)
	if fmt.Sprint(begun) != "[1 2 3]" || r.Epoch.Number != 3 || len(r.Usage) != 6 || r.Usage[3].LowerGrad == 0 {
		t.Errorf("epochs %v began, the last is %+v, with the usage of %d agents", begun, r.Epoch, len(r.Usage))
	}
	there := algotest.Solve([]*algotest.Quadratic{qs[0], qs[1], qs[2], qs[5]})
	want, got := linalg.Norm(there.Gradient(r.X)), float64(r.Last().GradNorm)
	if !(math.Abs(got-want) < 1e-9*want) {
		t.Errorf("the last record has ‖∇Φ‖ = %v; that of those present is %v", got, want)
	}
}

// TestMovesFollowTheName: where an epoch has a name, nobody can know its moves who does not know
// that; the moves of older logs follow from the number of the epoch.
func TestMovesFollowTheName(t *testing.T) {
	var ends [][]float64
	for _, id := range []string{"", sessionID, strings.Repeat("1", 64), sessionID} {
		c, _ := changing(t)
		c.Method = starting(t, "newtoncg")
		c.Membership = membership.Log{{Epoch: 1, Iteration: 38, Session: uint64(len(id)), ID: id,
			Members: []int{0, 2, 3, 4, 5}, Edges: [][2]int{{0, 5}}}}
		ends = append(ends, run(t, c).Y)
	}
	for k, y := range ends[:3] {
		if slices.Equal(y, ends[3]) != (k == 1) {
			t.Errorf("run %d of another epoch ends where the last one does, or one of the same name does not", k)
		}
	}
}

// TestMembersChangeWithTheSameBits on any number of processors, and after interruptions before, at
// and after each change.
func TestMembersChangeWithTheSameBits(t *testing.T) {
	for _, name := range []string{"madsbo", "madsbo_tuned", "gbdsbo", "sparkle", "mdbo", "pdsbo_al",
		"newtoncg", "adamcg"} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "madsbo_tuned" && name != "newtoncg" {
				t.Skip("trackers and a memory are enough")
			}
			c, _ := changing(t)
			c.Method = starting(t, name)
			whole := c
			whole.Dir = t.TempDir()
			want := run(t, whole)
			before := runtime.GOMAXPROCS(1)
			sameRun(t, want, run(t, c))
			runtime.GOMAXPROCS(before)
			c.Dir, c.Resume = t.TempDir(), true
			for _, k := range []int{5, 12, 20, 24, 31} {
				interruptAt(t, c, k)
			}
			sameRun(t, want, run(t, c))
		})
	}
}

// TestMembersOfProcesses: where agents are in processes, each epoch begins from the checkpoints of
// the one before, with the bits of one process. An agent that has left and come back at one
// iteration takes over from another one, wherever its own checkpoints stand, and a handover stands
// in the epoch that it was made for, so that it is good for the next ones.
func TestMembersOfProcesses(t *testing.T) {
	atOnce := membership.Log{{Epoch: 1, Iteration: 12, Members: []int{0, 1, 2, 4}},
		{Epoch: 2, Iteration: 12, Members: []int{0, 1, 2, 3, 4}}, {Epoch: 3, Iteration: 12, Members: []int{0, 2, 3, 4}}}
	for _, tt := range []struct {
		name string
		log  membership.Log
		stop []int // the iterations at which epochs end that have some
	}{
		{"madsbo_tuned", changes, []int{12, 24}}, {"dascgd", changes, []int{12, 24}},
		{"newtoncg", changes, []int{12, 24}}, {"madsbo_tuned", atOnce, []int{12}}, {"newtoncg", atOnce, []int{12}},
	} {
		t.Run(fmt.Sprint(tt.name, tt.stop), func(t *testing.T) {
			c, _ := changing(t)
			c.Method, c.Membership = starting(t, tt.name), tt.log
			known := c.Membership.Roster(c.W.N())
			c.Problem.Oracles, c.Problem.Evaluate = c.Problem.Oracles[:known], c.Problem.Evaluate[:known]
			want := run(t, c)
			c.Dir = t.TempDir()
			h := history{T: t, Config: c}
			var at train.Point
			for number, stop := range tt.stop {
				at = h.epochOf(number, at, stop)
			}
			if at.Epoch == 0 { // twice: the second time a handover is from a checkpoint of the epoch itself
				h.epochOf(3, at, at.Iteration)
			}
			h.epochOf(3, at, c.K) // the epochs between have no iterations
			sameRun(t, want, h.ended)
		})
	}
}

// TestCheckpointsOfOtherEpochs: where an epoch begins, an agent's later checkpoints are removed,
// which are of an epoch before and no good in this one.
func TestCheckpointsOfOtherEpochs(t *testing.T) {
	c, _ := changing(t)
	c.Method, c.Dir = starting(t, "madsbo_tuned"), t.TempDir()
	h := history{T: t, Config: c}
	at := h.epochOf(0, train.Point{}, 12)
	var later []string
	for _, i := range changes[0].Members {
		f := runs.Folder(folderOf(c, i))
		later = append(later, f.CheckpointPath([]int{i}, 39))
		testkit.OK(os.WriteFile(later[len(later)-1], testkit.Get(os.ReadFile(f.CheckpointPath([]int{i}, 12))), 0o666))
	}
	h.OnResume = func(int) {
		for _, i := range changes[0].Members {
			if _, err := os.Stat(runs.Folder(folderOf(c, i)).CheckpointPath([]int{i}, 12)); err != nil {
				t.Errorf("the epoch begins from a checkpoint that is gone: %v", err)
			}
		}
	}
	h.epochOf(1, at, 24)
	for _, path := range later {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is of an epoch before, and stays", path)
		}
	}
}

// A history is a run whose agents are in processes, epoch by epoch.
type history struct {
	*testing.T
	train.Config
	ended *train.Result // of the first member, at the end of the last epoch
	tape  *tape         // of the masked sums; nil: none
}

// epochOf runs an epoch in a process for each member, from a point of an epoch before to an
// iteration, and returns the point there.
func (h *history) epochOf(number int, from train.Point, stop int) train.Point {
	h.Helper()
	c := h.Config
	e := testkit.Get(c.Membership.At(number, c.W.N()))
	var locals [][]int
	for position := range e.Members {
		locals = append(locals, []int{position})
	}
	teams, closeAll := networktest.Processes(testkit.Get(c.W.Members(e)), locals...)
	defer closeAll()
	c.Membership = c.Membership[:number]
	var cs []train.Config
	for k, i := range e.Members {
		own := ofAgents(c, saver{teams[k], len(e.Members)}, c.Membership.Roster(c.W.N()), i)
		if h.tape != nil {
			own.Problem.Team = taped{saver{teams[k], len(e.Members)}, h.tape, i}
		}
		own.Problem.Digests = make([]string, c.Membership.Roster(c.W.N()))
		own.Problem.Digests[i] = fmt.Sprint("examples ", i) // each knows its own alone
		own.Dir = folderOf(c, i)
		testkit.OK(os.MkdirAll(own.Dir, 0o777))
		if number > 0 {
			own.Resume = true
			own.From = h.comesIn(own, i, from)
		}
		cs = append(cs, own)
	}
	results, errs := collective(cs, func(_ int, c train.Config) (*train.Result, error) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		c.OnCheckpoint = func(iteration int) {
			if iteration == stop && stop < c.K {
				cancel()
			}
		}
		return train.Run(ctx, c)
	})
	for i, err := range errs {
		// others may be in the next iteration
		if err != nil && !(errors.Is(err, train.ErrInterrupted) && results[i].Iterations <= stop+1) {
			h.Fatalf("epoch %d, agent %d: %v", number, e.Members[i], err)
		}
	}
	h.ended = results[0]
	return train.Point{Iteration: stop, Epoch: number}
}

// folderOf returns the run folder of an agent.
func folderOf(c train.Config, agent int) string {
	return filepath.Join(c.Dir, fmt.Sprint("agent-", agent))
}

// comesIn returns the point from which an agent goes on: its own or, where it was no member, the
// point of what a neighbour hands over.
func (h *history) comesIn(c train.Config, agent int, from train.Point) *train.Point {
	at := from
	for number := from.Epoch + 1; number <= len(c.Membership); number++ {
		before, e := testkit.Get(c.Membership.At(number-1, c.W.N())), testkit.Get(c.Membership.At(number, c.W.N()))
		if _, is := e.Position(agent); is && !e.StateKept(before, agent) {
			_, source := testkit.Get2(c.W.Giver(before, e, agent))
			theirs := h.Config
			theirs.Dir = folderOf(h.Config, source)
			at = testkit.Get(c.Receive(agent, e, testkit.Get(theirs.Handover(source, from))))
			if at.Epoch < number {
				h.Errorf("what agent %d takes over in epoch %d is of epoch %d", agent, number, at.Epoch)
			}
		}
	}
	return &at
}

// TestMembershipIsRefused where the log is none of the run, the graph falls apart, or a checkpoint
// is of another history.
func TestMembershipIsRefused(t *testing.T) {
	for _, c := range []struct {
		name, want string
		log        membership.Log
		change     func(c *train.Config)
	}{
		{name: "unknown agent", want: "agent 6 is not known",
			log: membership.Log{{Epoch: 1, Iteration: 3, Members: []int{0, 6}}}},
		{name: "too late", want: "epoch 1 must begin at iteration K = 40 at the latest; it begins at 41",
			log: membership.Log{{Epoch: 1, Iteration: 41, Members: []int{0, 1}}}},
		{name: "apart", want: "falls apart into agents 0 | 2 | 4; edges such as these join them: 0-2, 0-4",
			log: membership.Log{{Epoch: 1, Iteration: 3, Members: []int{0, 2, 4}, Cut: [][2]int{{0, 4}}}}},
		{name: "nobody stays", want: "epoch 2 must have a member of the epoch before",
			log: membership.Log{{Epoch: 1, Iteration: 3, Members: []int{0, 1}},
				{Epoch: 2, Iteration: 4, Members: []int{2, 3}}}},
		{name: "no more agents", want: "the problem must be of the roster's 6 agents; it is of 5",
			log: membership.Log{{Epoch: 1, Iteration: 3, Members: []int{0, 1, 5}, Edges: [][2]int{{1, 5}}}}},
		{name: "no average", want: `the graph must be "server"`,
			log: membership.Log{{Epoch: 1, Iteration: 3, Members: []int{0, 1, 2}}},
			change: func(c *train.Config) {
				c.Method, c.W = method(t, "fednest"), testkit.Get(network.New("star", agents, network.Options{})).W
			}},
	} {
		cfg, _ := config(t)
		cfg.Membership = c.log
		if c.change != nil {
			c.change(&cfg)
		}
		if err := cfg.Validate(); !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestResumeOfAnotherHistory: a checkpoint belongs to the changes up to its epoch, and no change
// may come before it.
func TestResumeOfAnotherHistory(t *testing.T) {
	c, _ := changing(t)
	c.Dir, c.Resume = t.TempDir(), true
	interruptAt(t, c, 20)
	for _, bad := range []struct {
		want   string
		change func(l membership.Log) membership.Log
	}{
		{"is of a run with other settings", func(l membership.Log) membership.Log {
			l[0].Members = []int{0, 1, 2, 3}
			return l
		}},
		{"epoch 2 must not begin before the checkpoint", func(l membership.Log) membership.Log {
			l[1].Iteration = 15
			return l
		}},
	} {
		other := c
		other.Membership = bad.change(slices.Clone(c.Membership))
		if _, err := train.Run(context.Background(), other); !errors.Is(err, dsbo.ErrConfig) ||
			!strings.Contains(err.Error(), bad.want) {
			t.Errorf("%v, want %q", err, bad.want)
		}
	}
}

// TestStepsFollowMembers: where an agent comes in whose curvature is far above the bound of the
// steps, they follow; as they were, they diverge.
func TestStepsFollowMembers(t *testing.T) {
	for _, follow := range []bool{true, false} {
		c, qs := changing(t)
		l := testkit.Get(train.Problem{Oracles: c.Problem.Oracles[:agents]}.Curvature(t.Context(), make([]float64, p),
			make([]float64, q)))
		linalg.Scale(qs[agents].A, 200, qs[agents].A)
		c.Start.Curvature, c.K = l, 60
		c.Method = &algo.MADSBO{Alpha: "0.1", Beta: algo.Constant(1 / l), Gamma: algo.Constant(0.3 / l), T: 10, N: 10}
		if !follow {
			c.Following = nil
		}
		r, err := train.Run(t.Context(), c)
		if follow && (err != nil || !linalg.AllFinite(r.Y)) || !follow && !errors.Is(err, dsbo.ErrDiverged) {
			t.Errorf("steps that follow: %v; the error is %v", follow, err)
		}
	}
}

// TestCurvatureOfMembers: steps follow the members' largest curvature, which of quadratics is the
// same everywhere, raised by the ratio of the bounds (1+λ)²/2 of the roster's graph and theirs,
// unless theirs is looser.
func TestCurvatureOfMembers(t *testing.T) {
	for _, members := range [][]int{{0, 1}, {0, 1, 2}} {
		c, _ := changing(t)
		c.Problem.Oracles, c.Problem.Evaluate = c.Problem.Oracles[:agents], c.Problem.Evaluate[:agents]
		c.Membership, c.K = membership.Log{{Epoch: 1, Iteration: 12, Members: members}}, 13
		c.Following = c.Following[:1]
		w := testkit.Get(c.W.Members(testkit.Get(c.Membership.At(1, agents))))
		bound := func(w *network.Matrix) float64 { return math.Pow(1+w.LambdaMin(), 2) / 2 }
		want := testkit.Get(train.Problem{Oracles: c.Problem.Oracles[:len(members)]}.Curvature(t.Context(),
			make([]float64, p), make([]float64, q))) * max(1, bound(c.W)/bound(w))
		state := run(t, c).Method.State()
		at := slices.IndexFunc(state, func(s dsbo.Named) bool { return s.Name == "curvature" })
		if got := state[at].Value[0]; !(math.Abs(got-want) <= 1e-12*want) {
			t.Errorf("members %v: steps follow L_max = %.15g, want %.15g", members, got, want)
		}
	}
}
