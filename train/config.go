package train

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"

	"dsbo"
	"dsbo/algo"
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

	// Membership is the changes of members. Problem and W are then of the roster, W of it as it is
	// at the start and Problem with the agents that changes admit; Problem.Team connects the
	// members of the last epoch, at their positions, and its process begins there, from the
	// checkpoint From, which may be of the epoch before. Where all agents are in this process, the
	// run goes through all epochs. See [Config.Handover] for joining agents.
	Membership membership.Log
	// Changing is true if members may change in ways not known yet: checkpoints then include the
	// state that agents take over from each other.
	Changing bool

	Method algo.Method // a template, which each agent clones; nil: &algo.MADSBO{}
	StartX []float64   // start of every agent's x, length p; nil: 0
	K      int         // outer iterations; 0: 100

	// Following are the steps of Method that follow the curvature as x moves
	// ([algo.FollowCurvature]), from their numbers at Start.Curvature. It is found anew as members
	// change.
	Following  []string
	CurvatureX []float64 // where Start.Curvature is found

	EvalEvery int // E: iterations from one record to the next, at 0 and at the end; 0: K/10
	// Patience is the number of records in a row, at least [LeastRose], after which the run ends
	// before iteration K if the held-out loss exceeds the least by more than chance in each
	// ([Best.Rose]); 0: the run never ends early.
	Patience int
	Newest   bool // the newest iterate is the best one, whatever its values: the x̄_K of a method as published
	// CheckpointEvery is C, iterations between checkpoints; 0: K/10, and no more often than
	// evaluations. There is one at the end and when the run is interrupted too.
	CheckpointEvery int
	Dir             string // the run folder, which must exist; "": nothing is written
	Resume          bool   // resume from Dir's checkpoint; without one, from the start
	// From is the checkpoint from which a run over several processes resumes; nil: the start.
	From *Point
	// Settings are further settings on which the results depend (data, seed, batch, model), as a
	// JSON value: a checkpoint is resumed only with equal settings.
	Settings any
	// Defaults are values of settings by their path, such as flags.rate of Settings: a checkpoint
	// that lacks one, as an earlier program has written it, is resumed with that value.
	Defaults map[string]string

	// values in records: "exact", Φ and its gradient too, or "off", only those that cost next to
	// nothing; "": "exact"
	Evaluate        string
	ExactEach       bool    // all records have exact values on float32 too, see [Config.ExactAt]
	HeldOut         bool    // held-out examples choose the best iterate: Φ is drawn alone
	Tol, AdjointTol float64 // tolerances of exact.Solver, which has their defaults
	MaxNorm         float64 // a norm of x, y or z above it counts as divergence; 0: 1e9
	// Start is how the run began. Its Curvature is for the advice on divergence; 0: found then, if
	// the method has steps.
	Start Start
	// DenseLimit bounds the bytes of the matrices of methods that need some, all agents of this
	// process together; 0: 4 GiB.
	DenseLimit int64

	OnResume func(done int) // called before the first iteration of a resumed run, with the
	// iterations done
	OnIteration func(done int)    // called after each iteration, by one goroutine at a time
	OnRecord    func(runs.Record) // called after each evaluation
	// OnCheckpoint is called after each checkpoint with its iteration.
	OnCheckpoint func(iteration int)
	// OnDamage is called with an error for each damaged checkpoint that a resumed run skips for an
	// older one.
	OnDamage func(err error)
	OnEpoch  func(e membership.Epoch) // called when an epoch after the first begins

	p, q   int              // lengths of x and y
	roster *roster          // the roster that Problem and W are a part of; nil: they are all of it
	epoch  membership.Epoch // whose members they are of
}

// The values of Config.Evaluate.
const (
	EvaluateExact = "exact"
	EvaluateOff   = "off"
)

// A roster is the run that a configuration is the part of one epoch of.
type roster struct {
	problem Problem
	w       *network.Matrix
}

// A Point is a checkpoint of the agents of one process of a run over several.
type Point struct {
	Iteration int    // iterations done
	Epoch     int    // whose members it is of
	Session   uint64 // the session that began that epoch; 0: the first epoch, or a run without
	// sessions
	Digest string // of the scales of averages, which all agents have alike; "": it has none
	Start  Start  // how the run began
}

// A Start is how a run began, which agents that come back or join did not see.
type Start struct {
	Curvature float64      `json:"curvature,omitzero"` // the largest L_max of an agent, where steps follow it
	Sent      dsbo.Traffic `json:"sent"`               // all agents' traffic of finding it
	Spent     runs.Usage   `json:"spent,omitzero"`     // all agents' cost of finding the start of
	// x, which records include
	// Of the record of iteration 0; unknown without one.
	Phi     runs.Number `json:"phi"`
	ValLoss runs.Number `json:"val_loss"`
}

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

// ExactAt reports whether the record after k iterations has exact values, if evaluation is "exact".
// All records do if averages travel in float64, or with ExactEach. On float32 an exact solution
// sends as much as several iterations, so only the first record after the start has them, and the
// records after each quarter of the run (each half with HeldOut). None do on narrower wires, or if
// the lower problem is not convex. c must have its defaults.
func (c Config) ExactAt(k int) bool {
	wire, parts := c.Problem.Average.Wire, 4
	if c.Problem.Nonconvex || wire > network.Float32 {
		return false
	}
	if c.drawsAlone() {
		parts = 2
	}
	part := max(1, (c.K/c.EvalEvery+parts-1)/parts) * c.EvalEvery
	return wire == network.Float64 || c.ExactEach || k == c.EvalEvery || k > 0 && k%part == 0 || k == c.K
}

// drawsAlone reports whether exact values only draw the curve of Φ, so that they need less than the
// solver's own tolerances: held-out examples choose the iterate, and nobody asks for each value.
func (c Config) drawsAlone() bool {
	return c.HeldOut && !c.ExactEach && c.Problem.Average.Wire == network.Float32
}

// RecordedIterations returns the iterations after which there is a record, ascending, of a run that
// ends at K. c must have its defaults.
func (c Config) RecordedIterations() (all []int) {
	for k := 0; k < c.K; k += c.EvalEvery {
		all = append(all, k)
	}
	return append(all, c.K)
}

// LeastEigenvalueAt reports whether the record after k iterations has the least eigenvalue of the
// averaged Hessian: where the lower problem is not known to be convex, and evaluation is "exact",
// those at the start, in the middle and at the end, and all where products are damped by it. c must
// have its defaults.
func (c Config) LeastEigenvalueAt(k int) bool {
	if c.Problem.Matrix == dsbo.DampedHessian {
		return true
	}
	middle := (c.K/c.EvalEvery + 1) / 2 * c.EvalEvery
	return c.Problem.Nonconvex && c.Problem.Evaluate != nil && c.Evaluate == EvaluateExact &&
		(k == 0 || k == middle || k == c.K)
}

// identity returns, as JSON, everything on which the results of a run up to an epoch depend. A
// checkpoint of that epoch can be resumed if its identity is equal. A key that was added later is
// left out at its old value, so that older checkpoints remain valid.
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
			_ = binary.Write(w, binary.LittleEndian, []uint64{uint64(e.Agent), math.Float64bits(e.Weight)})
		}
	}
	identity := map[string]any{
		"arithmetic": linalg.ArithmeticDigest(), // differs between kernels and machines that round
		// differently
		"method": algo.NameOf(c.Method), "params": c.Method, "start": c.startDigest(), "iterations": c.K,
		"eval_every": c.EvalEvery, "patience": c.Patience,
		"agents": matrix.N(), "p": c.p, "q": c.q, "mixing_matrix": hex.EncodeToString(w.Sum(nil))[:16],
		"evaluate": c.Evaluate, "tol": c.Tol, "adjoint_tol": c.AdjointTol, "settings": c.Settings, "examples": digests,
		"average": c.Problem.Average,
	}
	if wording.NumbersVersion > 1 { // checkpoints of version 1 have no number
		identity["numbers"] = wording.NumbersVersion
	}
	if x := c.W.Mixing(); x != (network.Plain{}) {
		identity["mix"] = x.String()
	}
	if c.Problem.Matrix != dsbo.Hessian {
		identity["curvature"] = c.Problem.Matrix
	}
	if epoch > 0 {
		identity["membership"] = c.Membership[:epoch]
	}
	return json.Marshal(identity)
}

// startDigest returns a digest of the start of x: its number, if all entries are the same.
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
