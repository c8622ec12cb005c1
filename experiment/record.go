package experiment

import (
	"encoding/json"

	"dsbo/algo"
	"dsbo/experiment/candidates"
	"dsbo/internal/cli"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train"
)

// completeConfig adds to config.json the method's parameters, the problem, defaults, ρ and
// the curvature.
func (r *account) completeConfig(c train.Config) (err error) {
	config := &r.Settings.Config
	if config.Params, err = json.Marshal(r.method); err != nil {
		return err
	}
	if config.Problem, err = json.Marshal(r.problem.settings); err != nil {
		return err
	}
	c = c.WithDefaults()
	config.EvalEvery, config.CheckpointEvery, config.Evaluate = c.EvalEvery, c.CheckpointEvery, c.Evaluate
	config.ExactTol, config.AdjointTol = c.Tol, c.AdjointTol
	if r.problem.meaning != runs.Penalties {
		config.Meaning = r.problem.meaning
	}
	config.Rho, config.Curvature = r.graph.W.Rho(), r.lmax
	r.layout.describe(config)
	return nil
}

// floatsByFormula returns, where members stay the same, how many numbers the method's Cost says
// that an agent sends in an iteration on average, to all neighbours together.
func (r *account) floatsByFormula() float64 {
	m, ok := r.result.Method.(algo.Method)
	if !ok || r.result.Iterations == 0 || r.result.Epoch.Number > 0 {
		return 0
	}
	averaging, err := network.NewAverages(nil, r.graph.W, r.problem.Average)
	if err != nil {
		return 0
	}
	vectors, averages := 0, 0
	for k := range r.result.Iterations {
		c := m.Cost(k)
		vectors, averages = vectors+c.Floats, averages+c.AverageFloats
	}
	n, sent := r.graph.W.N(), int64(0)
	for i := range n {
		sent += int64(vectors*r.graph.W.Sends(i)) + averaging.Cost(i, averages, network.Float64, network.OnePass).Floats
	}
	return float64(sent) / float64(r.result.Iterations*n)
}

// summarize returns the summary of a run that ended in a state, with err.
func (r *account) summarize(state runs.State, err error) runs.Summary {
	s := r.summary
	s.State, s.Warnings, s.PerAgent = state, append([]string{}, r.warnings...), r.result.Usage
	s.Members = r.result.Epoch.Members
	if r.problem.Score == nil {
		s.Unknown = append(s.Unknown, "losses and accuracies: the model does not score examples (Score)")
	}
	if r.problem.Nonconvex {
		s.Unknown = append(s.Unknown, "Φ, but at the solutions reached: the model does not say that its lower "+
			"problem is strongly convex (Modulus)")
	}
	if err != nil {
		s.Error = cli.OneLine(err)
	}
	s.Privacy = r.Privacy
	s.Algorithm, s.Preset, s.Iterations = r.Algorithm, r.Preset, r.result.Iterations
	s.PhiStart = r.result.Start.Phi
	last := r.result.Last()
	s.PhiEnd, s.GradNorm = last.Phi, last.GradNorm
	s.TrainLoss, s.ValLoss, s.TestLoss, s.TestAccuracy = last.TrainLoss, last.ValLoss, last.TestLoss, last.TestAccuracy
	s.ConsensusX, s.ConsensusY, s.ConsensusZ = last.ConsensusX, last.ConsensusY, last.ConsensusZ
	s.HypergradientError = last.HypergradientError
	nameModels(&s)
	s.Seconds, s.MsPerIteration, s.PeakRSSMiB = r.result.Seconds, r.result.MsPerIteration, train.PeakRSS()
	if w, ok := r.team.(network.Waiter); ok {
		s.Waited = w.Waited()
	}
	u := runs.Total(r.result.Usage)
	s.Traffic.Method, s.Traffic.Evaluation = u.Traffic, r.result.Evaluation
	if found := r.loaded.setup; found != nil { // else members have changed since, and it is to be loaded again
		s.Traffic.Setup = found.Sent
	}
	s.Traffic.Evaluation.Add(r.stepsSent)
	s.BytesSent, s.Times = s.Traffic.Total().Bytes, u.Times
	u.Add(r.loaded.searched)
	s.OracleCalls = u.Calls
	if n := len(r.result.Usage) * s.Iterations; n > 0 {
		s.FloatsSent = float64(u.Traffic.Floats) / float64(n)
	}
	return s
}

// nameModels copies the values of the first model, if it is the model of λ = 0, and of the last,
// tuned, to the summary's fields for them.
func nameModels(s *runs.Summary) {
	zero := candidates.NewModel("", 0, nil).Model
	tuned := zero
	if len(s.Models) > 0 {
		tuned = s.Models[len(s.Models)-1]
		if s.Models[0].Lambda == 0 {
			zero = s.Models[0]
		}
	}
	s.PhiLambda0, s.TestLossLambda0, s.TestAccuracyLambda0 = zero.Phi, zero.TestLoss, zero.TestAccuracy
	s.TestLossTuned, s.TestAccuracyTuned = tuned.TestLoss, tuned.TestAccuracy
}
