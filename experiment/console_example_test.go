package experiment_test

import (
	"os"

	"dsbo/experiment"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// What a terminal shows of a run that has finished.
func ExampleWriteResult() {
	unknown := runs.Unknown()
	s := &runs.Summary{
		Algorithm: "newtoncg", Iterations: 20, MsPerIteration: 12, PeakRSSMiB: unknown,
		Verdict: runs.Verdict{Outcome: runs.Better, Sentence: "Tuning 4 penalties cut the test loss by 3.1 %."},
		Models: []runs.Model{
			{Name: "λ = 0", Converged: true, Phi: .5, ValLoss: .5, HoldoutLoss: unknown, TestLoss: .52,
				TestAccuracy: .75},
			{Name: "λ tuned", Converged: true, Kept: true, Phi: .48, ValLoss: .48, HoldoutLoss: unknown, TestLoss: .504,
				TestAccuracy: .78},
		},
	}
	testkit.OK(experiment.WriteResult(os.Stdout, s, "three sites with 30 rows each", "results/first", false, true))
	// Output:
	// Tuning 4 penalties cut the test loss by 3.1 %.
	//
	// three sites with 30 rows each
	//
	// model         Φ  val loss  test loss  accuracy
	// ----------------------------------------------
	// λ = 0    0.5000    0.5000     0.5200    0.7500
	// λ tuned  0.4800    0.4800     0.5040    0.7800
	//
	// kept                λ tuned (lambda.npy, omega.npy)
	// iterations          20 of newtoncg, 12 ms each
	// sent by all agents  0.0 MB: method 0.0, evaluation 0.0, models 0.0
	// peak memory         -
	// run folder          results/first
}
