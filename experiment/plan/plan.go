package plan

import (
	"dsbo/algo"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train"
)

// A Run is what there is to know of a run that has not begun, whose data are loaded as far as they
// are in this process.
type Run struct {
	Line   string       // what problem, on what graph
	Config train.Config // of the run: its problem, its matrix, its method
	// Held finds the models at the end by training, with x held still; nil: they are solved for.
	Held    algo.Method
	Found   []runs.Found  // what the agents found together as they loaded the data
	Privacy *runs.Privacy // with the answers that the run takes; nil: what is sent has no noise
	HeldOut bool          // whether agents have held-out examples
	// Experience is what such runs took.
	Experience Experience
	Ending     Ending // what the task exchanges at the end
	Best       bool   // it starts at the best constant, which the agents find
	Rows       []Row  // what all agents see of each at the end
	Simpler    int    // length of the y of a simpler model whose best constant is found at the end; 0: there is none
	Loaded     int    // number of agents whose data are loaded
	// Program is what this process had taken of memory before anything was loaded, in MiB.
	Program runs.Number
}

// A Row is numbers of each agent that all agents see.
type Row struct {
	Name   string
	Length int
}

// Repeated is numbers of which a sum is found some times.
type Repeated struct {
	Row
	Times Range
}

// An Ending is what a task exchanges at the end of a run, where there is no differential privacy.
type Ending struct {
	Sums  []Row      // that are sent once
	Often []Repeated // that are sent some times
	Model int        // length of the y of a lower problem of its own that it has solved; 0: there is none
	X     int        // length of the x of that problem; 0: of the run's x
	// Solves is how often it solves that problem, for some rows and then for more.
	Solves int
	// Parts is the length of the y of all folds together, where the run chooses among structures of
	// penalties in place of comparing λ with constants; 0: it does not.
	Parts int
	// Before is set where it finds the structures before the iterations, and compares as others do.
	Before bool
	// Networks are lengths of the y of networks with which the answer of structures is compared.
	Networks []int
	// Importances are how many numbers tell them where a network is kept.
	Importances int
	// Alone is set where the model of the iterations is compared with no other.
	Alone bool
}

// A Plan is what a run will send and need, before it is run. Where that depends on what the run
// finds, it is a range with what is usual on the tasks of this module.
type Plan struct {
	Line       string            // what problem, on what graph
	Agents     int               // their number
	Height     int               // of the tree of sums
	Quantities []Quantity        // in the order of the phases
	All, Site  Load              // of all agents together, and of the agent that sends most
	Memory     float64           // bytes that a site's process takes, about
	Privacy    *runs.Privacy     // nil: what is sent has no noise
	Pilot      *Pilot            // nil: nothing was tried, and ranges are of formulas
	memory     memory            // by its parts
	w          *network.Matrix   // mixing matrix
	averages   *network.Averages // what an average costs
}

// New returns the plan of a run. It exchanges nothing. Errors come from the run's method, problem
// and graph.
func New(r Run) (*Plan, error) {
	r.Config = r.Config.WithDefaults()
	w, options := r.Config.W, r.Config.Problem.Average
	options.ByMix = false // as far as averages are by Mix, their rounds are quantities of their own
	averages, err := network.NewAverages(nil, w, options)
	if err != nil {
		return nil, err
	}
	p := &Plan{Line: r.Line, Agents: w.N(), Height: w.Tree().Height, Privacy: r.Privacy, w: w, averages: averages}
	if p.Quantities, err = r.quantities(); err != nil {
		return nil, err
	}
	for k := range p.Quantities {
		q := &p.Quantities[k]
		var all, most Sending
		for i := range p.Agents {
			once, again, times := p.passes(*q, i)
			q.Bytes += once.bytes
			one := Sending{Bytes: q.Times.Times(once.bytes), Messages: q.Times.Times(once.messages)}
			one.Bytes.Most += float64(times * again.bytes)
			one.Messages.Most += float64(times * again.messages)
			all, most = all.plus(one), most.atLeast(one)
		}
		p.All.add(q.Phase, all)
		p.Site.add(q.Phase, most)
	}
	p.memory, err = r.memory()
	p.Memory = p.memory.siteBytes(p.Agents)
	return p, err
}

// A Sending is how much is sent.
type Sending struct{ Bytes, Messages Range }

func (s Sending) plus(t Sending) Sending {
	return Sending{s.Bytes.plus(t.Bytes), s.Messages.plus(t.Messages)}
}

func (s Sending) atLeast(t Sending) Sending {
	return Sending{s.Bytes.atLeast(t.Bytes), s.Messages.atLeast(t.Messages)}
}

// A Load is what is sent, in each phase by its name and in all of them.
type Load struct {
	Phases map[string]Sending
	Sending
}

// add adds what is sent in a phase.
func (l *Load) add(phase string, s Sending) {
	if l.Phases == nil {
		l.Phases = map[string]Sending{}
	}
	l.Phases[phase] = l.Phases[phase].plus(s)
	l.Sending = l.plus(s)
}

// Certain reports whether nothing that the run sends depends on what it finds.
func (p *Plan) Certain() bool { return p.All.Bytes.Least == p.All.Bytes.Most }
