package data

import (
	"math"

	"dsbo"
	"dsbo/ad"
	"dsbo/internal/vec"
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
	Rate             float64 // r, the heterogeneity rate; 0: 1
	Noise            float64 // 0: 0.1
	Seed             uint64
}

// WithDefaults returns c with its zeros replaced by what they stand for.
func (c Synthetic) WithDefaults() Synthetic {
	for _, d := range []struct {
		field *int
		value int
	}{{&c.Agents, 8}, {&c.Features, 200}, {&c.Train, 500}, {&c.Val, 500}, {&c.Test, 500}} {
		if *d.field == 0 {
			*d.field = d.value
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
	for _, size := range []struct {
		name  string
		value int
	}{
		{"agents", c.Agents}, {"features", c.Features}, {"training examples an agent", c.Train},
		{"validation examples an agent", c.Val}, {"test examples an agent", c.Test},
	} {
		if size.value < 0 {
			return dsbo.Errorf(dsbo.ErrConfig, "%s must be at least 1, or 0 for the default; the number is %d", size.name, size.value)
		}
	}
	const most = 1e100 // so that no feature overflows
	if !(c.Rate >= 0 && c.Rate <= most) {
		return dsbo.Errorf(dsbo.ErrConfig, "the heterogeneity rate must be positive and finite; it is %g", c.Rate)
	}
	if !(c.Noise >= 0 && c.Noise <= most) {
		return dsbo.Errorf(dsbo.ErrConfig, "the label noise must be positive and finite; it is %g", c.Noise)
	}
	const bytes = 1 << 40
	d := c.WithDefaults()
	size := 8 * float64(d.Agents) * float64(d.Features) * (float64(d.Train) + float64(d.Val) + float64(d.Test))
	if size > bytes {
		return dsbo.Errorf(dsbo.ErrConfig,
			"all examples together must take less than %d GiB; %d agents with %d examples of %d features take %.0f GiB",
			bytes>>30, d.Agents, d.Train+d.Val+d.Test, d.Features, size/(1<<30))
	}
	return nil
}

// Task makes the data of all agents; the test set is that of agent 0, then of agent 1, and so on.
func (c Synthetic) Task() (Task, error) {
	if err := c.Validate(); err != nil {
		return Task{}, err
	}
	c = c.WithDefaults()
	t := Task{Features: c.Features}
	test := c.block(c.Agents * c.Test)
	for i := range c.Agents {
		s, err := c.Shard(i)
		if err != nil {
			return Task{}, err
		}
		t.Shards = append(t.Shards, s)
		c.draw(i, partTest, test.rows(i*c.Test, c.Test))
	}
	var err error
	if t.Test, err = test.examples(); err != nil {
		return Task{}, err
	}
	return t, t.Validate()
}

// Shard makes the data of agent i (from 0) alone, the same as in Task.
func (c Synthetic) Shard(i int) (Shard, error) {
	if err := c.Validate(); err != nil {
		return Shard{}, err
	}
	c = c.WithDefaults()
	if i < 0 || i >= c.Agents {
		return Shard{}, dsbo.Errorf(dsbo.ErrConfig, "the agent must be from 0 to %d; it is %d", c.Agents-1, i)
	}
	var s Shard
	train, val := c.block(c.Train), c.block(c.Val)
	c.draw(i, partTrain, train)
	c.draw(i, partVal, val)
	var err error
	if s.Train, err = train.examples(); err != nil {
		return Shard{}, err
	}
	s.Train.ID = make([]int, c.Train)
	for j := range s.Train.ID {
		s.Train.ID[j] = i*c.Train + j
	}
	s.Val, err = val.examples()
	return s, err
}

// Truth returns w*.
func (c Synthetic) Truth() []float64 {
	c = c.WithDefaults()
	r := newRand(c.Seed, streamTruth)
	w := make([]float64, c.Features)
	for j := range w {
		w[j] = r.NormFloat64()
	}
	return w
}

// The parts of an agent's data; each has numbers of its own, so that the size of one does not
// change another.
const (
	partTrain = iota
	partVal
	partTest
)

// A block is examples in the making.
type block struct {
	x, target []float64
}

func (c Synthetic) block(rows int) block {
	return block{make([]float64, rows*c.Features), make([]float64, rows)}
}

// rows returns count rows of b as a block, sharing its memory.
func (b block) rows(from, count int) block {
	p := len(b.x) / len(b.target)
	return block{b.x[from*p : (from+count)*p], b.target[from : from+count]}
}

func (b block) examples() (Examples, error) {
	x, err := ad.FloatTable(len(b.target), len(b.x)/len(b.target), b.x)
	if err != nil {
		return Examples{}, err
	}
	target, err := ad.FloatTable(len(b.target), 1, b.target)
	return Examples{X: x, Target: target}, err
}

// draw fills b with examples of agent i (from 0).
func (c Synthetic) draw(i int, part uint64, b block) {
	w := c.Truth()
	r := newRand(c.Seed, streamAgent, uint64(i), part)
	deviation := float64(i+1) * c.Rate
	for e := range b.target {
		x := b.x[e*len(w) : (e+1)*len(w)]
		for j := range x {
			x[j] = deviation * r.NormFloat64()
		}
		margin := vec.Dot(x, w) + float64(c.Noise*r.NormFloat64())
		b.target[e] = math.Copysign(1, margin)
	}
}
