package experiment

import (
	"encoding/json"
	"slices"

	"dsbo/algo"
	"dsbo/internal/cli"
	"dsbo/runs"
	"dsbo/train"
)

// makeConfig returns the config.json of a run.
func (r *runner) makeConfig(c train.Config) (runs.Config, error) {
	params, err := json.Marshal(r.method)
	if err != nil {
		return runs.Config{}, err
	}
	problem, err := json.Marshal(r.problem.settings)
	if err != nil {
		return runs.Config{}, err
	}
	s := r.Settings
	c = c.WithDefaults()
	config := runs.Config{
		Task: r.Task.Name(), Label: r.Label, Algorithm: s.Algorithm, Preset: s.Preset, Iterations: s.K, Params: params, X0: s.X0,
		Agents: s.Agents, Graph: s.Graph, W: s.W, Prob: s.Prob, Rho: r.graph.W.Rho(),
		Batch: s.Batch, DType: s.DType, Seed: s.Seed, Problem: problem,
		EvalEvery: c.EvalEvery, CheckpointEvery: c.CheckpointEvery, ExactTol: exactTol, AdjointTol: adjointTol,
		Curvature: slices.Max(r.lmax), Flags: r.flags, Build: runs.ThisBuild(),
	}
	r.layout.describe(&config)
	return config, nil
}

// floatsByFormula returns what the method's Cost says that an agent sends in an iteration, to all neighbours together.
func (r *runner) floatsByFormula() float64 {
	m := algo.Clone(r.method)
	p, q, err := r.problem.Dims()
	if err != nil || m.Init(p, q, r.Settings.K) != nil || r.result.Iterations == 0 {
		return 0
	}
	vectors, neighbours := 0, 0
	for k := range r.result.Iterations {
		vectors += m.Cost(k).Floats
	}
	n := r.graph.W.N()
	for i := range n {
		neighbours += r.graph.W.Sends(i)
	}
	return float64(vectors*neighbours) / float64(r.result.Iterations*n)
}

// summarize says how the run ended.
func (r *runner) summarize(state runs.State, err error) runs.Summary {
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
	nameModels(&s)
	s.Seconds, s.MsPerIteration, s.PeakRSSMiB = r.result.Seconds, r.result.MsPerIteration, train.PeakRSS()
	var u runs.Usage
	for _, a := range r.result.Usage {
		u.Add(a)
		s.PerAgent = append(s.PerAgent, a)
	}
	s.OracleCalls, s.BytesSent, s.Times = u.Calls, u.Sent.Bytes, u.Times
	if n := len(r.result.Usage) * s.Iterations; n > 0 {
		s.FloatsSent = float64(u.Sent.Floats) / float64(n)
	}
	return s
}

// nameModels copies what the first and the last model say to the fields that have their own names.
func nameModels(s *runs.Summary) {
	for _, n := range []*runs.Number{
		&s.PhiLambda0, &s.TestLossLambda0, &s.TestAccuracyLambda0, &s.TestLossTuned, &s.TestAccuracyTuned,
		&s.RefitTestLossLambda0, &s.RefitTestAccuracyLambda0, &s.RefitTestLoss, &s.RefitTestAccuracy,
	} {
		*n = runs.Unknown()
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
