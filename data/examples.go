package data

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"dsbo"
	"dsbo/ad"
)

// Examples are feature rows with their targets. The zero value is empty.
type Examples struct {
	X *ad.Table // one row of features an example
	// Target is one row an example: the one-hot code of its class (a table of [ad.LabelTable]),
	// or one column with a real number or with +1 and -1.
	Target *ad.Table
	// Weight is one column of factors, at least 0, of the examples' losses, or a column for each of
	// the models that a model consists of; nil: all 1.
	Weight *ad.Table
	// Count is one column, at least 0, of the number of rows that each example represents in
	// reported statistics, such as the mean loss, regardless of its Weight; nil: 1 each. In a loss
	// of all examples together, an example of count 0 has no share of its own.
	Count *ad.Table
	// ID is each example's index among the training examples of all agents together, 0 to
	// [Task.TrainRows] - 1: agent 0's first, in the order of their rows. What has one parameter per
	// training example (data hyper-cleaning) finds it there. nil for other examples.
	ID []int
	// Columns are a model's further inputs by name, such as an example's state.
	Columns []Column
}

// A Column is a named input with a row for each example.
type Column struct {
	Name  string
	Table *ad.Table
}

// Column returns the named column, nil if there is none.
func (e Examples) Column(name string) *ad.Table {
	for _, c := range e.Columns {
		if c.Name == name {
			return c.Table
		}
	}
	return nil
}

// Rows returns the number of rows that an example represents.
func (e Examples) Rows(example int) float64 {
	if e.Count == nil {
		return 1
	}
	return e.Count.At(example, 0)
}

// Len returns the number of examples.
func (e Examples) Len() int {
	if e.X == nil {
		return 0
	}
	return e.X.Rows()
}

// A Shard is the private data of one agent: Train for g_i, Val for f_i. The zero value is an agent
// of another process, whose data are not here.
type Shard struct {
	Train, Val Examples
	Holdout    Examples // validation examples that neither train nor tune; the zero value: none, see [HoldOut]
	Test       Examples // test examples of this agent alone; the zero value: the agent scores its part of [Task.Test]
}

func (s Shard) isAbsent() bool { return s.Train.X == nil && s.Val.X == nil }

// Digest returns a hash of agent i's examples, including its part of the test examples. Tables that
// are nil, and an empty hold-out, write nothing, so that digests of earlier versions remain valid.
func (t Task) Digest(i int) (string, error) {
	test, err := t.TestPart(i)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	parts := []Examples{t.Shards[i].Train, t.Shards[i].Val, test}
	if held := t.Shards[i].Holdout; held.Len() > 0 {
		parts = append(parts, held)
	}
	for _, e := range parts {
		named := []Column{{"", e.X}, {"", e.Target}, {"weights ", e.Weight}, {"counts ", e.Count}}
		for _, c := range e.Columns {
			named = append(named, Column{fmt.Sprintf("column %q ", c.Name), c.Table})
		}
		for _, c := range named {
			if c.Table != nil {
				fmt.Fprint(h, c.Name)
				c.Table.WriteHash(h)
			}
		}
		fmt.Fprintln(h, e.ID)
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// A Task is one problem's data: a shard per agent, and the test set, which no agent trains on
// and which may be empty. That no number is NaN or infinite is a property of every [ad.Table].
type Task struct {
	Shards   []Shard // one an agent
	Test     Examples
	Features int // columns of every X
	Classes  int // columns of every one-hot Target; 0 where Target is one column of numbers
	// AllTrainRows is the number of training examples of all agents together, where training
	// examples have an ID and some shards are absent; 0: the agents of Shards.
	AllTrainRows int
	// AllTestRows is the number of test examples of all agents together, where each has its own; 0:
	// not known, or the examples of Test.
	AllTestRows int
	Counted     string // the unit that mean losses are per, such as "event"; "": example
}

// OfAgents returns the task without the shards of agents other than the given ones, as their
// process has it.
func (t Task) OfAgents(agents []int) Task {
	shards := make([]Shard, len(t.Shards))
	for _, i := range agents {
		shards[i] = t.Shards[i]
	}
	t.Shards = shards
	return t
}

// TrainRows returns the number of training examples of all agents together, as far as it is
// known here.
func (t Task) TrainRows() int {
	if t.AllTrainRows > 0 {
		return t.AllTrainRows
	}
	rows := 0
	for _, s := range t.Shards {
		rows += s.Train.Len()
	}
	return rows
}

// TestPart returns the test examples that agent i scores: its own or, where it has none, its part
// of the common test set. Of m examples and n agents the part begins at i·m/n. It may be empty, and
// shares memory with the set.
func (t Task) TestPart(i int) (Examples, error) {
	if own := t.Shards[i].Test; own.Len() > 0 {
		return own, nil
	}
	rows := agentRows(t.Test.Len(), i, len(t.Shards))
	if len(rows) == 0 {
		return Examples{}, nil
	}
	return t.Test.Pick(rows)
}

// agentRows lists the rows of m that are agent i's of n.
func agentRows(m, i, n int) []int { return countFrom(i*m/n, (i+1)*m/n-i*m/n) }

// Validate returns an error, as [dsbo.ErrShape], for the first parts of t that do not fit together.
// The shards of the given agents, the agents of one process, must be present; without agents, all
// must.
func (t Task) Validate(agents ...int) error {
	if len(t.Shards) == 0 {
		return dsbo.ShapeErrorf("a task needs at least one agent")
	}
	seen := make([]bool, t.TrainRows())
	for i, s := range t.Shards {
		if s.isAbsent() && len(agents) > 0 && !slices.Contains(agents, i) {
			continue
		}
		if err := t.checkShard(i, seen); err != nil {
			return err
		}
	}
	if t.Test.X == nil && t.Test.Target == nil {
		return nil
	}
	if err := t.check(t.Test); err != nil {
		return fmt.Errorf("test examples: %w", err)
	}
	return nil
}

// checkShard checks the examples of agent i: training and validation examples must exist, others
// may be empty. seen marks the IDs of earlier agents' training examples and gets this agent's.
func (t Task) checkShard(i int, seen []bool) error {
	s := t.Shards[i]
	for _, set := range []struct {
		name     string
		examples Examples
		optional bool
	}{{"training", s.Train, false}, {"validation", s.Val, false}, {"held-out", s.Holdout, true},
		{"test", s.Test, true}} {
		if set.optional && set.examples.X == nil {
			continue
		}
		if err := t.check(set.examples); err != nil {
			return fmt.Errorf("%s examples of agent %d: %w", set.name, i, err)
		}
	}
	if s.Train.ID == nil {
		return nil
	}
	if k := slices.IndexFunc(t.Shards, Shard.isAbsent); k >= 0 && t.AllTrainRows == 0 {
		return dsbo.ShapeErrorf(
			"AllTrainRows must be given: training examples of agent %d have IDs, and those of agent %d are absent", i,
			k)
	}
	for row, id := range s.Train.ID {
		if id < 0 || id >= len(seen) || seen[id] {
			return dsbo.ShapeErrorf(
				"IDs of training examples must be those of 0 to %d, each once; row %d of agent %d has %d",
				len(seen)-1, row, i, id)
		}
		seen[id] = true
	}
	return nil
}

// check returns an error for the first part of e that does not fit the task's features and classes.
func (t Task) check(e Examples) error {
	n, columns := e.Len(), max(t.Classes, 1)
	switch {
	case n == 0:
		return dsbo.ShapeErrorf("there must be at least one")
	case e.X.Cols() != t.Features:
		return dsbo.ShapeErrorf("examples must have the task's %d features; they have %d",
			t.Features, e.X.Cols())
	case e.Target == nil && t.Classes > 0:
		return dsbo.ShapeErrorf("examples must have the task's %d classes as targets; they have none",
			t.Classes)
	case e.Target != nil && e.Target.Cols() != columns:
		return dsbo.ShapeErrorf(
			"targets must have a column for each of the task's %d classes, or one column where it has 0; they have %d",
			t.Classes, e.Target.Cols())
	}
	return e.Validate()
}

// Validate returns an error for the first part of e that does not fit its features: [dsbo.ErrShape]
// if it has not one row for each example, [dsbo.ErrConfig] if a weight or a count is negative.
func (e Examples) Validate() error {
	n := e.Len()
	switch {
	case e.Target != nil && e.Target.Rows() != n:
		return dsbo.ShapeErrorf("each of %d examples must have a target; there are %d", n, e.Target.Rows())
	case e.ID != nil && len(e.ID) != n:
		return dsbo.ShapeErrorf("each of %d examples must have an ID; there are %d", n, len(e.ID))
	}
	for k, c := range e.Columns {
		switch {
		case c.Name == "" || slices.ContainsFunc(e.Columns[:k], func(d Column) bool { return d.Name == c.Name }):
			return dsbo.ShapeErrorf(
				"names of columns must be distinct and not empty; that of column %d is %q", k, c.Name)
		case c.Table == nil || c.Table.Rows() != n:
			return dsbo.ShapeErrorf("column %q must have a row for each of %d examples", c.Name, n)
		}
	}
	for _, t := range []struct {
		of   *ad.Table
		what string
	}{{e.Weight, "weight"}, {e.Count, "count"}} {
		if t.of == nil {
			continue
		}
		if t.of.Rows() != n {
			return dsbo.ShapeErrorf("each of %d examples must have a %s; there are %d", n, t.what, t.of.Rows())
		}
		for i := range n {
			for k := range t.of.Cols() {
				if w := t.of.At(i, k); w < 0 {
					return dsbo.ConfigErrorf("a %s must be at least 0; that of example %d is %g", t.what, i, w)
				}
			}
		}
	}
	return nil
}

// Pick returns the examples in the given rows without their IDs, and without a copy of
// their numbers.
func (e Examples) Pick(rows []int) (Examples, error) {
	return e.mapTables(func(t *ad.Table) (*ad.Table, error) { return t.Pick(rows) })
}

// mapTables returns the examples with other tables in place of their own, and without IDs.
func (e Examples) mapTables(change func(t *ad.Table) (*ad.Table, error)) (_ Examples, err error) {
	e.ID, e.Columns = nil, slices.Clone(e.Columns)
	tables := []**ad.Table{&e.X, &e.Target, &e.Weight, &e.Count}
	for k := range e.Columns {
		tables = append(tables, &e.Columns[k].Table)
	}
	for _, t := range tables {
		if *t == nil {
			continue
		}
		if *t, err = change(*t); err != nil {
			return Examples{}, err
		}
	}
	return e, nil
}

// copyRows returns the examples in the given rows, in memory of their own.
func (e Examples) copyRows(rows []int) (Examples, error) {
	picked, err := e.Pick(rows)
	if err != nil {
		return Examples{}, err
	}
	return picked.mapTables(func(t *ad.Table) (*ad.Table, error) { return t.Compact(), nil })
}

// floatExamples are examples of a number as the target of each, over the memory of both slices.
func floatExamples(x, target []float64) (Examples, error) {
	features, err := ad.FloatTable(len(target), len(x)/len(target), x)
	if err != nil {
		return Examples{}, err
	}
	targets, err := ad.FloatTable(len(target), 1, target)
	return Examples{X: features, Target: targets}, err
}

// labels returns the class of each example; ok is false, and they are 0, where targets are
// no classes.
func (e Examples) labels() (labels []int, ok bool) {
	labels = make([]int, e.Len())
	if e.Target == nil {
		return labels, false
	}
	for i := range labels {
		labels[i], ok = e.Target.Label(i)
	}
	return labels, ok
}

// countFrom lists count whole numbers from first on.
func countFrom(first, count int) []int {
	list := make([]int, count)
	for i := range list {
		list[i] = first + i
	}
	return list
}
