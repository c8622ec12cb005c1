package train

import (
	"fmt"
	"strings"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
	"dsbo/internal/wording"
	"dsbo/network"
	"dsbo/network/membership"
)

// Validate reports the first setting that cannot work, and a checkpoint that cannot be
// resumed from.
func (c Config) Validate() error {
	c, err := c.resolve()
	if err == nil && c.Resume {
		_, err = c.loadCheckpoint(nil)
	}
	return err
}

// resolve returns c with defaults, after checking everything that does not depend on files other
// than checkpoints. The epoch is chosen first, as it decides which agents the problem has.
func (c Config) resolve() (Config, error) {
	c = c.WithDefaults()
	if c.W == nil {
		return c, dsbo.ConfigErrorf("mixing matrix of %d agents must be given", len(c.Problem.Oracles))
	}
	if err := c.W.Validate(); err != nil {
		return c, err
	}
	c, err := c.startEpoch()
	if err != nil {
		return c, err
	}
	if c.p, c.q, err = c.Problem.Dims(); err != nil {
		return c, err
	}
	for _, count := range []struct {
		name  string
		value int
	}{{"iterations", c.K}, {"eval-every", c.EvalEvery}, {"checkpoint-every", c.CheckpointEvery}} {
		if count.value < 1 {
			return c, dsbo.ConfigErrorf("%s must be at least 1, or 0 for the default; it is %d",
				count.name, count.value)
		}
	}
	if c.Patience < 0 || 0 < c.Patience && c.Patience < LeastRose {
		return c, dsbo.ConfigErrorf(
			"patience must be at least %d, as one loss alone rises by chance, or 0 for a run that ends at K alone; it "+
				"is %d", LeastRose, c.Patience)
	}
	if c.Evaluate != EvaluateExact && c.Evaluate != EvaluateOff {
		return c, dsbo.ConfigErrorf("evaluate must be %s or %s; it is %s", EvaluateExact,
			EvaluateOff, c.Evaluate)
	}
	if c.Resume && c.Dir == "" {
		return c, dsbo.ConfigErrorf("a run that resumes must have a folder with its checkpoint")
	}
	c.Problem.W = c.W
	if n := len(c.Problem.Oracles); c.W.N() != n {
		return c, dsbo.ConfigErrorf("mixing matrix must be of the problem's %d agents; it is of %d", n,
			c.W.N())
	}
	return c, c.checkMethod()
}

// checkMethod returns an error if the method cannot run on this problem and graph.
func (c *Config) checkMethod() error {
	if err := kernel.Env(); err != nil { // also of programs without a command line
		return err
	}
	name, traits := algo.NameOf(c.Method), algo.TraitsOf(c.Method)
	if err := algo.Clone(c.Method).Init(1, 1, c.K); err != nil { // with p and q it might allocate gigabytes
		return err
	}
	if c.StartX != nil && len(c.StartX) != c.p {
		return dsbo.ShapeErrorf("the start of x must have p = %d numbers; it has %d", c.p, len(c.StartX))
	}
	if !linalg.AllFinite(c.StartX) {
		return dsbo.ConfigErrorf("the start of x must be finite")
	}
	if c.Problem.Matrix != dsbo.Hessian && !traits.TakesMatrix() {
		return dsbo.ConfigErrorf(
			"%s needs the Hessian itself, and cannot do with the curvature %v; methods that can are %s",
			name, c.Problem.Matrix, strings.Join(algo.NamesWhere(algo.Traits.TakesMatrix), ", "))
	}
	if err := CheckMixing(c.Method, c.W); err != nil {
		return err
	}
	if err := checkGraph(c.Method, c.W); err != nil || traits.Dense == nil {
		return err
	}
	g, err := c.Problem.group()
	if err != nil {
		return err
	}
	if also, err := dsbo.Capabilities(c.Problem.Oracles[g.Local()[0]]); err != nil {
		return err
	} else if also.Hessian == nil || also.Jacobian == nil {
		return dsbo.Errorf(dsbo.ErrCapability,
			"%s needs whole Hessians and Jacobians, which this problem's oracles do not give", name)
	}
	if need := traits.Dense(c.p, c.q) * int64(len(g.Local())); need > c.DenseLimit {
		return dsbo.ConfigErrorf(
			"the matrices of %s take %.1f GiB for %s with p=%d and q=%d (one Hessian is %.1f MiB): the limit "+
				"is %.1f GiB",
			name, float64(need)/(1<<30), wording.Count(len(g.Local()), "agent"), c.p, c.q,
			float64(c.q)*float64(c.q)*8/(1<<20), float64(c.DenseLimit)/(1<<30))
	}
	return nil
}

// checkGraph returns an error if a method cannot run on the agents of a mixing matrix.
func checkGraph(m algo.Method, w *network.Matrix) error {
	switch traits := algo.TraitsOf(m); {
	case traits.OneAgent && w.N() != 1:
		return dsbo.Errorf(dsbo.ErrCapability, "%s runs on one agent, not on %d", algo.NameOf(m), w.N())
	case traits.ExactAverage && !w.IsAverage():
		return dsbo.ConfigErrorf("%s needs the exact average of all agents: the graph must be \"server\"",
			algo.NameOf(m))
	}
	return nil
}

// CheckMixing returns an error that matches dsbo.ErrConfig if the mixing of a matrix has weights
// that change where the method's theory does not allow it.
func CheckMixing(m algo.Method, w *network.Matrix) error {
	name, x, traits := algo.NameOf(m), w.Mixing(), algo.TraitsOf(m)
	listed, _ := x.(*network.Listed)
	switch {
	case !network.IsChanging(x):
		return nil
	case traits.ExactAverage:
		return dsbo.ConfigErrorf("%s needs the exact average in each exchange; mixing %v has none", name, x)
	case listed != nil && listed.Directed() && !traits.Directed:
		return dsbo.ConfigErrorf(
			"%s needs edges in both directions, with weights whose rows and columns sum to 1, and not mixing %v; "+
				"methods that do without are %s",
			name, x, strings.Join(algo.NamesWhere(func(t algo.Traits) bool { return t.Directed }), ", "))
	case traits.FixedGraph != "":
		return dsbo.ConfigErrorf(
			"%s needs the same weights in each iteration (%s); with mixing %v they change", name, traits.FixedGraph, x)
	}
	return nil
}

// startEpoch returns the configuration of the epoch in which this process begins: in a run over
// several processes the last one, whose members the team connects; in one process the checkpoint's,
// or the first. The membership log is checked before.
func (c Config) startEpoch() (Config, error) {
	if len(c.Membership) == 0 {
		return c, nil
	}
	if err := c.checkMembership(); err != nil {
		return c, err
	}
	if c.Problem.Team != nil {
		return c.inEpoch(len(c.Membership))
	}
	c, err := c.inEpoch(0)
	if err != nil || !c.Resume {
		return c, err
	}
	found, err := c.findCheckpoint(nil)
	if err != nil || found == nil {
		return c, err
	}
	if found.Epoch > len(c.Membership) {
		return c, dsbo.ConfigErrorf(
			"the checkpoint is of epoch %d; the membership log must have it, but has %d", found.Epoch,
			len(c.Membership))
	}
	return c.inEpoch(found.Epoch)
}

// checkMembership reports a log that is not one of the run, or that its method cannot go through.
func (c Config) checkMembership() error {
	matrices, err := EpochMatrices(c.Membership, c.W, c.K)
	if err != nil {
		return err
	}
	if have, want := len(c.Problem.Oracles), c.Membership.Roster(c.W.N()); have != want {
		return dsbo.ConfigErrorf("the problem must be of the roster's %d agents; it is of %d", want, have)
	}
	if _, ok := c.Method.(algo.Reformer); !ok {
		return dsbo.Errorf(dsbo.ErrCapability,
			"%s does not say how it goes on when members change (algo.Reformer is missing)", algo.NameOf(c.Method))
	}
	for _, w := range matrices {
		if err := checkGraph(c.Method, w); err != nil {
			return err
		}
	}
	return nil
}

// EpochMatrices returns the mixing matrix of each epoch of a log, for the roster's matrix w, after
// a check that the log is one of a run of K iterations: its agents are known, no epoch begins after
// K, and no graph of members falls apart. Errors match dsbo.ErrConfig.
func EpochMatrices(l membership.Log, w *network.Matrix, K int) ([]*network.Matrix, error) {
	if err := l.Validate(w.N(), 0); err != nil {
		return nil, err
	}
	var all []*network.Matrix
	for number := range len(l) + 1 {
		e, err := l.At(number, w.N())
		if err != nil {
			return nil, err
		}
		if e.Iteration > K {
			return nil, dsbo.ConfigErrorf(
				"membership log: epoch %d must begin at iteration K = %d at the latest; it begins at %d",
				number, K, e.Iteration)
		}
		m, err := w.Members(e)
		if err != nil {
			return nil, fmt.Errorf("membership log: %w", err)
		}
		all = append(all, m)
	}
	return all, nil
}
