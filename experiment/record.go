package experiment

import (
	"encoding/json"

	"dsbo/algo"
	"dsbo/experiment/candidates"
	"dsbo/internal/cli"
	"dsbo/internal/wording"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train"
)

// completeConfig adds to config.json the method's parameters, the problem, defaults, ρ and
// the curvature.
func (s *Settings) completeConfig(c train.Config, p *problem) (err error) {
	config := &s.Config
	if config.Params, err = json.Marshal(c.Method); err != nil {
		return err
	}
	if config.Problem, err = json.Marshal(p.settings); err != nil {
		return err
	}
	c = c.WithDefaults()
	config.EvalEvery, config.CheckpointEvery, config.Evaluate = c.EvalEvery, c.CheckpointEvery, c.Evaluate
	config.ExactTol, config.AdjointTol = c.Tol, c.AdjointTol
	if p.meaning != runs.Penalties {
		config.Meaning = p.meaning
	}
	config.Rho, config.Curvature = c.W.Rho(), c.Start.Curvature
	return nil
}

// floatsByFormula returns the numbers that an agent sends in an iteration, on average over agents
// and iterations, by the method's Cost: it sends a vector to each neighbour in the graph, and the
// terms of averages along the edges of the graph's tree. It is 0, unknown, if members have changed.
func (e *ending) floatsByFormula() float64 {
	of, w := e.result, e.config.W
	m, ok := of.Method.(algo.Method)
	if !ok || of.Iterations == 0 || of.Epoch.Number > 0 {
		return 0
	}
	vectors, averages := 0, 0
	for k := range of.Iterations {
		c := m.Cost(k)
		vectors, averages = vectors+c.Floats, averages+c.AverageFloats
	}
	n, sent := w.N(), 0
	for i := range n {
		sent += vectors*w.Sends(i) + averages*w.Tree().Sends(i)
	}
	return float64(sent) / float64(of.Iterations*n)
}

// summarize returns the summary of a run that ended in a state, perhaps with err: the results so
// far, the last record, and the costs. Calls and bytes include the search for a start, and bytes
// all phases; FloatsSent is of the method alone, for an agent and an iteration.
func (e *ending) summarize(state runs.State, err error) runs.Summary {
	s, r, of := e.summary, e.run, e.result
	s.State, s.Warnings, s.PerAgent = state, append([]string{}, e.warnings...), of.Usage
	s.Members = of.Epoch.Members
	if r.job.Task.Card != nil {
		s.Card = r.job.Task.Card()
	}
	if e.problem.Score == nil {
		s.Unknown = append(s.Unknown, "losses and accuracies: the model does not score examples (Score)")
	}
	if e.problem.Nonconvex {
		s.Unknown = append(s.Unknown, "Φ, but at the solutions reached: the model does not say that its lower "+
			"problem is strongly convex (Modulus)")
	}
	for k, note := range s.Verdict.Notes {
		s.Verdict.Notes[k] = wording.Minus(note)
	}
	if err != nil {
		s.Error = cli.OneLine(err)
	}
	s.Privacy = r.settings.Privacy
	s.Algorithm, s.Preset, s.Iterations = r.settings.Algorithm, r.settings.Preset, of.Iterations
	s.PhiStart = of.Start.Phi
	last := of.Last()
	s.PhiEnd, s.GradNorm = last.Phi, last.GradNorm
	s.TrainLoss, s.ValLoss, s.TestLoss, s.TestAccuracy = last.TrainLoss, last.ValLoss, last.TestLoss, last.TestAccuracy
	s.ConsensusX, s.ConsensusY, s.ConsensusZ = last.ConsensusX, last.ConsensusY, last.ConsensusZ
	s.HypergradientError = last.HypergradientError
	nameModels(&s)
	s.Seconds, s.MsPerIteration, s.PeakRSSMiB = of.Seconds, of.MsPerIteration, train.PeakRSS()
	if w, ok := e.problem.Team.(network.Waiter); ok {
		s.Waited = w.Waited()
	}
	u := runs.Total(of.Usage)
	s.Traffic = runs.PhaseTraffic{Setup: e.problem.setup.Sent, Method: u.Traffic, Evaluation: of.Evaluation,
		Models: *e.problem.Sent}
	s.Traffic.Evaluation.Add(e.config.Start.Sent)
	s.BytesSent, s.Times = s.Traffic.Total().Bytes, u.Times
	u.Add(e.problem.searched)
	s.OracleCalls = u.Calls
	if n := len(of.Usage) * s.Iterations; n > 0 {
		s.FloatsSent = float64(u.Traffic.Floats) / float64(n)
	}
	return s
}

// nameModels copies the values of the first model, if it is the model of λ = 0, and of the last,
// tuned, to the summary's fields for them. They are unknown of models that are not there.
func nameModels(s *runs.Summary) {
	zero := candidates.NewModel("", 0, nil).Model // whose values are unknown
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
