package experiment

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"dsbo"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/internal/wording"
	"dsbo/models"
	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/runs"
	"dsbo/train"
)

// fingerprint returns a digest of an agent's data, before it meets the other agents. If the task
// has a Fingerprint, it covers the files, the seed and the task's flags, but only flags that differ
// from their defaults: a later program with more flags has the same digest. Otherwise it covers the
// loaded examples.
func (r *run) fingerprint(ctx context.Context, agent int) ([]byte, error) {
	if r.job.Task.Fingerprint != nil {
		files, err := r.job.Task.Fingerprint(r.agentsFor(nil, agent))
		changed := maps.Clone(r.settings.shapingFlags)
		maps.DeleteFunc(changed, func(name, _ string) bool {
			_, isDefault := r.settings.defaults["flags."+name]
			return isDefault
		})
		digest := sha256.Sum256(fmt.Appendf(files, " seed %d, %v", r.settings.Seed, changed)) // sorted by name
		return digest[:], err
	}
	l, err := r.load(ctx, beginning{}, []int{agent})
	if err == nil {
		err = r.askRows(l.data, agent)
	}
	if err != nil {
		return nil, err
	}
	digest, err := l.data.Digest(agent)
	return []byte(digest), err
}

// agentsFor returns the agents to load in this process, with their Collective. An agent admitted
// with number i has its shard among i+1 agents.
func (r *run) agentsFor(together network.Collective, local ...int) Agents {
	s := r.settings
	return Agents{N: max(s.Agents, slices.Max(local)+1), Start: s.Agents, Local: local, Seed: s.Seed,
		Numbers: s.Numbers, Own: r.layout.ownsFiles(), Private: s.Privacy != nil,
		Collective: together, Need: r.job.Site, Log: r.view.Log}
}

// CheckData returns an error if this process cannot read the data of one of n agents, each with a
// process of its own. Errors that another choice of flags avoids match dsbo.ErrConfig.
func (j *Job) CheckData(n int, seed uint64) error {
	all := Agents{N: n, Start: n, Local: membership.First(n).Members, Seed: seed, Own: true,
		Private: j.Settings.Epsilon != 0, Collective: unmet}
	if j.Task.Fingerprint != nil {
		_, err := j.Task.Fingerprint(all)
		return err
	}
	_, _, err := j.Task.Load(all)
	return err
}

// commonVectorBound is more than the numbers of each vector that is exchanged whatever the problem
// is: records, scores and counts.
const commonVectorBound = 1 << 16

// longestVector returns a bound on the numbers of each vector that the run exchanges, where the
// model is loaded; 0: it is not.
func (r *run) longestVector() int {
	if r.loaded == nil {
		return 0
	}
	longest := algo.TraitsOf(r.params.method).LongestVector(r.loaded.model.Dims())
	return max(commonVectorBound, network.MostWords(longest))
}

// localAgents returns the agents in this process, by their numbers in the roster: a team numbers
// the members of the present epoch alone.
func (r *run) localAgents(at beginning) []int {
	if at.team == nil {
		return membership.First(r.settings.Agents).Members
	}
	var all []int
	members := at.changes.Last(r.settings.Agents).Members
	for _, position := range at.team.Local() {
		all = append(all, members[position])
	}
	return all
}

// load loads the data and the model for this process's agents. A later attempt reuses them, unless
// the task found results together with other agents as it loaded: in a new session, all agents must
// read these from their folders, or all must exchange them again, so the task loads again.
func (r *run) load(ctx context.Context, at beginning, local []int) (*loaded, error) {
	if had := r.loaded; had != nil && (at.team == nil || len(had.setup.Found) == 0) {
		var err error
		if at.team != nil { // stages after the load may find results together
			had.setup, err = r.newSetup(ctx, at)
		}
		return had, cmp.Or(err, r.admit(at.changes, had))
	}
	began := time.Now()
	found, err := r.newSetup(ctx, at)
	if err != nil {
		return nil, err
	}
	agents := r.agentsFor(found, local...)
	if agents.Private {
		agents.Collective = withoutSums
	}
	l := &loaded{setup: found, local: local}
	if l.data, l.model, err = r.job.Task.Load(agents); err != nil {
		return nil, err
	}
	if n := len(l.data.Shards); n != agents.N {
		return nil, dsbo.ConfigErrorf("-agents must be %d, for which %s has data; it is %d", n,
			r.settings.Task, r.settings.Agents)
	}
	l.test, r.loaded = l.data.Test, l
	err = r.admit(at.changes, l)
	l.duration = time.Since(began)
	return l, err
}

// pose makes the problem of the loaded data. It chooses the settings that depend on the data, the
// number of iterations and the held-out share, and checks that the method suits the model.
func (r *run) pose(ctx context.Context, at beginning, l *loaded) (p problem, err error) {
	if s := r.settings; algo.TraitsOf(r.params.method).Compositional && !models.IsCompositional(l.model) {
		return p, dsbo.Errorf(dsbo.ErrCapability, "%s is for compositional problems alone; that of %s is none",
			s.Algorithm, s.Task)
	}
	r.chooseIterations()
	if err := r.chooseHoldout(ctx, at, l); err != nil {
		return p, err
	}
	return r.makeProblem(at, l, l.model)
}

// makeProblem makes the problem of a model on the loaded data. Examples are held out first; with
// differential privacy rows are then clipped. The task describes the data before clipping, with all
// test examples.
func (r *run) makeProblem(at beginning, l *loaded, model models.Model) (p problem, err error) {
	s := r.settings
	p = problem{model: model, whole: l.data, local: l.local, setup: l.setup,
		config: models.Config{Seed: s.Seed, Batch: s.Batch, Float32: s.DType == "float32",
			Gorgonia: s.Engine == "gorgonia"}}
	switch {
	case len(at.changes) == 0: // members stay
	case at.team == nil: // a replay, from the first epoch on
		p.epoch = membership.First(s.Agents)
	default:
		p.epoch = at.changes.Last(s.Agents)
	}
	if p.data, err = data.HoldOut(l.data, s.Holdout, s.Seed); err != nil {
		return p, fmt.Errorf("-holdout: %w", err)
	}
	if err := r.askRows(p.data, l.local...); err != nil {
		return p, err
	}
	described := p.data
	if s.Privacy != nil {
		if p.data, err = data.Clip(p.data, s.Norm, l.local); err == nil {
			p.guard, err = newGuard(s, p.data, model, l.local)
		}
		if err != nil {
			return p, err
		}
	}
	if err := r.makeOracles(&p); err != nil {
		return p, err
	}
	p.Team, p.Sent = at.team, new(dsbo.Traffic)
	if err := r.setStart(&p); err != nil {
		return p, err
	}
	p.penalties = hasPenalties(p.Oracles[l.local[0]])
	switch of, ok := model.(models.Meant); {
	case ok:
		p.meaning = runs.Meaning(of.Meaning())
	case p.penalties:
		p.meaning = runs.Penalties
	default:
		p.meaning = runs.Hyperparameters
	}
	nx, ny := model.Dims()
	p.shapeY = []int{ny}
	if matrix, ok := model.(models.Shaper); ok {
		rows, cols := matrix.Shape()
		p.shapeY = []int{rows, cols}
	}
	p.settings, p.line = s.taskFlags,
		fmt.Sprintf("%s, p = %d, q = %d, %s", s.Task, nx, ny, wording.Count(s.Agents, "agent"))
	if r.job.Task.Describe != nil {
		described.Test = l.test
		p.settings, p.line = r.job.Task.Describe(described, model)
	}
	return p, nil
}

// makeOracles makes the oracles of a problem's data, and sets the curvature matrix of their
// products and the options of averages.
func (r *run) makeOracles(p *problem) (err error) {
	if p.Problem, err = train.NewProblem(p.data, p.model, p.config, p.local...); err != nil {
		return err
	}
	p.W = r.graph.W
	if p.Average, err = r.settings.averaging(); err != nil {
		return err
	}
	if err := r.checkBatch(p); err != nil {
		return err
	}
	p.Matrix, err = r.settings.chooseMatrix(p)
	return err
}

// checkBatch returns an error if -batch is larger than some agent's number of training or
// validation examples. If a preset set it, that is only logged: such a draw takes all examples.
func (r *run) checkBatch(p *problem) error {
	rows := math.MaxInt // fewest training or validation examples of an agent in this process
	for _, i := range p.local {
		rows = min(rows, p.data.Shards[i].Train.Len(), p.data.Shards[i].Val.Len())
	}
	switch {
	case r.settings.Batch <= rows:
	case r.settings.given["batch"]:
		return dsbo.ConfigErrorf(
			"-batch must be at most %d, the number of examples of an agent, or 0 for all; it is %d", rows,
			r.settings.Batch)
	default:
		r.view.Log("an agent has %d examples, fewer than the %d of a draw of -preset %s: it takes all",
			rows, r.settings.Batch, r.settings.Preset)
	}
	return nil
}

// ofMembers returns the problem of an epoch's members, with p the problem of the whole roster; p
// itself of the zero epoch, where members stay.
func (p problem) ofMembers(e membership.Epoch) (of problem, err error) {
	if e.Members != nil {
		p.Problem, err = p.Problem.OfMembers(e, p.W)
		p.data, p.whole = memberData(p.data, e), memberData(p.whole, e)
	}
	return p, err
}

// problemOf returns the problem of a model on data of the agents, with Oracles in float64.
func (p *problem) problemOf(t data.Task, m models.Model) (train.Problem, error) {
	c := p.config
	c.Float32 = false
	return p.newProblem(t, m, c)
}

// roughProblem is problemOf with Oracles in float32, for products.
func (p *problem) roughProblem(t data.Task, m models.Model) (train.Problem, error) {
	c := p.config
	c.Float32, c.Batch = true, 0
	return p.newProblem(t, m, c)
}

// newProblem returns the problem of a model on data of the agents.
func (p *problem) newProblem(t data.Task, m models.Model, c models.Config) (train.Problem, error) {
	var local []int // nil: all
	if p.Team != nil {
		local = p.Team.Local()
	}
	of, err := train.NewProblem(t, m, c, local...)
	if err != nil {
		return of, fmt.Errorf("model %T: %w", m, err)
	}
	of.Team, of.Numbers, of.W, of.Average, of.Sent = p.Team, p.Numbers, p.W, p.Average, p.Sent
	return of, nil
}

// setStart sets the starts of x and y to the task's, if it has some; x else to the model's.
// Otherwise they are left open, for -x0 and later stages. Another start of x excludes -x0.
func (r *run) setStart(p *problem) error {
	var y []float64
	length, _ := p.model.Dims()
	if r.job.Task.Start != nil {
		p.startX, y = r.job.Task.Start()
	}
	if st, ok := p.model.(models.XStarter); ok && p.startX == nil {
		p.startX = make([]float64, length)
		st.StartX(p.startX)
	}
	switch x := p.startX; {
	case x != nil && len(x) != length:
		return dsbo.ShapeErrorf("the start of x must have p = %d numbers; it has %d", length, len(x))
	case x != nil && r.settings.given["x0"]:
		return dsbo.ConfigErrorf("-x0 must not be given where x has a start of its own")
	}
	if y != nil {
		p.Start = y
	}
	return nil
}

// hasPenalties reports whether x is penalties: the oracle gives the penalty's part of the Hessian,
// and it grows as all entries of x go from 0 to 1. A penalty that does not depend on x does not
// count.
func hasPenalties(o dsbo.Oracle) bool {
	of, err := dsbo.Capabilities(o)
	if err != nil || of.Penalty == nil {
		return false
	}
	p, q := o.Dims()
	low, high := make([]float64, q), make([]float64, q)
	x := make([]float64, p)
	if of.Penalty(low, x) != nil {
		return false
	}
	linalg.Fill(x, 1)
	return of.Penalty(high, x) == nil && slices.Compare(low, high) < 0 // by the first entry that changes
}

// checkpointSettings returns the settings that a checkpoint of a problem belongs to.
func (s *Settings) checkpointSettings(p *problem) map[string]any {
	settings := map[string]any{"task": p.settings, "seed": s.Seed, "batch": s.Batch, "dtype": s.DType,
		"holdout": s.Holdout, "flags": s.shapingFlags}
	if p.config.Gorgonia { // older checkpoints have no engine
		settings["engine"] = s.Engine
	}
	return settings
}
