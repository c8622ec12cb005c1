package experiment

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"dsbo"
	"dsbo/internal/must"
	"dsbo/network"
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

// TestOneAgentGoesBack: an agent that has finished goes back to its newest checkpoint from which it sends again what a neighbour
// needs, or stays where it is if it needs nothing again, and ends where it had ended.
func TestOneAgentGoesBack(t *testing.T) {
	run := func(t *testing.T, out string, needed ...int) *lone {
		l := &lone{needed: needed}
		j := parseTiny(t, "-agents=1 -algorithm=madsbo -K=4 -checkpoint-every=1 -report=false -quiet -out="+out)
		j.Layout = OneAgent(0, "the run", func(context.Context, *network.Graph, int, []byte, *Seat, int) (network.Team, error) { return l, nil })
		must.OK(j.Run(t.Context(), io.Discard, io.Discard))
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
			t.Errorf("exchange %d is needed again: back to %v, and to the end at %d; it must be %d and %d", tt.needed, l.backTo, l.round, tt.want, end)
		}
		sameFiles(t, straight, out)
	}
}
