package data

import (
	"math/rand/v2"
	"slices"

	"dsbo"
)

// A Split is the number of examples that an agent gets from one data set: Train + Val. No example
// goes to two agents, and an agent's training and validation examples have the same labels in the
// same proportions (up to one example a label).
type Split struct {
	Agents int // n; 0: 8
	// Train and Val are sizes per agent; 0: half of an agent's equal share. Of 60000 examples,
	// 8 agents get 3750 and 3750. For [Partition.Labels], the share is the most that all can have.
	Train, Val int
	Partition  Partition
	Seed       uint64
}

// Validate reports a setting that cannot work whatever the data, as [dsbo.ErrConfig].
func (c Split) Validate() error {
	for _, s := range []size{{name: "agents", field: &c.Agents},
		{name: "training examples of each agent", field: &c.Train},
		{name: "validation examples of each agent", field: &c.Val}} {
		if err := s.validate(); err != nil {
			return err
		}
	}
	return c.Partition.Validate()
}

// NewTask shares train out to agents, deterministically, and keeps test, which may be empty, for
// the evaluation. Shards have copies of their examples, so that they are read in the order of
// memory; the test examples are not copied. Training examples alone get an ID, for models with a
// parameter each. It fails with [dsbo.ErrConfig] if there are fewer examples than asked for, or if
// the partition needs classes and train has none, and with [dsbo.ErrShape] if train is empty or
// tables do not fit together.
func NewTask(train, test Examples, c Split) (Task, error) {
	if train.Len() == 0 || train.Target != nil && train.Target.Rows() != train.Len() {
		return Task{}, dsbo.ShapeErrorf(
			"a split needs at least one example, and a target for each; there are %d examples", train.Len())
	}
	columns := 1
	if train.Target != nil {
		columns = train.Target.Cols()
	}
	labels, labelled := train.labels()
	hands, err := c.deal(labels, columns, labelled)
	if err != nil {
		return Task{}, err
	}
	t := Task{Shards: make([]Shard, len(hands)), Test: test, Features: train.X.Cols()}
	for i, h := range hands {
		if t.Shards[i].Train, err = train.copyRows(h.train); err != nil {
			return Task{}, err
		}
		if t.Shards[i].Val, err = train.copyRows(h.val); err != nil {
			return Task{}, err
		}
		t.Shards[i].Train.ID = h.ids(i)
	}
	if columns > 1 { // one-hot; one column is a number
		t.Classes = columns
	}
	return t, t.Validate()
}

// A hand is the rows of one agent, each list ascending. All agents have equally many.
type hand struct{ train, val []int }

// ids are the IDs of agent i's training examples.
func (h hand) ids(i int) []int { return countFrom(i*len(h.train), len(h.train)) }

// deal distributes rows, given by their labels, to the agents: it draws the agents' label laws and
// the order of rows, allocates numbers of each label, and splits each agent's rows into training
// and validation. Without classes (labelled is false) labels are all 0.
func (c Split) deal(labels []int, classes int, labelled bool) ([]hand, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Agents == 0 {
		c.Agents = 8
	}
	if c.Agents > len(labels)/2 {
		return nil, dsbo.ConfigErrorf("each agent must have at least 2 examples; %d agents share %d",
			c.Agents, len(labels))
	}
	pools, err := c.pools(labels, classes, labelled)
	if err != nil {
		return nil, err
	}
	r := newRand(c.Seed, streamSplit)
	laws := c.Partition.laws(r, c.Agents, len(pools))
	supply := make([]int, len(pools))
	for l, pool := range pools {
		supply[l] = len(pool)
		r.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	}
	if c, err = c.withSizes(len(labels), supply, laws); err != nil {
		return nil, err
	}
	quotas, _ := allocate(c.drawRand(), laws, supply, c.Train+c.Val)

	hands := make([]hand, c.Agents)
	for i, quota := range quotas {
		var rows []int
		for l, n := range quota {
			rows = append(rows, pools[l][:n]...)
			pools[l] = pools[l][n:]
		}
		// Sorted by label, so that spread splits each label in proportion.
		slices.SortStableFunc(rows, func(a, b int) int { return labels[a] - labels[b] })
		hands[i] = c.spread(rows)
	}
	return hands, nil
}

// pools returns the rows of each label, or all rows as one where labels do not matter.
func (c Split) pools(labels []int, classes int, labelled bool) ([][]int, error) {
	if c.Partition == (Partition{}) {
		return [][]int{countFrom(0, len(labels))}, nil
	}
	if !labelled {
		return nil, dsbo.ConfigErrorf(
			"partition %v needs data with class labels; without them it must be iid", c.Partition)
	}
	if k := c.Partition.Labels; k > classes {
		return nil, dsbo.ConfigErrorf("partition labels:%d needs data with as many labels; they have %d", k,
			classes)
	}
	pools := make([][]int, classes)
	for row, l := range labels {
		pools[l] = append(pools[l], row)
	}
	return pools, nil
}

// withSizes sets the default sizes and checks that the examples, supply[l] of label l, suffice.
// Where agents are restricted to some labels, the largest possible share is found by an allocation.
func (c Split) withSizes(total int, supply []int, laws [][]float64) (Split, error) {
	share := total / c.Agents
	if c.Partition.Labels != 0 {
		_, share = allocate(c.drawRand(), laws, supply, share)
	}
	if c.Train == 0 {
		c.Train = share / 2
	}
	if c.Val == 0 {
		c.Val = share / 2
	}
	if c.Train == 0 || c.Val == 0 || c.Train > share || c.Val > share-c.Train {
		return c, dsbo.ConfigErrorf(
			"an agent can have at most %d examples of %d that %d agents share, split %v; it is to have %d training "+
				"and %d validation examples",
			share, total, c.Agents, c.Partition, c.Train, c.Val)
	}
	return c, nil
}

// drawRand returns the numbers for allocate, the same each time.
func (c Split) drawRand() *rand.Rand { return newRand(c.Seed, streamSplit, 1) }

// spread splits rows into training and validation examples, both spread evenly along the list: row
// j trains if the rounded number of training rows up to it increases.
func (c Split) spread(rows []int) hand {
	h := hand{make([]int, 0, c.Train), make([]int, 0, c.Val)}
	for j, row := range rows {
		if (j+1)*c.Train/len(rows) > j*c.Train/len(rows) {
			h.train = append(h.train, row)
		} else {
			h.val = append(h.val, row)
		}
	}
	slices.Sort(h.train)
	slices.Sort(h.val)
	return h
}
