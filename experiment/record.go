package experiment

import (
	"math"
	"slices"

	"dsbo/algo"
	"dsbo/internal/cli"
	"dsbo/train"
)

// Config is config.json: what was asked for, with everything that was left to defaults.
type Config struct {
	Task            string      `json:"task"`
	Label           string      `json:"label,omitempty"`
	Algorithm       string      `json:"algorithm"`
	Preset          string      `json:"preset"`
	Iterations      int         `json:"iterations"`
	Params          algo.Params `json:"params"`
	Agents          int         `json:"agents"`
	Graph           string      `json:"graph"`
	W               float64     `json:"w"`
	Prob            float64     `json:"prob,omitzero"`
	Rho             float64     `json:"rho"`
	Batch           int         `json:"batch"`
	DType           string      `json:"dtype"`
	Seed            uint64      `json:"seed"`
	Problem         any         `json:"problem"`
	EvalEvery       int         `json:"eval_every"`
	CheckpointEvery int         `json:"checkpoint_every"`
	ExactTol        float64     `json:"exact_tolerance"`
	AdjointTol      float64     `json:"adjoint_tolerance"`
	Curvature       float64     `json:"curvature"` // largest L_max of an agent at the start
	// Transport and Processes say where the agents are; a run is resumed in the same way.
	Transport string `json:"transport"`
	Processes int    `json:"processes"`
	// Identity is that of [OneAgent].
	Identity string `json:"identity,omitempty"`
	// Flags are those given, which a resumed run takes over.
	Flags []string    `json:"flags"`
	Build train.Build `json:"build"`
}

func (r *runner) makeConfig(c train.Config) Config {
	s := r.Settings
	c = c.WithDefaults()
	config := Config{
		Task: r.Task, Label: r.Label, Algorithm: s.Algorithm, Preset: s.Preset, Iterations: s.K, Params: r.params,
		Agents: s.Agents, Graph: s.Graph, W: s.W, Prob: s.Prob, Rho: r.graph.W.Rho(),
		Batch: s.Batch, DType: s.DType, Seed: s.Seed, Problem: r.problem.Settings,
		EvalEvery: c.EvalEvery, CheckpointEvery: c.CheckpointEvery, ExactTol: exactTol, AdjointTol: adjointTol,
		Curvature: slices.Max(r.lmax), Flags: r.flags, Build: train.ThisBuild(),
	}
	r.layout.describe(&config)
	return config
}

// Summary is summary.json: how a run ended.
type Summary struct {
	State      string   `json:"state"` // finished, interrupted, diverged or failed
	Error      string   `json:"error,omitempty"`
	Warnings   []string `json:"warnings"`
	Algorithm  string   `json:"algorithm"`
	Preset     string   `json:"preset"`
	Iterations int      `json:"iterations"`

	// Exact Φ at λ = 0, at the start and at x̄.
	PhiLambda0 train.Number `json:"phi_lambda0"`
	PhiStart   train.Number `json:"phi_start"`
	PhiEnd     train.Number `json:"phi_end"`
	GradNorm   train.Number `json:"grad_norm"`
	// Of ȳ as the run left it.
	TrainLoss    train.Number `json:"train_loss"`
	ValLoss      train.Number `json:"val_loss"`
	TestLoss     train.Number `json:"test_loss"`
	TestAccuracy train.Number `json:"test_accuracy"`
	// Of the exact solutions y*(0) and y*(x̄).
	TestLossLambda0     train.Number `json:"test_loss_lambda0"`
	TestAccuracyLambda0 train.Number `json:"test_accuracy_lambda0"`
	TestLossTuned       train.Number `json:"test_loss_tuned"`
	TestAccuracyTuned   train.Number `json:"test_accuracy_tuned"`
	// Of the models that the agents found together at 0 and at x̄; the latter is omega.npy.
	RefitTestLossLambda0     train.Number `json:"refit_test_loss_lambda0"`
	RefitTestAccuracyLambda0 train.Number `json:"refit_test_accuracy_lambda0"`
	RefitTestLoss            train.Number `json:"refit_test_loss"`
	RefitTestAccuracy        train.Number `json:"refit_test_accuracy"`

	Models    []Model    `json:"models"`
	Constants []Constant `json:"constants"` // exact Φ at constant λ, in the order in which they were tried

	ConsensusX         train.Number `json:"consensus_x"`
	ConsensusY         train.Number `json:"consensus_y"`
	ConsensusZ         train.Number `json:"consensus_z"`
	HypergradientError train.Number `json:"hypergradient_error"`

	Seconds        float64      `json:"seconds"`          // of iterations
	MsPerIteration train.Number `json:"ms_per_iteration"` // median, without evaluation
	// FloatsSent is per agent and iteration, to all neighbours together.
	FloatsSent    float64    `json:"floats_sent_per_agent_per_iteration"`
	FloatsFormula float64    `json:"floats_by_formula_per_agent_per_iteration"` // the same by the method's formula
	BytesSent     int64      `json:"bytes_sent"`                                // by all agents
	OracleCalls   algo.Calls `json:"oracle_calls"`
	OracleSeconds float64    `json:"oracle_seconds"` // of all agents together, as are the next two
	MixSeconds    float64    `json:"mix_seconds"`
	// AlgebraSeconds is the time of steps that was neither the oracle's nor the exchange's.
	AlgebraSeconds float64      `json:"algebra_seconds"`
	PeakRSSMiB     train.Number `json:"peak_rss_mib"`
	PerAgent       []Spent      `json:"per_agent"`
	// Round is the exchange after the last one, of an agent that may be lost and come back.
	Round int `json:"round,omitzero"`
}

// Spent is what one agent spent in iterations.
type Spent struct {
	algo.Calls
	Messages       int64   `json:"messages"` // vectors, one to each neighbour in an exchange
	Floats         int64   `json:"floats"`
	Bytes          int64   `json:"bytes"`
	OracleSeconds  float64 `json:"oracle_seconds"`
	MixSeconds     float64 `json:"mix_seconds"` // exchanging, waiting for neighbours included
	AlgebraSeconds float64 `json:"algebra_seconds"`
}

func unknown() train.Number { return train.Number(math.NaN()) }

// summarize says how the run ended.
func (r *runner) summarize(state string, err error) Summary {
	s := r.summary
	s.State, s.Warnings, s.PerAgent = state, append([]string{}, r.warnings...), nil
	if err != nil {
		s.Error = cli.OneLine(err)
	}
	s.Algorithm, s.Preset, s.Iterations = r.Settings.Algorithm, r.Settings.Preset, r.result.Iterations
	if len(r.result.Records) > 0 {
		s.PhiStart = r.result.Records[0].Phi
	}
	last := r.result.Last()
	s.PhiEnd, s.GradNorm = last.Phi, last.GradNorm
	s.TrainLoss, s.ValLoss, s.TestLoss, s.TestAccuracy = last.TrainLoss, last.ValLoss, last.TestLoss, last.TestAccuracy
	s.ConsensusX, s.ConsensusY, s.ConsensusZ = last.ConsensusX, last.ConsensusY, last.ConsensusZ
	s.HypergradientError = last.HypergradientError
	s.models()
	s.Seconds, s.MsPerIteration, s.PeakRSSMiB = r.result.Seconds, r.result.MsPerIteration, train.PeakRSS()
	var u train.Usage
	for _, a := range r.result.Usage {
		u.Add(a)
		s.PerAgent = append(s.PerAgent, Spent{a.Calls, a.Sent.Messages, a.Sent.Floats, a.Sent.Bytes, a.OracleSeconds, a.MixSeconds, a.AlgebraSeconds()})
	}
	s.OracleCalls, s.BytesSent = u.Calls, u.Sent.Bytes
	s.OracleSeconds, s.MixSeconds, s.AlgebraSeconds = u.OracleSeconds, u.MixSeconds, u.AlgebraSeconds()
	if n := len(r.result.Usage) * s.Iterations; n > 0 {
		s.FloatsSent = float64(u.Sent.Floats) / float64(n)
	}
	return s
}

// models copies what the first and the last model say to the fields that have their own names.
func (s *Summary) models() {
	for _, n := range []*train.Number{
		&s.PhiLambda0, &s.TestLossLambda0, &s.TestAccuracyLambda0, &s.TestLossTuned, &s.TestAccuracyTuned,
		&s.RefitTestLossLambda0, &s.RefitTestAccuracyLambda0, &s.RefitTestLoss, &s.RefitTestAccuracy,
	} {
		*n = unknown()
	}
	if len(s.Models) < 2 {
		return
	}
	zero, tuned := s.Models[0], s.Models[len(s.Models)-1]
	s.PhiLambda0, s.TestLossLambda0, s.TestAccuracyLambda0 = zero.Phi, zero.ExactTestLoss, zero.ExactTestAccuracy
	s.RefitTestLossLambda0, s.RefitTestAccuracyLambda0 = zero.TestLoss, zero.TestAccuracy
	s.TestLossTuned, s.TestAccuracyTuned = tuned.ExactTestLoss, tuned.ExactTestAccuracy
	s.RefitTestLoss, s.RefitTestAccuracy = tuned.TestLoss, tuned.TestAccuracy
}
