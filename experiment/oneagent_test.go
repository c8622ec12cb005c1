package experiment

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/runs"
	"dsbo/train"
)

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

// TestOneAgentStopsLeftOut: an agent that was left out after it had finished, and is stopped as it
// waits, says so and ends in order.
func TestOneAgentStopsLeftOut(t *testing.T) {
	j := parseTiny(t, "-agents=1 -algorithm=madsbo -K=4 -checkpoint-every=1 -report=false -quiet -out="+
		filepath.Join(t.TempDir(), "run"))
	d := &dropped{lone: new(lone)}
	j.Layout = OneAgent(0, "the run",
		func(context.Context, *network.Graph, int, []byte, *Seat, int) (network.Team, error) { return d, nil })
	if err := j.Run(t.Context(), io.Discard, io.Discard); !errors.Is(err, context.Canceled) || len(d.log) != 2 {
		t.Errorf("error %v after %d changes; it must be that it was interrupted, after 2", err, len(d.log))
	}
}

// TestOneAgentFinishedBefore: an agent that has finished and is lost, and whose members have
// changed, has not finished when it is back. What it hands over is the state of the epoch that it
// is asked for, though a later one began with the same iteration.
func TestOneAgentFinishedBefore(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	var seat *Seat
	run := func(flags string, team network.Team) error {
		j := parseTiny(t,
			"-agents=1 -algorithm=madsbo -K=4 -checkpoint-every=1 -keep-checkpoints -report=false -quiet -out="+out+
				flags)
		j.Layout = OneAgent(0, "the run",
			func(_ context.Context, _ *network.Graph, _ int, _ []byte, s *Seat, _ int) (network.Team, error) {
				seat = s
				return team, nil
			})
		return j.Run(t.Context(), io.Discard, io.Discard)
	}
	testkit.OK(run("", new(lone)))
	folder, log := runs.Folder(out),
		membership.Log{{Epoch: 1, Iteration: 2, Members: []int{0}}, {Epoch: 2, Iteration: 2, Members: []int{0}}}
	before := testkit.Get(folder.State())
	testkit.OK(folder.WriteChanges(log)) // as the council does
	if after := testkit.Get(folder.State()); before != runs.Finished || after != runs.Unfinished {
		t.Errorf("the run is %v, and after two changes %v; it must be finished, and unfinished", before, after)
	}
	d := &dropped{lone: new(lone), log: log}
	if err := run(" -resume", d); !errors.Is(err, context.Canceled) || !slices.Equal(d.epochs, []int{2, 3}) {
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
		j := parseTiny(t,
			"-agents=1 -algorithm=madsbo -K=4 -checkpoint-every=1 -keep-checkpoints -report=false -quiet -out="+out)
		j.Layout = OneAgent(0, "the run",
			func(context.Context, *network.Graph, int, []byte, *Seat, int) (network.Team, error) { return l, nil })
		testkit.OK(j.Run(t.Context(), io.Discard, io.Discard))
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
		sameFiles(t, straight, out)
	}
}
