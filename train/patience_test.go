package train_test

import (
	"math"
	"slices"
	"testing"

	"dsbo/algo"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/network"
	"dsbo/train"
)

// risingHoldout returns a problem whose loss on held-out examples is the norm of y, which grows
// from the start at 0.
func risingHoldout(t *testing.T) train.Problem {
	p := testkit.Get(train.NewProblem(testkit.Get(data.HoldOut(task(t), 0.3, 1)),
		models.Softmax{Features: features, Classes: classes}, models.Config{}))
	score := p.Score
	p.Score = func(i int, m train.Fit) (train.Scores, error) {
		s, err := score(i, m)
		s.Holdout.Losses = s.Holdout.Rows * linalg.Norm(m.Y)
		return s, err
	}
	p.Each = func(_ int, _ train.Set, m train.Fit) (train.Each, error) {
		return train.Each{Losses: slices.Repeat([]float64{linalg.Norm(m.Y)}, 10)}, nil
	}
	return p
}

// TestExactAt: on float32 the first record after the start and those after each quarter have exact
// values, at most five in all, with held-out examples three; on float64 all have them, and on
// narrower wires none.
func TestExactAt(t *testing.T) {
	for _, c := range []struct {
		wire     network.Wire
		each     bool
		K, every int
		heldOut  bool
		want     []int
	}{
		{network.Float32, false, 20, 1, false, []int{1, 5, 10, 15, 20}},
		{network.Float32, false, 60, 5, false, []int{5, 15, 30, 45, 60}},
		{network.Float32, false, 10, 3, false, []int{3, 6, 9, 10}},
		{network.Float32, false, 2, 1, false, []int{1, 2}},
		{network.Float32, true, 4, 2, false, []int{0, 2, 4}},
		{network.Float32, false, 20, 1, true, []int{1, 10, 20}},
		{network.Float32, false, 45, 3, true, []int{3, 24, 45}},
		{network.Float32, true, 4, 2, true, []int{0, 2, 4}},
		{network.Float64, false, 4, 2, true, []int{0, 2, 4}},
		{network.BF16, true, 4, 2, false, nil},
	} {
		config := train.Config{K: c.K, EvalEvery: c.every, ExactEach: c.each, HeldOut: c.heldOut}.WithDefaults()
		config.Problem.Average.Wire = c.wire
		var got []int
		for _, k := range config.RecordedIterations() {
			if config.ExactAt(k) {
				got = append(got, k)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v, K = %d, every %d: exact after %v, want %v", c.wire, c.K, c.every, got, c.want)
		}
	}
}

// TestPatience: a run ends after a number of records in a row whose held-out loss is clearly worse,
// and one that is resumed, before its end or there, ends the same.
func TestPatience(t *testing.T) {
	ring := testkit.Get(network.Ring(4, 0.5))
	config := func(patience int) train.Config {
		return train.Config{Problem: risingHoldout(t), W: ring.W, K: 12, EvalEvery: 2, CheckpointEvery: 2,
			Patience: patience,
			Method:   &algo.MADSBO{Alpha: "0.5", Beta: "0.3", Gamma: "0.3"}, Evaluate: train.EvaluateOff}
	}
	for patience, want := range map[int]int{0: 12, 3: 6, 5: 10, 9: 12} {
		if r := testkit.Get(train.Run(t.Context(), config(patience))); r.Iterations != want || r.Best.Iteration != 0 {
			t.Errorf("patience %d: %d iterations, the best after %d; want %d and 0", patience, r.Iterations,
				r.Best.Iteration, want)
		}
	}
	newest := config(0)
	newest.Newest = true
	if best := testkit.Get(train.Run(t.Context(), newest)).Best; best.Iteration != 12 || best.By != "" {
		t.Errorf("the newest iterate is asked for: it is that after %d, by %q; want 12", best.Iteration, best.By)
	}
	if _, err := train.Run(t.Context(), config(-1)); err == nil {
		t.Error("a negative patience must be an error")
	}
	alone := testkit.Get(train.Run(t.Context(), config(3)))
	c := config(3)
	c.Dir = t.TempDir()
	interruptAt(t, c, 3)
	c.Resume = true
	for _, from := range []string{"before the end", "at the end"} {
		r := testkit.Get(train.Run(t.Context(), c))
		if r.Iterations != 6 {
			t.Errorf("resumed %s: %d iterations, want 6", from, r.Iterations)
		}
		sameRun(t, alone, r)
	}
}

// TestDrawsAlone: where Φ is only drawn, a record before the last one takes less traffic and is
// right to what a figure shows. The last one has the bits that it has elsewhere.
func TestDrawsAlone(t *testing.T) {
	run := func(heldOut bool, every int) *train.Result {
		p := risingHoldout(t)
		p.Average.Wire = network.Float32
		return testkit.Get(train.Run(t.Context(), train.Config{Problem: p, W: testkit.Get(network.Ring(4, 0.5)).W, K: 8,
			EvalEvery: every, HeldOut: heldOut, Method: &algo.MADSBO{Alpha: "0.5", Beta: "0.3", Gamma: "0.3"}}))
	}
	drawn, full := run(true, 4), run(false, 4) // both with exact records after 4 and 8
	if drawn.Evaluation.Bytes >= full.Evaluation.Bytes {
		t.Errorf("evaluations send %d bytes where Φ is drawn, and %d elsewhere", drawn.Evaluation.Bytes,
			full.Evaluation.Bytes)
	}
	drawn, full = run(true, 1), run(false, 1)
	// A solution with the tolerances of a curve is right to 1e-8 here, and one with none to 5e-5.
	if d, f := float64(drawn.Records[1].Phi), float64(full.Records[1].Phi); math.Abs(d-f) > 1e-6*f {
		t.Errorf("Φ of the first record is drawn as %v, and is %v", d, f)
	}
	drawn, full = run(true, 8), run(false, 8)
	if d, f := drawn.Records[1], full.Records[1]; d.Phi != f.Phi || d.HypergradientError != f.HypergradientError {
		t.Errorf("the last record has Φ %v with error %v of the hypergradient; it must have %v and %v", d.Phi,
			d.HypergradientError, f.Phi, f.HypergradientError)
	}
}
