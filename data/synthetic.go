package data

import (
	"math"
	"slices"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/internal/num"
)

// Synthetic describes the paper's synthetic task (section "Heterogeneous and normally distributed
// data" and the appendix on heterogeneity): on agent i = 1..n the features of an example are
// N(0, i²r²), and its label is the sign of x·w* + Noise·z with one standard normal z per example,
// in {-1, +1}. The ground truth w*, standard normal too, is common to all agents.
type Synthetic struct {
	Agents   int // n; 0: 8
	Features int // p; 0: 200
	// Train, Val and Test are examples per agent; 0: 500.
	Train, Val, Test int
	Real             bool    // labels are x·w* + Noise·z, as the paper has them, not their signs
	Rate             float64 // r, the heterogeneity rate; 0: 1
	Noise            float64 // 0: 0.1
	Seed             uint64  // of all draws
}

// A size is a number of c with its default.
type size struct {
	name  string
	field *int
	usual int // 0: as many as there are for all
}

func (s size) validate() error {
	if *s.field < 0 {
		return dsbo.ConfigErrorf("the number of %s must be at least 1, or 0 for the default; it is %d",
			s.name, *s.field)
	}
	return nil
}

func (c *Synthetic) sizes() []size {
	return []size{{"agents", &c.Agents, 8}, {"features", &c.Features, 200},
		{"training examples an agent", &c.Train, 500},
		{"validation examples an agent", &c.Val, 500}, {"test examples an agent", &c.Test, 500}}
}

// withDefaults returns c with defaults in place of zeros.
func (c Synthetic) withDefaults() Synthetic {
	for _, s := range c.sizes() {
		if *s.field == 0 {
			*s.field = s.usual
		}
	}
	if c.Rate == 0 {
		c.Rate = 1
	}
	if c.Noise == 0 {
		c.Noise = 0.1
	}
	return c
}

// Validate reports a setting that cannot work, as [dsbo.ErrConfig].
func (c Synthetic) Validate() error {
	for _, s := range c.sizes() {
		if err := s.validate(); err != nil {
			return err
		}
	}
	const most = 1e100 // so that no feature overflows
	if !(c.Rate >= 0 && c.Rate <= most) {
		return dsbo.ConfigErrorf("the heterogeneity rate must be positive and finite; it is %g", c.Rate)
	}
	if !(c.Noise >= 0 && c.Noise <= most) {
		return dsbo.ConfigErrorf("the label noise must be positive and finite; it is %g", c.Noise)
	}
	const bytes = 1 << 40
	d := c.withDefaults()
	size := 8 * float64(d.Agents) * float64(d.Features) * (float64(d.Train) + float64(d.Val) + float64(d.Test))
	if size > bytes {
		return dsbo.ConfigErrorf(
			"all examples together must take less than %d GiB; %d agents with %d examples of %d features take %.0f GiB",
			bytes>>30, d.Agents, d.Train+d.Val+d.Test, d.Features, size/(1<<30))
	}
	return nil
}

// Task makes the data of all agents; the test set is the set of agent 0, then of agent 1, and
// so on.
func (c Synthetic) Task() (Task, error) {
	if err := c.Validate(); err != nil {
		return Task{}, err
	}
	c = c.withDefaults()
	t := Task{Features: c.Features}
	x, target := make([]float64, 0, c.Agents*c.Test*c.Features), make([]float64, 0, c.Agents*c.Test)
	for i := range c.Agents {
		s, err := c.shard(i, 0)
		if err != nil {
			return Task{}, err
		}
		t.Shards = append(t.Shards, s)
		x, target = c.draw(i, partTest, c.Test, x, target)
	}
	var err error
	if t.Test, err = floatExamples(x, target); err != nil {
		return Task{}, err
	}
	return t, t.Validate()
}

// Shard makes the data of agent i (from 0) alone, with its part of the test examples, the same as
// in Task.
func (c Synthetic) Shard(i int) (Shard, error) {
	if err := c.Validate(); err != nil {
		return Shard{}, err
	}
	c = c.withDefaults()
	if i < 0 || i >= c.Agents {
		return Shard{}, dsbo.ConfigErrorf("the agent must be from 0 to %d; it is %d", c.Agents-1, i)
	}
	return c.shard(i, c.Test)
}

// shard makes the examples of agent i, with a number of test examples, 0 for none. Its sets share
// one allocation, since three would waste a part of a page each.
func (c Synthetic) shard(i, test int) (s Shard, err error) {
	x := make([]float64, 0, (c.Train+c.Val+test)*c.Features)
	for part, of := range []struct {
		count int
		e     *Examples
	}{partTrain: {c.Train, &s.Train}, partVal: {c.Val, &s.Val}, partTest: {test, &s.Test}} {
		if of.count == 0 {
			continue
		}
		var target []float64
		x, target = c.draw(i, uint64(part), of.count, x[len(x):], nil)
		if *of.e, err = floatExamples(x, target); err != nil {
			return Shard{}, err
		}
	}
	s.Train.ID = countFrom(i*c.Train, c.Train)
	return s, nil
}

// truth returns w*.
func (c Synthetic) truth() []float64 {
	c = c.withDefaults()
	return normals(newRand(c.Seed, streamTruth), c.Features, 1)
}

// The parts of an agent's data. Each has its own random stream, so that the size of one does not
// change another.
const (
	partTrain = iota
	partVal
	partTest
)

// draw appends count examples of agent i (from 0) to features and targets.
func (c Synthetic) draw(i int, part uint64, count int, features, targets []float64) (_, _ []float64) {
	w := c.truth()
	r := newRand(c.Seed, streamAgent, uint64(i), part)
	deviation := float64(i+1) * c.Rate
	features, targets = slices.Grow(features, count*len(w)), slices.Grow(targets, count)
	for range count {
		for range w {
			features = append(features, deviation*num.Normal(r))
		}
		margin := linalg.Dot(features[len(features)-len(w):], w) + float64(c.Noise*num.Normal(r))
		if !c.Real {
			margin = math.Copysign(1, margin)
		}
		targets = append(targets, margin)
	}
	return features, targets
}
