// Package modeltest is the conformance suite of package models: the author of a model runs
// [TestModel] on it, with a few typical examples. It needs no closed forms: derivatives are
// compared with finite differences, and all else with the contracts.
package modeltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// TestModel proves model m on the data of one agent; of a *testing.T each part is a subtest:
//
//   - derivatives: both losses' by finite differences along random directions, symmetry and
//     adjointness ([adtest.Measure]), with what is allowed found from the differences' own error;
//     kinks, as of ReLU, are stepped around; a [models.Stopped] is exempt, and a line of the
//     test's log reports it;
//   - x: some answer depends on it;
//   - float32: within 1e-4 of float64's largest entry, and what float64 changes by across a kink
//     that rounding can cross;
//   - names, minibatch, whole: same name, same bits, also of a model that is built again; a
//     minibatch is its rows; [dsbo.Whole], and a batch no smaller than the data, are all rows;
//   - copies: with each example twice, and three times, a loss is the mean over its examples or
//     their sum, up to the 1/rows by which averages over pairs of examples differ;
//   - leaks: a loss of one example depends on no other one, but where the model
//     is [models.Batched], or [models.Joint];
//   - bounded: the lower loss does not fall for ever along rays;
//   - what the model claims by further methods: convexity (Modulus), penalty, diagonal, score,
//     shape, layers, start, meaning, baselines, simpler;
//   - allocations: steady work allocates nothing.
//
// Without weights, Upper must be the mean or the sum of the score's losses, up to a prior's factor
// and terms without examples. A score's loss may depend on other examples only if Upper is no sum
// of terms of single examples, as with batch statistics. If x enters the lower loss through a
// penalty alone, Penalty must return all of it.
//
// Up to q = 256 whole matrices are compared, beyond random directions and entries. The cost is a
// few hundred gradients of at most 61 examples, the first ones (23 from q = 10⁵ on): under a second
// for small models, some ten seconds at q = 2·10⁶. Take a number of examples that is neither a
// power of two nor below 8.
func TestModel(t testing.TB, m models.Model, s data.Shard) {
	t.Helper()
	if _, err := models.NewOracle(m, s, models.Config{}); err != nil {
		t.Fatalf("NewOracle: %v", err)
	}
	programs := models.NewPrograms(m)
	for _, c := range checks {
		if stopped, ok := m.(models.Stopped); ok && c.name == derivativesName {
			t.Logf("%s: left out, for the model has none of %s", c.name, stopped.Stopped())
			continue
		}
		if sub, ok := t.(*testing.T); ok {
			sub.Run(c.name, func(t *testing.T) { c.report(t, newSubject(m, s, programs)) })
		} else {
			c.report(t, newSubject(m, s, programs))
		}
	}
}

type check struct {
	name string
	run  func(*subject) error
}

// report fails t with the check's error or panic.
func (c check) report(t testing.TB, s *subject) {
	t.Helper()
	if err := testkit.Catch(func() { testkit.OK(c.run(s)) }); err != nil {
		t.Errorf("%s: %v", c.name, err)
	}
}

// derivativesName is the check that a [models.Stopped] goes without.
const derivativesName = "derivatives"

var checks = []check{
	{derivativesName, (*subject).derivatives},
	{"x", (*subject).xMatters},
	{"float32", (*subject).float32},
	{"names", (*subject).names},
	{"minibatch", (*subject).minibatch},
	{"whole", (*subject).wholeData},
	{"copies", (*subject).copies},
	{"leaks", (*subject).leaks},
	{"bounded", (*subject).bounded},
	{"convexity", claim((*subject).convexity)},
	{"penalty", claim((*subject).penalty)},
	{"diagonal", (*subject).diagonal},
	{"score", claim((*subject).score)},
	{"shape", claim((*subject).shape)},
	{"layers", claim((*subject).layers)},
	{"start", (*subject).start},
	{"meaning", claim((*subject).meaning)},
	{"baselines", claim((*subject).baselines)},
	{"simpler", claim((*subject).simpler)},
	{"allocations", (*subject).allocations},
}

// claim is a check of what a model claims by the methods of M, if it has them.
func claim[M any](check func(*subject, M) error) func(*subject) error {
	return func(s *subject) error {
		if m, ok := s.m.(M); ok {
			return check(s, m)
		}
		return nil
	}
}

// denseLimit and largeLimit are lengths of y beyond which fewer entries, and fewer examples, are
// checked.
const (
	denseLimit = 256 // up to it, whole matrices
	largeLimit = 1e5 // from it on, a vector takes longer than the data
)

// A subject is a model under test with its data, and numbers to test it at.
type subject struct {
	m    models.Model
	s    data.Shard
	p, q int
	r    *rand.Rand

	programs *models.Programs // compiled from m, shared by all checks
}

// newSubject returns the model under test, on the first examples: fewer if q is large.
func newSubject(m models.Model, s data.Shard, programs *models.Programs) *subject {
	p, q := m.Dims()
	rows := s.Train.Len() + s.Val.Len()
	switch {
	case q >= largeLimit:
		rows = 23
	case q > denseLimit:
		rows = 61
	}
	return &subject{m: m, s: data.Shard{Train: firstRows(s.Train, 0, rows), Val: firstRows(s.Val, 0, rows)}, p: p, q: q,
		r: rand.New(rand.NewPCG(20, 23)), programs: programs}
}

// point returns x and y, which lie around the model's start, and a direction v.
func (s *subject) point() (x, y, v []float64) {
	startX, startY := func([]float64) {}, func([]float64) {}
	if st, ok := s.m.(models.XStarter); ok {
		startX = st.StartX
	}
	if st, ok := s.m.(models.Starter); ok {
		startY = st.Start
	}
	return s.around(s.p, startX), s.around(s.q, startY), s.normal(s.q, 1)
}

// around returns n numbers around a start. They differ from it by half a standard normal number,
// and by less from 256 on: in a network of real size a unit's sum has up to √n terms, and keeps
// its size.
func (s *subject) around(n int, start func([]float64)) []float64 {
	at := make([]float64, n)
	start(at)
	deviation := .5 / math.Pow(max(1, float64(n)/denseLimit), .25)
	for j := range at {
		at[j] += deviation * s.r.NormFloat64()
	}
	return at
}

func (s *subject) normal(n int, deviation float64) []float64 {
	v := make([]float64, n)
	for j := range v {
		v[j] = deviation * s.r.NormFloat64()
	}
	return v
}

func (s *subject) oracle(c models.Config) *models.Oracle {
	if s.q < largeLimit {
		return testkit.Get(s.programs.Oracle(s.s, c))
	}
	return s.rebuilt(c)
}

// rebuilt returns an oracle of a model that is built again.
func (s *subject) rebuilt(c models.Config) *models.Oracle {
	s.collect()
	return testkit.Get(models.NewOracle(s.m, s.s, c))
}

// collect frees the last program's buffers before the next one has its own: of a large model they
// are hundreds of megabytes.
func (s *subject) collect() {
	if s.q >= largeLimit {
		runtime.GC()
	}
}

// A side is one of the model's two losses, with the examples that it is for.
type side struct {
	name string
	loss models.Loss
	on   data.Examples
}

func (s *subject) sides() [2]side {
	return [2]side{{"lower loss", s.m.Lower, s.withMasks(s.s.Train)}, {"upper loss", s.m.Upper, s.s.Val}}
}

// withMasks returns training examples with the model's masks, if it has some, as the columns that
// they are where all examples are asked for.
func (s *subject) withMasks(e data.Examples) data.Examples {
	masked, ok := s.m.(models.Masked)
	if !ok || e.X == nil {
		return e
	}
	e.Columns = slices.Clone(e.Columns)
	for _, m := range masked.Masks() {
		table := testkit.Get(new(data.Sampler).Mask(e.Len(), m.Cols, whole, 0, m.Keep))
		e.Columns = append(e.Columns, data.Column{Name: m.Name, Table: table})
	}
	return e
}

// differentiate compiles a side's loss on examples e.
func (s *subject) differentiate(l side, e data.Examples, float32 bool) *ad.Derivs {
	s.collect()
	d, err := models.Differentiate(l.loss, s.p, s.q, e, float32)
	if err != nil {
		testkit.OK(fmt.Errorf("%s: %w", l.name, err))
	}
	return d
}

// firstRows returns rows from, from+1, ... of e, at most count.
func firstRows(e data.Examples, from, count int) data.Examples {
	count = min(count, e.Len()-from)
	if e.X == nil || from == 0 && count == e.Len() {
		return e
	}
	rows := make([]int, count)
	for i := range rows {
		rows[i] = from + i
	}
	return pickRows(e, rows)
}

// pickRows returns some rows of e.
func pickRows(e data.Examples, rows []int) data.Examples {
	if e.X == nil {
		return e
	}
	picked := testkit.Get(e.Pick(rows))
	for _, row := range rows {
		if e.ID != nil {
			picked.ID = append(picked.ID, e.ID[row])
		}
	}
	return picked
}

// whole is the name of all examples.
var whole = dsbo.Sample{Set: dsbo.Whole}
