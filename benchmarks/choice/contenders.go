package main

import (
	"fmt"
	"math"

	"dsbo/experiment/compare"
)

// A problem is a task with its settings.
type problem struct {
	name, title string
	task        string
	flags       []string
	sgd         float64 // where the search of a step of x without a scale of its own starts; it is as large as Φ and λ are unlike
}

// problems returns the tasks: one where the examples of the agents are alike, one where they are not, and one whose curvatures are
// thousands of times apart.
func problems(quick bool) []problem {
	all := []problem{
		{"mnist", "MNIST, 250 training examples an agent", "mnist", []string{"-train=250", "-val=1000", "-dtype=float32"}, 64},
		{"unlike", "MNIST, 100 training examples an agent, unlike shares of the labels", "mnist",
			[]string{"-train=100", "-val=500", "-partition=dirichlet:0.3", "-dtype=float32"}, 64},
		{"synthetic", "Synthetic, p = 50, r = 1", "synthetic", []string{"-p=50", "-r=1", "-dtype=float64"}, 0.25},
	}
	if quick {
		for i := range all {
			all[i].task, all[i].sgd = "synthetic", 0.25
			all[i].flags = []string{fmt.Sprintf("-p=%d", 3+i), "-r=1", "-train=20", "-val=20", "-test=10", "-agents=3"}
		}
	}
	return all
}

// A ladder is the values that a parameter may take in the trials of a method.
type ladder struct {
	name   string
	values []float64
	start  int  // the index of the first trial's value
	low    bool // whether less than the first value has no meaning
	high   bool // whether more than the last value has none
}

// powers returns the values first·factor^i, i = 0..n-1.
func powers(first, factor float64, n int) (values []float64) {
	for i := range n {
		values = append(values, first*math.Pow(factor, float64(i)))
	}
	return values
}

// A contender is a method with the grid of its trials.
type contender struct {
	name    string
	ladders []ladder
	// flags returns the flags of a trial with these values of the ladders' parameters.
	flags func(v []float64) []string
	// calls returns the oracle calls of an agent before the iterations and in each of them, at most.
	calls func(v []float64) (start, each float64)
	// others marks the methods beside newtoncg. They start at the best constant λ, and have four times the budget: their iterations
	// have no algebra, so that this takes them about the same seconds.
	others bool
}

// search returns a search over the grid, from the starts of its ladders.
func (c *contender) search(trials int) *compare.Search {
	s := &compare.Search{Most: trials}
	for _, l := range c.ladders {
		s.Lengths, s.Start = append(s.Lengths, len(l.values)), append(s.Start, l.start)
	}
	return s
}

// open names the parameters in which the best point may not be the best: those with a neighbour that was not tried, and those in
// which it is at an end of the ladder beyond which there is more.
func (c *contender) open(s *compare.Search) (names []string) {
	for i, l := range c.ladders {
		if s.Open(i, l.low, l.high) {
			names = append(names, l.name)
		}
	}
	return names
}

// contenders returns the methods for a problem.
func contenders(p problem) []contender {
	return []contender{newtoncg(), tuned(p), singleLoop("sparkle", "ed", p), singleLoop("sparkle", "gt", p), singleLoop("dsoba", "", p)}
}

// newtoncg finds its start by itself, and has no step of y or z.
func newtoncg() contender {
	return contender{
		name: "newtoncg",
		ladders: []ladder{
			{name: "lr", values: powers(0.1, 2, 6), start: 3},
			{name: "c", values: powers(1, 2, 5), start: 2, low: true},
			{name: "beta1", values: []float64{0.01, 0.1, 0.3, 0.5, 0.7, 0.9}, start: 3, low: true},
		},
		flags: func(v []float64) []string {
			return []string{"-algorithm=newtoncg", set("lr", "%g*(1-k/K)", v[0]), set("c", "%g", v[1]), set("beta1", "%g", v[2])}
		},
		// The start: three solves of 8 products, and as a rule no more than eight constants.
		calls: func(v []float64) (start, each float64) { return 3*8 + 5 + 8*(v[1]+3), 2*v[1] + 4.2 },
	}
}

// tuned is MA-DSBO with all options of ours. Steps of y and z are one multiple of 1/L, as are their momenta.
func tuned(problem) contender {
	return contender{
		name: "madsbo_tuned", others: true,
		ladders: []ladder{
			{name: "lr", values: powers(0.0125, 2, 8), start: 4},
			{name: "c", values: powers(0.0875, 2, 8), start: 3},
			{name: "momentum", values: []float64{0, 0.6, 0.8, 0.9, 0.95, 0.98}, start: 3, low: true},
		},
		flags: func(v []float64) []string {
			return []string{
				"-algorithm=madsbo_tuned", "-T=20", "-N=20", "-alpha=0.5", fmt.Sprintf("-beta=%g/L", v[1]), fmt.Sprintf("-gamma=%g/L", v[1]),
				"-set=warm_z=true", "-set=track_y=true", "-set=reuse_b=true", set("mom_y", "%g", v[2]), set("mom_z", "%g", v[2]),
				"-set=xstep=adam", set("lr", "%g*(1-k/K)", v[0]), "-set=v=0.95", "-set=clip=[-6,12]",
			}
		},
		calls: func([]float64) (start, each float64) { return 0, 20 + 21 + 3 },
	}
}

// singleLoop is SPARKLE with one correction of all variables, or D-SOBA. Steps of y and z are one multiple of 1/L; θ is the weight
// of the fresh hypergradient in its average.
func singleLoop(algorithm, strategy string, p problem) contender {
	c := contender{
		name: algorithm, others: true,
		ladders: []ladder{
			{name: "c", values: powers(0.05, 2, 10), start: 5},
			{name: "alpha", values: powers(p.sgd/256, 4, 9), start: 4},
			{name: "theta", values: powers(0.0625, 2, 5), start: 3, high: true},
		},
		calls: func([]float64) (start, each float64) { return 0, 4 },
	}
	var strategies []string
	if strategy != "" {
		c.name += " " + strategy
		strategies = []string{fmt.Sprintf(`-set=strategy={"x":%q,"y":%[1]q,"z":%[1]q}`, strategy)}
	}
	c.flags = func(v []float64) []string {
		return append([]string{
			"-algorithm=" + algorithm, fmt.Sprintf("-alpha=%g", v[1]), fmt.Sprintf("-beta=%g/L", v[0]), fmt.Sprintf("-gamma=%g/L", v[0]),
			set("theta", "%g", v[2]),
		}, strategies...)
	}
	return c
}

// set is the flag that sets a method's parameter.
func set(name, format string, v float64) string { return "-set=" + name + "=" + fmt.Sprintf(format, v) }
