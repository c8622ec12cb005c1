package experiment

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train"
)

// TestWires: transports send what agents round to, and what is rounded off comes later where that
// is known to help.
func TestWires(t *testing.T) {
	for _, tt := range []struct {
		args     string
		wire     network.Wire
		feedback bool
	}{
		{"", network.Float32, false},
		{"-wire=float64", network.Float64, false},
		{"-wire=float32 -algorithm=sparkle", network.Float32, false},
		{"-wire=bf16 -average=mix", network.BF16, true},
		{"-wire=int8 -preset=fast", network.Int8, false},
		{"-wire=int8 -algorithm=sparkle", network.Int8, true},
	} {
		j := parseTiny(t, tt.args)
		if _, _, err := j.resolve(); err != nil {
			t.Fatal(err)
		}
		o := testkit.Get(j.Settings.averaging())
		if o.Wire != tt.wire || j.Settings.ExchangeWire() != tt.wire || o.ErrorFeedback != tt.feedback {
			t.Errorf("%q: agents round to %v, transports send %v, feedback %t; they must be %v, %v and %t",
				tt.args, o.Wire, j.Settings.ExchangeWire(), o.ErrorFeedback, tt.wire, tt.wire, tt.feedback)
		}
	}
}

// Averages by Mix alone round too often for int8.
func TestNarrowMixIsRefused(t *testing.T) {
	if _, _, err := parseTiny(t, "-wire=int8 -average=mix").resolve(); !errors.Is(err, dsbo.ErrConfig) ||
		!strings.Contains(err.Error(), "-average mix") {
		t.Error(err)
	}
}

// An interrupter is a view that ends the job after a checkpoint.
type interrupter struct {
	Viewer
	after  int
	cancel func()
}

func interruptAfter(iteration int, cancel func()) interrupter {
	return interrupter{onScreen{cli.NewProgress(io.Discard, true)}, iteration, cancel}
}

func (i interrupter) Saved(iteration int) {
	if iteration == i.after {
		i.cancel()
	}
}

// TestFeedbackResumes: what has been rounded off outlives an interrupt, so that the run ends with
// the same bits.
func TestFeedbackResumes(t *testing.T) {
	dir := t.TempDir()
	job := func(out, more string) *Job {
		return parseTiny(t,
			"-algorithm=sparkle -wire=int8 -agents=3 -K=8 -checkpoint-every=2 -evaluate=off -report=false -quiet -out="+
				filepath.Join(dir, out)+more)
	}
	straight, first := job("straight", ""), job("resumed", "")
	testkit.OK(straight.Run(t.Context(), nil, io.Discard))
	ctx, cancel := context.WithCancel(t.Context())
	first.View = interruptAfter(4, cancel)
	if err := first.Run(ctx, nil, io.Discard); !errors.Is(err, train.ErrInterrupted) {
		t.Fatalf("error %v; it must be an interrupt", err)
	}
	testkit.OK(job("resumed", " -resume").Run(t.Context(), nil, io.Discard))
	last := func(out string) [3]runs.Number {
		s := testkit.Get(runs.Folder(filepath.Join(dir, out)).ReadSummary())
		return [...]runs.Number{s.ValLoss, s.ConsensusX, s.ConsensusY}
	}
	if want, got := last("straight"), last("resumed"); got != want || !(want[1] > 0) {
		t.Errorf("loss and consensus errors of the resumed run are %v; they must be %v", got, want)
	}
}
