package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"dsbo"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/internal/wording"
	"dsbo/models"
	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/runs"
	"dsbo/train"
)

// fingerprint stands for the data of an agent in this process. Where that takes no exchange, it
// loads them.
func (r *loader) fingerprint(ctx context.Context, agent int) ([]byte, error) {
	if r.Task.Fingerprint != nil {
		return r.Task.Fingerprint(r.agentsFor(nil, agent))
	}
	if err := r.load(ctx, []int{agent}); err != nil {
		return nil, err
	}
	digest, err := r.loaded.data.Digest(agent)
	return []byte(digest), err
}

// agentsFor returns the agents for which some are loaded in this process, with what finds things
// together. One that is admitted with number i has the shard that it would have among i+1 agents.
func (r *loader) agentsFor(together network.Collective, local ...int) Agents {
	return Agents{N: max(r.Agents, slices.Max(local)+1), Start: r.Agents, Local: local, Seed: r.Seed,
		Numbers: r.Numbers, Own: r.layout.ownsFiles(), Private: r.Privacy != nil, Collective: together,
		Log: r.view.Log}
}

// CheckData returns an error if this process cannot read the data of one of n agents, each of which
// is to have a process of its own. Errors that another choice of flags avoids match dsbo.ErrConfig.
func (j *Job) CheckData(n int, seed uint64) error {
	all := Agents{N: n, Start: n, Local: membership.First(n).Members, Seed: seed, Own: true,
		Private: j.Epsilon != 0, Collective: unmet}
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
func (r *loader) longestVector() (int, error) {
	if r.loaded.model == nil {
		return 0, nil
	}
	m, err := algo.New(r.Algorithm)
	if err != nil {
		return 0, err
	}
	return max(commonVectorBound, network.MostWords(algo.TraitsOf(m).LongestVector(r.loaded.model.Dims()))), nil
}

// localAgents returns the agents in this process.
func (r *loader) localAgents() []int {
	if r.team != nil {
		var all []int
		e := r.changes.Last(r.Agents)
		for _, position := range r.team.Local() {
			all = append(all, e.Members[position])
		}
		return all
	}
	return membership.First(r.Agents).Members
}

// load loads the data of the agents in this process, and the model, once, and again only where the
// agents begin anew: what they found together as they loaded has to be exchanged again then.
func (r *loader) load(ctx context.Context, local []int) (err error) {
	if had := r.loaded.setup; had != nil && (r.team == nil || r.point != nil || len(had.Found) == 0) {
		return r.loadAdmitted()
	}
	began := time.Now()
	r.loaded = loaded{local: local, unposed: true}
	l := &r.loaded
	found, err := r.newSetup(ctx)
	if err != nil {
		return err
	}
	agents := r.agentsFor(found, local...)
	if agents.Private {
		agents.Collective = withoutSums
	}
	if l.data, l.model, err = r.Task.Load(agents); err != nil {
		return err
	}
	if n := len(l.data.Shards); n != agents.N {
		return dsbo.ConfigErrorf("-agents must be %d, for which %s has data; it is %d", n,
			r.Task.Name, r.Agents)
	}
	l.setup, l.test = found, l.data.Test
	err = r.loadAdmitted()
	l.duration = time.Since(began)
	return err
}

// checkMethod reports that the method is not made for the model.
func (r *poser) checkMethod() error {
	m, err := algo.New(r.Algorithm)
	if err == nil && algo.TraitsOf(m).Compositional && !models.IsCompositional(r.loaded.model) {
		err = dsbo.Errorf(dsbo.ErrCapability, "%s is for compositional problems alone; that of %s is none",
			r.Algorithm, r.Task.Name)
	}
	return err
}

// makeProblem makes the problem of the loaded data, once, and checks the settings against it.
func (r *poser) makeProblem(ctx context.Context) error {
	if err := r.checkMethod(); err != nil {
		return err
	}
	r.chooseIterations()
	if err := r.chooseHoldout(ctx); err != nil || !r.loaded.unposed {
		return err
	}
	return r.makeAnew()
}

// makeAnew makes the problem of the loaded data and model.
func (r *poser) makeAnew() error {
	s, l := r.Settings, r.loaded
	task, err := data.HoldOut(l.data, s.Holdout, s.Seed)
	if err != nil {
		return fmt.Errorf("-holdout: %w", err)
	}
	p := problem{data: task}
	if err := r.guardProblem(&p); err != nil {
		return err
	}
	if err := r.makeOracles(&p); err != nil {
		return err
	}
	if err := r.setStart(&p); err != nil {
		return err
	}
	p.penalties = hasPenalties(p.Oracles[l.local[0]])
	p.meaning = meaningOf(l.model, p.penalties)
	nx, ny := l.model.Dims()
	p.shapeY = []int{ny}
	if matrix, ok := l.model.(models.Shaper); ok {
		rows, cols := matrix.Shape()
		p.shapeY = []int{rows, cols}
	}
	p.settings, p.line = r.taskFlags,
		fmt.Sprintf("%s, p = %d, q = %d, %s", r.Task.Name, nx, ny, wording.Count(s.Agents, "agent"))
	if r.Task.Describe != nil {
		task.Test = l.test
		p.settings, p.line = r.Task.Describe(task, l.model)
	}
	r.problem, r.loaded.unposed = p, false
	return nil
}

// guardProblem clips the rows of a problem's data and bounds what they can change, where there is
// differential privacy.
func (r *poser) guardProblem(p *problem) (err error) {
	s, l := r.Settings, r.loaded
	if s.Privacy == nil {
		return nil
	}
	if p.data, err = data.Clip(p.data, s.Norm, l.local); err == nil {
		p.guard, err = newGuard(s, p.data, l.model, l.local)
	}
	return err
}

// makeOracles makes the oracles of a problem's data, with the matrix of their products, and the way
// in which averages are found.
func (r *poser) makeOracles(p *problem) (err error) {
	s, l := r.Settings, r.loaded
	if p.Problem, err = train.NewShare(l.local, p.data, l.model,
		models.Config{Seed: s.Seed, Batch: s.Batch, Float32: s.DType == "float32"}); err != nil {
		return err
	}
	p.Team, p.W = r.team, r.graph.W
	if p.Average, err = s.averaging(); err != nil {
		return err
	}
	rows := math.MaxInt // fewest training or validation examples of an agent in this process
	for _, i := range l.local {
		rows = min(rows, p.data.Shards[i].Train.Len(), p.data.Shards[i].Val.Len())
	}
	switch {
	case s.Batch <= rows:
	case r.givenFlags["batch"]:
		return dsbo.ConfigErrorf(
			"-batch must be at most %d, the number of examples of an agent, or 0 for all; it is %d", rows, s.Batch)
	default: // draws end at what there is
		r.view.Log("an agent has %d examples, fewer than the %d of a draw of -preset %s: it takes all",
			rows, s.Batch, s.Preset)
	}
	p.Matrix, err = r.chooseMatrix(p.Problem)
	return err
}

// meaningOf returns what x of a model is, and whether it is penalties as far as the model's
// oracle tells.
func meaningOf(m models.Model, penalties bool) runs.Meaning {
	if of, ok := m.(models.Meant); ok {
		return runs.Meaning(of.Meaning())
	}
	if penalties {
		return runs.Penalties
	}
	return runs.Hyperparameters
}

// setStart sets where a problem starts, if the task or else the model says it.
func (r *poser) setStart(prob *problem) error {
	var x, y []float64
	p, _ := r.loaded.model.Dims()
	if r.Task.Start != nil {
		x, y = r.Task.Start()
	}
	if st, ok := r.loaded.model.(models.XStarter); ok && x == nil {
		x = make([]float64, p)
		st.StartX(x)
	}
	switch {
	case x != nil && len(x) != p:
		return dsbo.ShapeErrorf("the start of x must have p = %d numbers; it has %d", p, len(x))
	case x != nil && r.givenFlags["x0"]:
		return dsbo.ConfigErrorf("-x0 must not be given where x has a start of its own")
	}
	prob.startX = x
	if y != nil {
		prob.Start = y
	}
	return nil
}

// hasPenalties reports whether an oracle tells a penalty's part of the Hessian, and it grows
// with x.
func hasPenalties(o dsbo.Oracle) bool {
	of, ok := o.(dsbo.PenaltyOracle)
	if !ok {
		return false
	}
	p, q := o.Dims()
	low, high := make([]float64, q), make([]float64, q)
	x := make([]float64, p)
	if of.Penalty(low, x) != nil {
		return false
	}
	for i := range x {
		x[i] = 1
	}
	return of.Penalty(high, x) == nil && slices.Compare(low, high) < 0
}

// checkpointSettings returns the settings that a checkpoint belongs to.
func (r *poser) checkpointSettings() map[string]any {
	s := r.Settings
	return map[string]any{"task": r.problem.settings, "seed": s.Seed, "batch": s.Batch, "dtype": s.DType,
		"holdout": s.Holdout, "flags": r.shapingFlags}
}
