package tasks_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo/experiment"
	"dsbo/experiment/tasks"
	"dsbo/internal/testkit"
	"dsbo/runs"
	"dsbo/train"
)

// A stopper is a viewer that interrupts a run once its first checkpoint is written.
type stopper struct{ cancel func() }

func (stopper) Show(experiment.Progress) {}

func (stopper) Log(string, ...any) {}

func (stopper) Note(experiment.Note) {}

func (stopper) Record(runs.Record, []string) {}

func (s stopper) Saved(int) { s.cancel() }

func (stopper) Stop() {}

// TestFeatureStartsAtStructures: with folds, the penalties of features start at the λ of structures
// of penalties, as the run says, unless -from or -x0 says where; an interrupt changes no bit.
func TestFeatureStartsAtStructures(t *testing.T) {
	folder := t.TempDir()
	data, whole, resumed := "-data="+writeSites(t, folder, 3), filepath.Join(folder, "whole"),
		filepath.Join(folder, "resumed")
	job := func(task experiment.Task, out string, flags ...string) *experiment.Job {
		all := append(flags, data, "-target=ill", "-drop=cost,visits", "-folds=2", "-penalty=feature", "-K=3",
			"-checkpoint-every=1", "-quiet", "-report=false", "-alone=false", "-out="+out)
		return testkit.Get(experiment.Parse(task, all, io.Discard))
	}
	startsAtStructures := func(out string) bool {
		notes := testkit.Get(runs.Folder(out).ReadSummary()).Verdict.Notes
		return len(notes) > 0 && strings.HasPrefix(notes[0], "λ starts at a mean of ")
	}
	task := tasks.Tune()
	testkit.OK(job(task, whole).Run(t.Context(), nil, io.Discard))
	found := testkit.Get(runs.Folder(whole).ReadSetup()).Found
	want := testkit.Get(runs.Folder(whole).ReadLambda())
	if x, _ := task.Start(); !slices.Equal(x, found[len(found)-1].Sum) || len(x) != len(want) || slices.Equal(x, want) {
		t.Errorf("λ starts at %v, among what was found together is %v, the end is %v", x, found[len(found)-1].Sum, want)
	}
	if !startsAtStructures(whole) {
		t.Error("the run does not say where λ starts")
	}

	first := job(tasks.Tune(), resumed)
	ctx, cancel := context.WithCancel(t.Context())
	first.View = stopper{cancel}
	if err := first.Run(ctx, nil, io.Discard); !errors.Is(err, train.ErrInterrupted) {
		t.Fatalf("error %v; it must be an interrupt", err)
	}
	testkit.OK(job(tasks.Tune(), resumed, "-resume").Run(t.Context(), nil, io.Discard))
	if got := testkit.Get(runs.Folder(resumed).ReadLambda()); !slices.Equal(got, want) || !startsAtStructures(resumed) {
		t.Errorf("the resumed run ends at λ = %v, want %v, and says where it starts: %t", got, want,
			startsAtStructures(resumed))
	}

	for _, flag := range []string{"-from=" + whole, "-x0=1"} {
		out := filepath.Join(folder, flag[1:3])
		testkit.OK(job(tasks.Tune(), out, flag).Run(t.Context(), nil, io.Discard))
		if startsAtStructures(out) {
			t.Errorf("with %s the run starts at structures", flag)
		}
	}
}
