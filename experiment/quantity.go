package experiment

import (
	"slices"

	"dsbo/algo"
	"dsbo/data"
	"dsbo/network"
	"dsbo/train"
)

// A Way is how a quantity leaves an agent.
type Way string

// The ways of quantities.
const (
	BySum  Way = "sum"     // a term of a sum over all agents; over gRPC it is masked
	ByMix  Way = "mix"     // as it is, to each neighbour
	ByMax  Way = "largest" // the largest of all agents; its parent in the tree sees that of the agents below
	ByText Way = "text"    // as it is, to all agents
	ByRow  Way = "row"     // numbers, as they are, to all agents
)

// A Range is a number that is not known before the run.
type Range struct{ Least, Usual, Most float64 }

// exactRange returns the range of a number that is known.
func exactRange(n float64) Range { return Range{n, n, n} }

// Times returns the range of c times the number.
func (r Range) Times(c float64) Range {
	return Range{float64(c * r.Least), float64(c * r.Usual), float64(c * r.Most)}
}

// timesRange returns the range of so many things with another number each.
func (r Range) timesRange(s Range) Range {
	return Range{float64(r.Least * s.Least), float64(r.Usual * s.Usual), float64(r.Most * s.Most)}
}

// add adds another number.
func (r *Range) add(s Range) {
	r.Least, r.Usual, r.Most = r.Least+s.Least, r.Usual+s.Usual, r.Most+s.Most
}

// raise makes it at least another number.
func (r *Range) raise(s Range) {
	r.Least, r.Usual, r.Most = max(r.Least, s.Least), max(r.Usual, s.Usual), max(r.Most, s.Most)
}

// quantity returns a quantity all of whose messages have one length.
func quantity(phase, name string, way Way, length int, wire network.Wire, times Range) Quantity {
	return Quantity{Phase: phase, Name: name, Way: way, Length: length, Wire: wire, Times: times}
}

// Phases are the phases of a run, in their order.
var Phases = []string{phaseLoading, phaseIterations, phaseEvaluation, phaseModels}

// A Quantity is something that is made of an agent's data and leaves it in a run, so and so often.
type Quantity struct {
	Phase  string // "loading", "iterations", "evaluation" or "models"
	Name   string
	Way    Way
	Length int // numbers, or of a text bytes
	Wire   network.Wire
	Times  Range
	Text   string  // of a text that is known: that of the first agent here
	more   float64 // what the mean length has more than Length
}

// Phases of a run, as the table of its traffic calls them.
const (
	phaseLoading    = "loading"
	phaseIterations = "iterations"
	phaseEvaluation = "evaluation"
	phaseModels     = "models"
)

// quantities lists what the run will send. The runner has its problem and its method.
func (r *runner) quantities() ([]Quantity, error) {
	p, q, err := r.problem.Dims()
	if err != nil {
		return nil, err
	}
	list := r.loadingQuantities()
	method, err := r.methodQuantities(p, q)
	if err != nil {
		return nil, err
	}
	list = append(list, method...)
	if r.problem.guard != nil {
		return append(list, r.privateQuantities(p, q)...), nil
	}
	if r.trainConfig().HasSteps() {
		list = append(list, quantity(phaseEvaluation, "largest curvature", ByMax, 1, network.Float64, exactRange(1)))
	}
	list = append(list, r.recordQuantities(p, q)...)
	return append(list, r.modelQuantities(p, q)...), nil
}

// loadingQuantities lists what was found together as the data were loaded.
func (r *runner) loadingQuantities() (list []Quantity) {
	for _, f := range r.loaded.setup.Found {
		if f.Sum != nil {
			list = append(list, quantity(phaseLoading, "sums over rows", BySum, len(f.Sum), network.Float64, exactRange(1)))
			continue
		}
		q := quantity(phaseLoading, "text: columns, words or classes", ByText, 0, network.Float64, exactRange(1))
		for _, text := range f.Texts {
			q.Length = max(q.Length, len(text))
		}
		q.Text = f.Texts[r.loaded.local[0]]
		list = append(list, q)
	}
	return list
}

// hasHoldout reports whether an agent here has held-out examples.
func (r *runner) hasHoldout() bool {
	return slices.ContainsFunc(r.loaded.data.Shards, func(s data.Shard) bool { return s.Holdout.Len() > 0 })
}

// leastIterations returns how many iterations the run has at least: it may end as soon as patience does.
func (r *runner) leastIterations() int {
	c := r.trainConfig().WithDefaults()
	if c.Patience == 0 || !r.hasHoldout() {
		return c.K
	}
	return min(c.K, c.Patience*c.EvalEvery)
}

// methodQuantities lists what the method sends, by its Cost.
func (r *runner) methodQuantities(p, q int) ([]Quantity, error) {
	m := algo.Clone(r.method)
	if err := m.Init(p, q, r.Settings.Iterations); err != nil {
		return nil, err
	}
	var vectors, numbers, hypergradients Range // averages of q numbers, of one, and of p
	var messages, floats int
	experience, shortest := r.experience().Experience, r.leastIterations()
	for k := range r.Settings.Iterations {
		least, usual, most := algo.ForecastOf(m, k, experience)
		count := func(c algo.Cost) (ofQ, ofOne, ofP float64) {
			if c.Averages == 0 {
				return 0, 0, 0
			}
			long := (c.AverageFloats - c.JVP*p) / q // the numbers in short ones are few
			return float64(long), float64(c.Averages - long - c.JVP), float64(c.JVP)
		}
		var v, n, h Range
		if k < shortest {
			v.Least, n.Least, h.Least = count(least)
		}
		v.Usual, n.Usual, h.Usual = count(usual)
		v.Most, n.Most, h.Most = count(most)
		vectors.add(v)
		numbers.add(n)
		hypergradients.add(h)
		messages, floats = messages+most.Messages, floats+most.Floats
	}
	wire := r.problem.Average.Wire
	list := []Quantity{
		quantity(phaseIterations, "gradients and Hessian products", BySum, q, wire, vectors),
		quantity(phaseIterations, "hypergradient", BySum, p, wire, hypergradients),
		quantity(phaseIterations, "validation losses, votes", BySum, 1, network.Float64, numbers),
	}
	if r.problem.Average.ByMix {
		averages, err := network.NewAverages(nil, r.graph.W, r.problem.Average)
		if err != nil {
			return nil, err
		}
		for i := range list {
			list[i].Way, list[i].Times = ByMix, list[i].Times.Times(float64(averages.Cost(0, 1, wire).Messages)/float64(r.graph.W.Sends(0)))
		}
	}
	if messages > 0 {
		list = append(list, Quantity{Phase: phaseIterations, Name: "copies of x, y, z, trackers", Way: ByMix, Length: floats / messages, Wire: wire,
			Times: exactRange(float64(messages)), more: float64(floats%messages) / float64(messages)})
	}
	return sentQuantities(list), nil
}

// sentQuantities leaves out what is never sent.
func sentQuantities(list []Quantity) (some []Quantity) {
	for _, q := range list {
		if q.Times.Most > 0 {
			some = append(some, q)
		}
	}
	return some
}

// Numbers of what is compared at the end.
const (
	scoreNumbers   = 16 // rows, losses and right answers of four sets
	pairNumbers    = 8  // of two models on a set
	compareNumbers = 3 * pairNumbers
)

// recordQuantities lists what records send.
func (r *runner) recordQuantities(p, q int) []Quantity {
	c := r.trainConfig().WithDefaults()
	records, exact, least := 0, 0, 0.0
	for k := range c.K + 1 {
		if k%c.EvalEvery == 0 || k == c.K {
			records++
			if c.Evaluate == train.EvaluateExact && c.ExactAt(k) {
				exact++
			}
			if c.LeastEigenvalueAt(k) {
				least++
			}
		}
	}
	list := []Quantity{quantity(phaseEvaluation, "losses and right answers", BySum, scoreNumbers, network.Float64, exactRange(float64(records)))}
	if r.hasHoldout() {
		list = append(list, quantity(phaseEvaluation, "held-out losses of two iterates", BySum, pairNumbers, network.Float64,
			Range{0, float64(records) / 2, float64(records)})) // at records that do not lower that loss
	}
	list = append(list, r.consensusQuantities(records, p, q)...)
	if least > 0 {
		list = append(list, quantity(phaseEvaluation, "products for the least eigenvalue", BySum, q, min(r.problem.Average.Wire, network.Float32),
			Range{2, 20, train.LanczosMost}.Times(least)))
	}
	return append(list, r.exactQuantities(phaseEvaluation, p, q, exactRange(float64(exact)), exactRange(1), r.recordEffort())...)
}

// consensusQuantities lists what the comparison of the agents' copies sends at so many records, and once more at the end.
func (r *runner) consensusQuantities(records, p, q int) []Quantity {
	variables := 4 // x, y, z and u, as far as the method has them
	m := algo.Clone(r.method)
	if m.Init(p, q, 1) != nil {
		return nil // which has been checked
	}
	if m, ok := m.(interface{ Z() []float64 }); !ok || m.Z() == nil {
		variables--
	}
	list := []Quantity{quantity(phaseEvaluation, "fingerprints of x, y, z, u, best iterate", ByMax, 2*(variables+1), network.Float64, exactRange(float64(records+1)))}
	if m.Cost(0).Averages > 0 {
		return list // all agents have the same
	}
	fine, differ := min(r.problem.Average.Wire, network.Float32), exactRange(float64(records)) // but for the first record, where all start
	return append(list,
		quantity(phaseEvaluation, "x and the hypergradient", BySum, p, fine, differ.Times(2)),
		quantity(phaseEvaluation, "y and z", BySum, q, fine, differ.Times(float64(variables-2))),
		quantity(phaseEvaluation, "distances from the average", BySum, 1, network.Float64, differ.Times(float64(variables))))
}

// privateQuantities lists what records of a run with differential privacy send.
func (r *runner) privateQuantities(p, q int) []Quantity {
	records := r.Settings.Privacy.Answers[2]
	return append(r.consensusQuantities(records, p, q),
		quantity(phaseEvaluation, "noisy losses and right answers", BySum, scoreNumbers, network.Float64, exactRange(float64(records))))
}

// An amount is what is sent at a time, on average where messages differ.
type amount struct{ messages, floats, bytes float64 }

// sending returns what is sent so often.
func (a amount) sending(times Range) Sending {
	return Sending{times.Times(a.bytes), times.Times(a.messages), times.Times(a.floats)}
}

// sent returns what agent i sends of a quantity at a time.
func (q Quantity) sent(i int, w *network.Matrix, averages *network.Averages) amount {
	switch numbers := float64(q.Length); q.Way {
	case ByMix:
		n := float64(w.Sends(i))
		return amount{n, n * q.Mean(), n * q.Mean() * float64(q.Wire.Bytes(manyNumbers)) / manyNumbers}
	case ByMax:
		n := float64(w.Tree().Sends(i))
		return amount{n, n * numbers, 8 * n * numbers}
	case ByText:
		others, floats := float64(w.N()-1), float64(network.GatheredFloats(q.Length))
		return amount{2 * others, others * floats, 8 * others * floats}
	case ByRow:
		others := float64(w.N() - 1)
		return amount{others, others * numbers, 8 * others * numbers}
	}
	c := averages.Cost(i, q.Length, q.Wire)
	return amount{float64(c.Messages), float64(c.Floats), float64(c.Bytes)}
}

// manyNumbers is so many numbers that their scales on a narrow wire are a fixed share of their bytes.
const manyNumbers = 1 << 20

// Mean returns the mean length of messages by Mix, of which some have parts more than others.
func (q Quantity) Mean() float64 { return float64(q.Length) + q.more }
