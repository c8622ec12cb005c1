package train

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"iter"
	"math"
	"slices"
	"strings"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
	"dsbo/internal/wording"
	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/runs"
)

// Config is the configuration of a run. Zero means the default that the field states.
type Config struct {
	Problem Problem         // the losses
	W       *network.Matrix // mixing matrix, of as many agents as Problem has oracles

	// Membership are the changes of who takes part. Problem and W are then of the roster, W of it
	// as it is at the start and Problem with the agents that changes admit; Problem.Team connects
	// the members of the last epoch, at their positions, and its process begins there, from the
	// checkpoint From, which may be of the epoch before. Where all agents are in this process, the
	// run goes through all epochs. See [Config.Handover] for agents that come in.
	Membership membership.Log
	// Changing says that members may change in ways that are not known yet: checkpoints then hold
	// what agents take over from each other.
	Changing bool

	Method algo.Method // a template, of which each agent runs a clone; nil: &algo.MADSBO{}
	StartX []float64   // start of every agent's x, length p; nil: 0
	K      int         // outer iterations; 0: 100

	EvalEvery int // E: iterations from one record to the next, at 0 and at the end; 0: K/10
	// Patience is the number of records in a row after which the run ends before iteration K, if
	// the loss on held-out examples has not fallen in them and is above the least by more than a
	// standard error (see [Best]); 0: it does not.
	Patience int
	// CheckpointEvery is C, iterations between checkpoints; 0: K/10, and no more often than
	// evaluations. There is one at the end and when the run is interrupted too.
	CheckpointEvery int
	Dir             string // the run folder, which must exist; "": nothing is written
	Resume          bool   // go on from Dir's checkpoint, from the start if there is none yet
	// Held are checkpoints that are not removed when they are old; nil: none.
	Held *runs.HeldCheckpoints
	// From is the checkpoint from which a run over several processes goes on; nil: the start.
	From *Point
	// Settings are further settings on which the results depend (data, seed, batch, model), as a
	// value that JSON can hold: a checkpoint is resumed only with equal settings.
	Settings any

	// what records hold: "exact", Φ and its gradient too, or "off", what costs next to nothing;
	// "": "exact"
	Evaluate        string
	ExactEach       bool    // all records have exact values on float32 too, see [Config.ExactAt]
	Tol, AdjointTol float64 // tolerances of Exact, which has their defaults
	MaxNorm         float64 // a norm of x, y or z above it counts as divergence; 0: 1e9
	// Start is how the run began. Its Curvature is for the advice on divergence; 0: found then, if
	// the method has steps.
	Start Start
	// DenseLimit bounds the bytes of the matrices of methods that need some, all agents of this
	// process together; 0: 4 GiB.
	DenseLimit int64

	OnResume    func(done int)    // called before the first iteration of a resumed run, with those that are done
	OnIteration func(done int)    // called after each iteration, by one goroutine at a time
	OnRecord    func(runs.Record) // called after each evaluation
	// OnCheckpoint is called after each checkpoint with its iteration.
	OnCheckpoint func(iteration int)
	// OnDamage is called with an error for each damaged checkpoint that a resumed run leaves out,
	// to go on from an older one.
	OnDamage func(err error)
	OnEpoch  func(e membership.Epoch) // called when an epoch after the first begins

	p, q   int              // lengths of x and y
	roster *roster          // what Problem and W are a part of; nil: they are all
	epoch  membership.Epoch // whose members they are of
}

// The values of Config.Evaluate.
const (
	EvaluateExact = "exact"
	EvaluateOff   = "off"
)

// WithDefaults returns c with defaults in place of zeros.
func (c Config) WithDefaults() Config {
	if c.Method == nil {
		c.Method = new(algo.MADSBO)
	}
	c.K = cmp.Or(c.K, 100)
	c.EvalEvery = cmp.Or(c.EvalEvery, (c.K+9)/10)
	c.CheckpointEvery = cmp.Or(c.CheckpointEvery, max(c.EvalEvery, (c.K+9)/10))
	c.Evaluate = cmp.Or(c.Evaluate, EvaluateExact)
	c.DenseLimit = cmp.Or(c.DenseLimit, 4<<30)
	return c
}

// ExactAt reports whether the record after k iterations has exact values, of an evaluation that is
// "exact". All have them where averages travel in float64, and with ExactEach. Else on float32,
// where an exact solution sends as much as several iterations, those in the middle and at the end
// have them, and on narrower wires none. Where the lower problem is not convex, none have. c must
// have its defaults.
func (c Config) ExactAt(k int) bool {
	wire := c.Problem.Average.Wire
	switch {
	case c.Problem.Nonconvex:
		return false
	case wire > network.Float32:
		return false
	}
	return wire == network.Float64 || c.ExactEach || k == c.middleRecord() || k == c.K
}

// WithoutPhi says why records have no Φ; "" where the records of [Config.ExactAt] have it. c must
// have its defaults.
func (c Config) WithoutPhi() string {
	switch {
	case c.Problem.Evaluate == nil:
		return "the problem has no oracles for evaluation (Problem.Evaluate)"
	case c.Evaluate == EvaluateOff:
		return "evaluation is off (Config.Evaluate)"
	case c.Problem.Nonconvex:
		return "the model does not say that its lower problem is strongly convex (method Modulus of " +
			"models.StronglyConvex), so that there may be several solutions"
	case c.Problem.Average.Wire > network.Float32:
		return "the wire is narrower than float32"
	}
	return ""
}

// RecordedIterations returns the iterations after which there is a record, ascending, of a run that
// ends at K. c must have its defaults.
func (c Config) RecordedIterations() iter.Seq[int] {
	return func(yield func(int) bool) {
		for k := 0; k < c.K; k += c.EvalEvery {
			if !yield(k) {
				return
			}
		}
		yield(c.K)
	}
}

// middleRecord returns the iteration of the record in the middle.
func (c Config) middleRecord() int { return (c.K/c.EvalEvery + 1) / 2 * c.EvalEvery }

// LeastEigenvalueAt reports whether the record after k iterations has the least eigenvalue of the
// averaged Hessian: where the lower problem is not known to be convex, and evaluation is "exact",
// those at the start, in the middle and at the end, and all where products are damped by it. c must
// have its defaults.
func (c Config) LeastEigenvalueAt(k int) bool {
	if c.Problem.Matrix == dsbo.DampedHessian {
		return true
	}
	return c.Problem.Nonconvex && c.Problem.Evaluate != nil && c.Evaluate == EvaluateExact &&
		(k == 0 || k == c.middleRecord() || k == c.K)
}

// Validate reports the first setting that cannot work, and a checkpoint that cannot be
// resumed from.
func (c Config) Validate() error {
	c, err := c.resolve()
	if err == nil && c.Resume {
		_, err = c.loadCheckpoint(nil)
	}
	return err
}

// resolve returns c checked and with defaults.
func (c Config) resolve() (Config, error) {
	c = c.WithDefaults()
	if c.W == nil {
		return c, dsbo.Errorf(dsbo.ErrConfig, "mixing matrix of %d agents must be given", len(c.Problem.Oracles))
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
			return c, dsbo.Errorf(dsbo.ErrConfig, "%s must be at least 1, or 0 for the default; it is %d",
				count.name, count.value)
		}
	}
	if c.Patience < 0 {
		return c, dsbo.Errorf(dsbo.ErrConfig,
			"patience must be at least 1, or 0 for a run that ends at K alone; it is %d", c.Patience)
	}
	if c.Evaluate != EvaluateExact && c.Evaluate != EvaluateOff {
		return c, dsbo.Errorf(dsbo.ErrConfig, "evaluate must be %s or %s; it is %s", EvaluateExact,
			EvaluateOff, c.Evaluate)
	}
	if c.Resume && c.Dir == "" {
		return c, dsbo.Errorf(dsbo.ErrConfig, "a run that resumes must have a folder with its checkpoint")
	}
	c.Problem.W = c.W
	if n := len(c.Problem.Oracles); c.W.N() != n {
		return c, dsbo.Errorf(dsbo.ErrConfig, "mixing matrix must be of the problem's %d agents; it is of %d", n,
			c.W.N())
	}
	return c, c.checkMethod()
}

// checkMethod reports what the method cannot do with this problem and graph.
func (c *Config) checkMethod() error {
	if err := kernel.Env(); err != nil { // also of programs without a command line
		return err
	}
	name, traits := algo.NameOf(c.Method), algo.TraitsOf(c.Method)
	if err := algo.Clone(c.Method).Init(1, 1, c.K); err != nil { // p and q are another matter, and may take gigabytes
		return err
	}
	if c.StartX != nil && len(c.StartX) != c.p {
		return dsbo.Errorf(dsbo.ErrShape, "the start of x must have p = %d numbers; it has %d", c.p, len(c.StartX))
	}
	if !linalg.AllFinite(c.StartX) {
		return dsbo.Errorf(dsbo.ErrConfig, "the start of x must be finite")
	}
	if c.Problem.Matrix != dsbo.Hessian && !traits.TakesMatrix() {
		return dsbo.Errorf(dsbo.ErrConfig,
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
	if _, ok := c.Problem.Oracles[g.Local()[0]].(dsbo.DenseOracle); !ok {
		return dsbo.Errorf(dsbo.ErrCapability,
			"%s needs whole Hessians and Jacobians, which this problem's oracles do not give", name)
	}
	if need := traits.Dense(c.p, c.q) * int64(len(g.Local())); need > c.DenseLimit {
		return dsbo.Errorf(dsbo.ErrCapability,
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
		return dsbo.Errorf(dsbo.ErrConfig, "%s runs on one agent, not on %d", algo.NameOf(m), w.N())
	case traits.ExactAverage && !isExactAverage(w):
		return dsbo.Errorf(dsbo.ErrConfig, "%s needs the exact average of all agents: the graph must be \"server\"",
			algo.NameOf(m))
	}
	return nil
}

// CheckMixing returns an error that matches dsbo.ErrConfig if the mixing of a matrix is a robust
// one that the method cannot do with.
func CheckMixing(m algo.Method, w *network.Matrix) error {
	x, traits := w.Mixing(), algo.TraitsOf(m)
	if network.IsChanging(x) {
		return checkChanging(algo.NameOf(m), traits, x)
	}
	if x == (network.Plain{}) || traits.Robust {
		return nil
	}
	return dsbo.Errorf(dsbo.ErrConfig,
		"%s cannot do with mixing %v, which does not keep sums over the agents: exact averages, or trackers and "+
			"multipliers that "+
			"are carried over iterations, would be lost; methods that can are %s", algo.NameOf(m), x,
		strings.Join(algo.RobustNames(), ", "))
}

// checkChanging returns an error for a method whose theory does not allow weights that change.
func checkChanging(name string, traits algo.Traits, x network.Mixing) error {
	listed, _ := x.(*network.Listed)
	switch {
	case traits.ExactAverage:
		return dsbo.Errorf(dsbo.ErrConfig, "%s needs the exact average in each exchange; mixing %v has none", name, x)
	case listed != nil && listed.Directed() && !traits.Directed:
		return dsbo.Errorf(dsbo.ErrConfig,
			"%s needs edges in both directions, with weights whose rows and columns sum to 1, and not mixing %v; "+
				"methods that do without are %s",
			name, x, strings.Join(algo.NamesWhere(func(t algo.Traits) bool { return t.Directed }), ", "))
	case traits.FixedGraph != "":
		return dsbo.Errorf(dsbo.ErrConfig,
			"%s needs the same weights in each iteration (%s); with mixing %v they change", name, traits.FixedGraph, x)
	}
	return nil
}

// isExactAverage reports whether a mixing matrix is the exact average.
func isExactAverage(w *network.Matrix) bool {
	n := w.N()
	for i := range n {
		for j := range n {
			if math.Abs(w.At(i, j)-1/float64(n)) > 1e-12 {
				return false
			}
		}
	}
	return true
}

// identity returns what the numbers of a run up to an epoch depend on, as JSON: its checkpoints of
// that epoch belong to it.
func (c *Config) identity(epoch int) (json.RawMessage, error) {
	matrix, digests := c.W, c.Problem.Digests
	if c.roster != nil {
		matrix, digests = c.roster.w, c.roster.problem.Digests
	}
	if len(digests) > 0 {
		digests = digests[:c.Membership[:epoch].Roster(matrix.N())]
	}
	w := sha256.New()
	for i := range matrix.N() {
		for _, e := range matrix.Row(i) {
			// a hash takes all
			_ = binary.Write(w, binary.LittleEndian, []uint64{uint64(e.Agent), math.Float64bits(e.Weight)})
		}
	}
	identity := map[string]any{
		"arithmetic": linalg.ArithmeticDigest(), // of kernels and machines that round otherwise it is another one
		"method":     algo.NameOf(c.Method), "params": c.Method, "start": c.startDigest(), "iterations": c.K,
		"eval_every": c.EvalEvery, "patience": c.Patience,
		"agents": matrix.N(), "p": c.p, "q": c.q, "mixing_matrix": hex.EncodeToString(w.Sum(nil))[:16],
		"evaluate": c.Evaluate, "tol": c.Tol, "adjoint_tol": c.AdjointTol, "settings": c.Settings, "examples": digests,
		"average": c.Problem.Average,
	}
	if x := c.W.Mixing(); x != (network.Plain{}) {
		identity["mix"] = x.String()
	}
	if c.Problem.Matrix != dsbo.Hessian {
		identity["curvature"] = c.Problem.Matrix
	}
	if epoch > 0 {
		identity["membership"] = c.Membership[:epoch].Unsigned()
	}
	return json.Marshal(identity)
}

// startDigest returns what stands for the start of x: its number, if all entries are the same.
func (c *Config) startDigest() any {
	if len(c.StartX) == 0 {
		return 0
	}
	if !slices.ContainsFunc(c.StartX, func(v float64) bool { return v != c.StartX[0] }) {
		return c.StartX[0]
	}
	sum := sha256.New()
	_ = linalg.Write(sum, c.StartX)
	return hex.EncodeToString(sum.Sum(nil))[:16]
}

// start returns the point at which all agents start.
func (c *Config) start() (x, y []float64) {
	x, y = make([]float64, c.p), make([]float64, c.q)
	copy(x, c.StartX)
	copy(y, c.Problem.Start)
	return x, y
}
