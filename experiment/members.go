package experiment

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"dsbo"
	"dsbo/data"
	"dsbo/internal/files"
	"dsbo/internal/wording"
	"dsbo/network/membership"
	"dsbo/runs"
	"dsbo/train"
)

// readChanges reads the membership log of -membership or, for a resumed run, of its folder, and
// checks it against the settings. (Parsing -resume has set -out.) A log is replayed in one process
// only.
func (r *run) readChanges() (err error) {
	s := r.settings
	switch {
	case s.Membership != "":
		lines, err := files.ReadFile(s.Membership)
		if err != nil {
			return dsbo.ConfigErrorf("-membership: %w", err)
		}
		if len(lines) > 0 && lines[len(lines)-1] != '\n' { // Parse would skip it, as a line that a crash left
			return dsbo.ConfigErrorf(
				"-membership: %s: the last line must be whole, with a line feed at its end", s.Membership)
		}
		if r.changes, err = membership.Parse(s.Membership, bytes.NewReader(lines)); err != nil {
			return fmt.Errorf("-membership: %w", err)
		}
	case s.Resume && s.Out != "":
		if r.changes, err = runs.Folder(s.Out).ReadChanges(); err != nil {
			return err
		}
	}
	switch {
	case len(r.changes) == 0:
		return nil
	case s.Transport != transports[0].name:
		return dsbo.ConfigErrorf("-membership replays changes in one process: -transport must be %s; it is %s",
			transports[0].name, s.Transport)
	case s.Epsilon > 0:
		return dsbo.ConfigErrorf(
			"-membership and -dp-epsilon are mutually exclusive: the noise of a sum is dealt to agents that stay")
	}
	if _, err := train.EpochMatrices(r.changes, r.graph.W, s.Iterations); err != nil { // it checks the changes
		return fmt.Errorf("-membership: %w", err)
	}
	return nil
}

// admit appends shards, after the ones of the starting agents, for the agents that the membership
// log admits. An agent in another process, or one that never joins, gets an empty shard. In this
// process a task loads an agent's data as one of i+1 agents, with the common results of the start;
// its model must have the run's dimensions. Test examples are split among the agents first, so that
// the parts of the starting agents do not change.
func (r *run) admit(changes membership.Log, l *loaded) error {
	if len(changes) == 0 {
		return nil
	}
	if l.data.Test.Len() > 0 {
		if err := splitTests(&l.data); err != nil {
			return err
		}
	}
	for i := len(l.data.Shards); i < changes.Roster(r.settings.Agents); i++ {
		joins := slices.ContainsFunc(changes, func(c membership.Change) bool { return slices.Contains(c.Members, i) })
		if r.layout.ownsFiles() || !joins {
			l.data.Shards = append(l.data.Shards, data.Shard{})
			continue
		}
		found := &setup{Setup: l.setup.Setup}
		late, m, err := r.job.Task.Load(r.agentsFor(found, membership.First(i+1).Members...))
		if err != nil {
			return fmt.Errorf("agent %d: %w", i, err)
		}
		p, q := l.model.Dims()
		if lp, lq := m.Dims(); lp != p || lq != q {
			return dsbo.ConfigErrorf(
				"-membership: agent %d cannot come in: its model has p = %d and q = %d, that of the run %d and %d",
				i, lp, lq, p, q)
		}
		if err := splitTests(&late); err != nil {
			return err
		}
		l.data.Shards, l.local = append(l.data.Shards, late.Shards[i]), append(l.local, i)
		l.data.AllTrainRows = max(l.data.AllTrainRows, late.AllTrainRows)
	}
	return nil
}

// splitTests gives each agent its part of the common test examples as its own, so that later
// changes of members do not change the parts.
func splitTests(t *data.Task) error {
	shards := slices.Clone(t.Shards)
	for i := range shards {
		var err error
		if shards[i].Test, err = t.TestPart(i); err != nil {
			return err
		}
	}
	t.Shards, t.Test = shards, data.Examples{}
	return nil
}

// noteChange logs the beginning of an epoch of a membership log.
func noteChange(v Viewer, changes membership.Log, e membership.Epoch) {
	text := fmt.Sprintf("epoch %d begins after iteration %d: %s", e.Number, e.Iteration,
		wording.Count(len(e.Members), "agent"))
	if why := changes[e.Number-1].Why; len(why) > 0 {
		text += " (" + strings.Join(why, "; ") + ")"
	}
	v.Note(Note{Text: text, Name: "members",
		Facts: []any{"epoch", e.Number, "iteration", e.Iteration, "members", e.Members}})
}

// memberData returns the data of the members of an epoch, each at its position among the members,
// which ascend. The zero epoch has all agents. A member without a shard was admitted after the data
// were loaded and is in another process.
func memberData(t data.Task, e membership.Epoch) data.Task {
	n := len(e.Members)
	allMembers := n == 0 || n == len(t.Shards) && e.Members[n-1] < n
	if allMembers {
		return t
	}
	var shards []data.Shard
	for _, i := range e.Members {
		if i < len(t.Shards) {
			shards = append(shards, t.Shards[i])
		} else {
			shards = append(shards, data.Shard{})
		}
	}
	t.Shards, t.AllTrainRows = shards, max(t.AllTrainRows, t.TrainRows())
	return t
}
