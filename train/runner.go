package train

import (
	"cmp"

	"dsbo"
	"dsbo/algo"
	"dsbo/network/membership"
	"dsbo/runs"
	"dsbo/train/exact"
)

// A Result is the results of a run at its end, or its interruption.
type Result struct {
	Records []runs.Record // all records from iteration 0 on, including those before a
	// resume
	X, Y           []float64        // x̄ and ȳ; of a run over several processes nil before its end, as is Usage
	Iterations     int              // iterations done
	Seconds        float64          // wall time in iterations, without evaluations
	MsPerIteration runs.Number      // median over the iterations of this process
	Usage          []runs.Usage     // usage of each agent, by its number in the roster
	Epoch          membership.Epoch // the last that has begun; the zero one without [Config.Membership]
	Evaluation     dsbo.Traffic     // all agents' traffic of evaluations
	Start          Start            // how the run began
	Best           Best             // the best of the iterates that records are of
	// Exact is the solver that found the exact values of the records, at x̄ of the last of them;
	// nil: there are none. It is good for further solves of all agents together, which
	// Problem.Sent counts.
	Exact *exact.Solver
	// Method is the method of this process's first agent: its Cost is the cost of the iterations
	// done.
	Method dsbo.Algorithm
}

// Last returns the newest record, the zero one if there is none.
func (r *Result) Last() runs.Record {
	if len(r.Records) == 0 {
		return runs.Record{}
	}
	return r.Records[len(r.Records)-1]
}

// A runner is the state of one call of Run. A boundary is a number of iterations after which all
// agents pause for an evaluation or a checkpoint: the stepper runs the agents from one boundary to
// the next, and the evaluator makes the records there.
type runner struct {
	Config
	*stepper
	eval    *evaluator    // makes records
	metrics *runs.Metrics // the file of records
	result  Result        // under way

	end           int           // the iteration after which the run ends: K, or earlier by Patience
	evaluated     int           // the iteration of the newest record; -1: none
	newEpoch      bool          // whether an epoch has begun since the newest checkpoint
	records       []runs.Record // of the run so far
	checkpoint    checkpoint    // the newest that was written, whose lists the next one has
	timesRecorded int           // number of iteration times used by records so far
}

// makeAgents makes the agents of c's epoch, with the methods that they begin with, by their numbers
// in the roster, and the evaluator.
func (r *runner) makeAgents(c Config, method func(number int) (dsbo.Algorithm, error)) (err error) {
	r.Config = c
	if r.stepper, err = newStepper(c.Problem, c.W, method); err != nil {
		return err
	}
	r.onIteration, r.maxNorm = c.OnIteration, cmp.Or(c.MaxNorm, 1e9)
	r.eval, err = newEvaluator(&c, r.stepper)
	return err
}

// newMethod returns an agent's method at the start.
func (c *Config) newMethod() (dsbo.Algorithm, error) {
	a := algo.Clone(c.Method)
	if err := a.Init(c.p, c.q, c.K); err != nil {
		return nil, err
	}
	copy(a.X(), c.StartX)
	if c.Problem.Start != nil {
		setStart(a, c.Problem.Start)
		copy(algo.TraitsOf(a).SecondY, c.Problem.Start)
	}
	algo.FollowCurvature(a, c.Following, c.Start.Curvature)
	if c.epoch.Number == 0 { // followMembers finds it for later epochs
		algo.Found(a, c.Start.Curvature, c.CurvatureX)
	}
	return a, nil
}

// isDue reports whether an evaluation or a checkpoint, which comes every few iterations and at the
// end, comes now.
func (r *runner) isDue(every int) bool { return r.done%every == 0 || r.done == r.end }
