package tasks

import (
	"flag"
	"fmt"

	"dsbo/algo"
	"dsbo/data"
	"dsbo/experiment"
	"dsbo/internal/wording"
	"dsbo/models"
)

// Policy returns the task of policy evaluation on a drawn Markov chain.
func Policy() experiment.Task {
	t := &policy{}
	return experiment.Task{
		Name: "policy", About: policyAbout,
		Flags: t.flags, Load: t.load, Check: t.check, Describe: t.describe,
		First: []string{"states", "features", "transitions"},
		// Its steps suit weights of a value function. The lower problem is solved by one product,
		// as its Hessian is the identity.
		Presets: []experiment.Preset{{
			Name: "values", DType: "float64", Wire: "float64", K: 100, EvalEvery: 10,
			Method: &algo.NewtonCG{C: 2, Cold: 2, Most: 2, Lr: "0.3*(1-k/K)", Clip: []float64{-1e6, 1e6}},
		}},
		Preset: func() string { return "values" },
	}
}

const policyAbout = `evaluate a policy from the transitions that several agents have seen

  min over x of ½ mean_s y_s(x)²,  where y_s(x) is the mean temporal difference V(s) − γ V(s') − r in state s
  over the transitions of all agents, and V(s) = φ(s)'x

x are the weights of the value function, y is as long as there are states. The Markov chain
and the transitions are drawn, with a value function that is known: the test loss is half
the mean square of the error of the values.`

// policy is what the flags of the task choose.
type policy struct{ data.Policy }

func (t *policy) flags(f *flag.FlagSet) {
	f.IntVar(&t.States, "states", 100, "`number` of states, q")
	f.IntVar(&t.Features, "features", 10, "`number` of features of a state, p")
	f.IntVar(&t.Transitions, "transitions", 10, "`number` of transitions from each state that an agent has seen")
	f.Float64Var(&t.Discount, "discount", 0.9, "γ, `factor` by which the next reward counts less")
	f.Float64Var(&t.Rate, "r", 0.5,
		"`rate` of heterogeneity: rewards in a state differ between agents by a normal number with this deviation")
}

// of returns the problem that is drawn for a number of agents.
func (t *policy) of(agents int, seed uint64) data.Policy {
	c := t.Policy
	c.Agents, c.Seed = agents, seed
	return c
}

// check is the task's Check.
func (t *policy) check() error { return t.of(1, 0).Validate() }

func (t *policy) load(a experiment.Agents) (data.Task, models.Model, error) {
	task, err := t.of(a.N, a.Seed).Task(a.Local...)
	return task, models.PolicyEvaluation{Features: t.Features, States: t.States}, err
}

// describe is the task's Describe.
func (t *policy) describe(task data.Task, _ models.Model) (map[string]any, string) {
	return map[string]any{
			"model": "policy evaluation", "states": t.States, "features": t.Features, "transitions": t.Transitions,
			"discount": t.Discount, "rate": t.Rate,
		}, fmt.Sprintf("policy evaluation with %s, %s, γ = %g and r = %g, %s with %s from each state",
			wording.Count(t.States, "state"), wording.Count(t.Features, "feature"), t.Discount, t.Rate,
			wording.Count(len(task.Shards), "agent"), wording.Count(t.Transitions, "transition"))
}
