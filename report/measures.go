package report

import "math"

// A measure is a number of a whole run, as the tables have it.
type measure struct {
	title string
	hint  string // what it is, in a few words
	of    func(*Run) float64
	show  func(float64) string
}

// end is a number at a run's end.
func end(key string) func(*Run) float64 { return func(r *Run) float64 { return r.value(key) } }

// spentOf is what all agents together had spent of something at a run's end.
func spentOf(key string) func(*Run) float64 { return func(r *Run) float64 { return r.whole(key) } }

// start is a number at a run's first evaluation.
func start(key string) func(*Run) float64 { return func(r *Run) float64 { return r.at(key, 0) } }

// outcomes are what methods are compared by, the first of those that were measured above all.
func outcomes() []measure {
	return []measure{
		{"Φ at the end", "exact upper objective at the average hyperparameters x̄", end("phi"), number},
		{"Φ at the start", "the same before the first iteration", start("phi"), number},
		{"Φ at λ = 0", "exact upper objective where all hyperparameters are 0", end("phi_lambda0"), number},
		{"‖∇Φ‖", "exact hypergradient at x̄", end("grad_norm"), number},
		{"Test accuracy", "of the average model ȳ", end("test_accuracy"), percent},
		{"Test accuracy, refitted", "of the model that the agents find together at x̄", end("refit_test_accuracy"), percent},
		{"Test accuracy, exact", "of the lower problem's exact solution at x̄", end("test_accuracy_tuned"), percent},
		{"Test loss, refitted", "of the model that the agents find together at x̄", end("refit_test_loss"), number},
		{"Test loss", "of the average model ȳ", end("test_loss"), number},
		{"Validation loss", "of the average model ȳ", end("val_loss"), number},
		{"Training loss", "of the average model ȳ", end("train_loss"), number},
		{"Consensus of x", "mean squared distance of the agents' x from their average", end("consensus_x"), number},
		{"Hypergradient error", "of the agents' estimate, relative", end("hypergradient_error"), number},
		{"Iterations", "outer iterations at the last evaluation", end(keyIteration), count},
		{"Time", "of the iterations, evaluation excluded", end("seconds"), in(timeUnits())},
		{"Traffic", "sent by all agents together", spentOf("bytes"), in(byteUnits())},
	}
}

// costs are what a run took.
func costs() []measure {
	return []measure{
		{"Gradients of f", "calls of the oracles, all agents together", spentOf("upper_grad"), count},
		{"Gradients of g", "calls of the oracles, all agents together", spentOf("lower_grad"), count},
		{"HVPs", "Hessian-vector products, all agents together", spentOf("hvp"), count},
		{"JVPs", "Jacobian-vector products, all agents together", spentOf("jvp"), count},
		{"Hessians", "whole matrices, all agents together", positive(spentOf("hessian")), count},
		{"Jacobians", "whole matrices, all agents together", positive(spentOf("jacobian")), count},
		{"Messages", "one to each neighbour in an exchange, all agents together", spentOf("messages"), count},
		{"Numbers sent", "by all agents together", spentOf("floats"), count},
		{"Per agent and iteration", "numbers that one agent sends in one iteration", end("floats_sent_per_agent_per_iteration"), count},
		{"Traffic", "sent by all agents together", spentOf("bytes"), in(byteUnits())},
		{"Time", "of the iterations, evaluation excluded", end("seconds"), in(timeUnits())},
		{"ms per iteration", "median, evaluation excluded", end("ms_per_iteration"), number},
		{"In oracles", "time, all agents added", spentOf("oracle_seconds"), in(timeUnits())},
		{"In exchanges", "time, all agents added, waiting for neighbours included", spentOf("mix_seconds"), in(timeUnits())},
		{"In algebra", "time, all agents added: the rest", spentOf("algebra_seconds"), in(timeUnits())},
		{"Evaluation", "time of all evaluations together", total("evaluation_seconds"), in(timeUnits())},
		{"Peak memory", "of the process", mebibytes(end("peak_rss_mib")), in([]unit{{0, 1 << 20, "MiB"}, {1 << 30, 1 << 30, "GiB"}})},
	}
}

// positive drops zeros: a column of a kind of call that nobody makes.
func positive(of func(*Run) float64) func(*Run) float64 {
	return func(r *Run) float64 {
		if v := of(r); v > 0 {
			return v
		}
		return math.NaN()
	}
}

// mebibytes turns them into bytes.
func mebibytes(of func(*Run) float64) func(*Run) float64 {
	return func(r *Run) float64 { return of(r) * (1 << 20) }
}

// total adds a number up over the evaluations.
func total(key string) func(*Run) float64 {
	return func(r *Run) float64 {
		sum := math.NaN()
		for _, v := range known(r.Metrics.Column(key)) {
			if math.IsNaN(sum) {
				sum = 0
			}
			sum += v
		}
		return sum
	}
}
