package site

import (
	"time"

	"dsbo"
	"dsbo/algo"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train"
)

// A Run is what there is to know of a run that has not begun, whose data are loaded.
type Run struct {
	Line   string       // what problem, on what graph
	Config train.Config // of the run: its problem, its matrix, its method
	// Held finds the final models by training with x fixed; nil: they are solved for.
	Held    algo.Method
	Found   []Quantity    // sent as the agents loaded the data
	Privacy *runs.Privacy // with the answers that the run takes; nil: what is sent has no noise
	HeldOut bool          // whether agents have held-out examples
	Ending  Ending        // what the task exchanges at the end
	Best    bool          // it starts at the best constant, which the agents find
	Rivals  bool          // the model of the iterations is compared with others
	Rows    []Quantity    // what all agents see of each where models are compared
	Simpler int           // length of the y of a simpler model whose best constant is found; 0: none is
}

// An Ending is what a task exchanges at the end of a run, where there is no differential privacy.
type Ending struct {
	Sums  []Quantity // of losses and counts
	Model int        // length of the y of a lower problem of its own that it has solved; 0: there is none
	X     int        // length of the x of that problem; 0: of the run's x
	// Solves is how often it solves that problem, for some rows and then for more.
	Solves int
	// Parts is the length of the y of all folds together, where the run chooses among structures of
	// penalties in place of comparing λ with constants; 0: it does not.
	Parts int
	// Before is set where it finds the structures before the iterations, and compares as others do.
	Before bool
	// Levels is set where structures may be found once more, with levels of sites.
	Levels bool
	// Networks are lengths of the y of networks with which the best structure is compared.
	Networks []int
	// Scales is the number of features, where a lasso is found beside one penalty; else 0.
	Scales int
}

// A Plan is what a run will send, before it is run.
type Plan struct {
	Line       string             // what problem, on what graph
	Agents     int                // their number
	Height     int                // of the tree of sums
	Quantities []Quantity         // in the order of the phases
	Phases     map[string]Sending // of all agents together, by the names of phases
	Share      float64            // of what all send, the most that one agent sends
	Privacy    *runs.Privacy      // nil: what is sent has no noise
	Pilot      *Pilot             // nil: nothing was tried, and ranges are of formulas
}

// A Pilot is a run of what was planned in this process alone. What agents send does not depend on
// what carries it: a run of the same data, seed and flags between sites sends the same.
type Pilot struct {
	Traffic    runs.PhaseTraffic
	Iterations int
	Elapsed    time.Duration // for the computing of all sites, in this process
}

// NewPlan returns the plan of a run. It exchanges nothing. Errors come from the run's method,
// problem and graph.
func NewPlan(r Run) (*Plan, error) {
	r.Config = r.Config.WithDefaults()
	w := r.Config.W
	averages, err := network.NewAverages(nil, w, r.Config.Problem.Average)
	if err != nil {
		return nil, err
	}
	p := &Plan{Line: r.Line, Agents: w.N(), Height: w.Tree().Height, Phases: map[string]Sending{}, Privacy: r.Privacy}
	if p.Quantities, err = r.quantities(); err != nil {
		return nil, err
	}
	for _, q := range p.Quantities {
		p.Phases[q.Phase] = p.Phases[q.Phase].plus(q.sending(w, averages))
	}
	mixes := 0 // vectors that all agents send in one Mix
	for i := range p.Agents {
		mixes += w.Sends(i)
	}
	// Each of the n−1 edges of the tree carries a sum up and down; a single agent sends nothing.
	for i := range p.Agents {
		p.Share = max(p.Share, float64(w.Sends(i))/float64(max(1, mixes)),
			float64(w.Tree().Sends(i))/float64(max(1, 2*(p.Agents-1))))
	}
	return p, nil
}

// Use puts what a pilot has sent in the place of ranges.
func (p *Plan) Use(pilot Pilot) {
	t := pilot.Traffic
	for phase, sent := range map[string]dsbo.Traffic{Loading: t.Setup, Iterations: t.Method,
		Evaluation: t.Evaluation, Models: t.Models} {
		p.Phases[phase] = Sending{exactly(sent.Bytes), exactly(sent.Messages)}
	}
	p.Pilot = &pilot
}

// All returns what is sent in all phases.
func (p *Plan) All() (all Sending) {
	for _, phase := range Phases {
		all = all.plus(p.Phases[phase])
	}
	return all
}
