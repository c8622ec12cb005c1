package modeltest

import (
	"fmt"
	"slices"
	"testing"

	"dsbo"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// batch returns a batch size smaller than both of the agent's sets, or 0 if there is none.
func (s *subject) batch() int {
	if s.joint() {
		return 0
	}
	return min(s.s.Train.Len(), s.s.Val.Len()) / 2
}

// sampleNames are draws of each kind; two differ in K or T alone.
var sampleNames = []dsbo.Sample{
	whole, {Set: dsbo.Lower}, {Set: dsbo.Lower, T: 1}, {Set: dsbo.Lower, K: 1}, {Set: dsbo.Curvature},
	{Set: dsbo.Upper, K: 7, T: 3},
}

// names compares two oracles of the same configuration, called with the same draws in
// different orders.
func (s *subject) names() error {
	cfg := models.Config{Agent: 2, Seed: 5, Batch: s.batch()}
	calls, names := s.calls(), sampleNames
	if s.q > denseLimit { // for the sake of time
		names = names[:3]
	}
	once := map[dsbo.Sample][]answer{}
	o := s.oracle(cfg)
	for _, name := range names {
		once[name] = answers(o, calls, name)
	}
	for _, again := range []struct {
		o    *models.Oracle
		what string
	}{{o, "asked twice"}, {s.rebuilt(cfg), "asked of a model that is built again"}} {
		for _, name := range slices.Backward(names) {
			if err := sameBits(calls, answers(again.o, calls, name), once[name],
				fmt.Sprintf("sample %v %s", name, again.what)); err != nil {
				return err
			}
		}
	}
	return nil
}

// minibatch compares a draw, and a batch of a partition, with an agent that has only the rows of
// that batch. Both use one draw's name, so that masks are equal.
func (s *subject) minibatch() error {
	cfg := models.Config{Agent: 1, Seed: 3, Batch: s.batch()}
	if cfg.Batch == 0 {
		return nil
	}
	calls := s.calls()
	for _, c := range []struct{ name, whole dsbo.Sample }{
		{dsbo.Sample{Set: dsbo.Curvature, K: 4, T: 2}, dsbo.Sample{Set: dsbo.Curvature, K: 4, T: 2}},
		{dsbo.Sample{Set: dsbo.LowerBatch, K: 1, T: 2}, whole},
	} {
		got := answers(s.oracle(cfg), calls, c.name)
		draw := data.Sampler{Seed: cfg.Seed, Agent: cfg.Agent, Batch: cfg.Batch}
		rows := *s
		for _, e := range []*data.Examples{&rows.s.Train, &rows.s.Val} {
			*e = pickRows(*e, slices.Clone(draw.Draw(c.name, e.Len())))
		}
		want := answers(rows.oracle(models.Config{Agent: cfg.Agent, Seed: cfg.Seed}), calls, c.whole)
		err := sameBits(calls, got, want, fmt.Sprintf("%v, and its rows as all data", c.name))
		if err != nil {
			return err
		}
	}
	return nil
}

// wholeData compares the ways to call for all rows, each of a model that is built again. It leaves
// out draws of masked models, which draw masks even on all rows, and batches of joint losses, which
// oracles refuse.
func (s *subject) wholeData() error {
	calls := s.calls()
	all := max(s.s.Train.Len(), s.s.Val.Len())
	_, masked := s.m.(models.Masked)
	var want []answer
	for _, c := range []struct {
		batch int
		name  dsbo.Sample
	}{
		{0, whole}, {s.batch(), dsbo.Sample{Set: dsbo.Whole, K: 9, T: 9}}, {0, dsbo.Sample{Set: dsbo.Lower}},
		{all, dsbo.Sample{Set: dsbo.Upper}}, {all + 1, dsbo.Sample{Set: dsbo.Curvature, K: 2}},
	} {
		if masked && c.name.Set != dsbo.Whole || c.batch > 0 && s.joint() {
			continue
		}
		got := answers(s.rebuilt(models.Config{Batch: c.batch}), calls, c.name)
		if want == nil {
			want = got
		}
		if err := sameBits(calls, got, want, fmt.Sprintf("all rows by batch %d and sample %v", c.batch,
			c.name)); err != nil {
			return err
		}
	}
	return nil
}

// allocations makes all calls at changing points and draws; of a model with masks, which are made
// for each draw, in one draw.
func (s *subject) allocations() error {
	o := s.oracle(models.Config{Batch: s.batch()})
	x, y, v := s.point()
	calls, dx, dy := s.callsAt(x, y, v), make([]float64, s.p), make([]float64, s.q)
	into := map[int][]float64{s.q: dy, s.p: dx} // by the length of an answer
	runs, sets := 20, []dsbo.Set{dsbo.Lower, dsbo.Curvature, dsbo.Upper, dsbo.Whole}
	if s.q > denseLimit {
		runs, sets = 3, []dsbo.Set{dsbo.Lower}
	}
	k, step := 0, 1
	if _, ok := s.m.(models.Masked); ok {
		sets, step = []dsbo.Set{dsbo.Lower}, 0
	}
	n := testing.AllocsPerRun(runs, func() { // its first run, which is not counted, compiles
		k += step
		x[0], y[0], v[0] = -x[0], -y[0], -v[0] // another point, so that nothing kept answers
		for _, set := range sets {
			name := dsbo.Sample{Set: set, K: k}
			for _, c := range calls {
				testkit.OK(c.ask(o, into[c.n], name))
			}
			testkit.OK(o.UpperGrad(dx, dy, x, y, name))
			testkit.Get2(o.Values(x, y, name))
		}
	})
	if n > 0 {
		return fmt.Errorf("%d rounds of the oracle's calls must allocate nothing; they allocate %g times", len(sets), n)
	}
	return nil
}
