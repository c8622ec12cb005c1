package runs

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"dsbo"
	"dsbo/internal/num"
)

// Summary is summary.json: how a run ended.
type Summary struct {
	State      State    `json:"state"`             // how the run ended
	Error      string   `json:"error,omitempty"`   // of a run that failed
	Warnings   []string `json:"warnings"`          // a sentence each
	Unknown    []string `json:"unknown,omitempty"` // why numbers are not known, a clause each
	Algorithm  string   `json:"algorithm"`         // name of the method
	Preset     string   `json:"preset"`            // name
	Iterations int      `json:"iterations"`        // that were done

	Verdict Verdict `json:"verdict"` // what tuning gave
	// Card is how tables were read; nil: there are none, or a recipe of other rows is followed.
	Card *Card `json:"card,omitempty"`
	// Privacy is what the agents' answers keep to, nil where they have no bound.
	Privacy *Privacy     `json:"privacy,omitempty"`
	Traffic PhaseTraffic `json:"traffic"` // by phase
	// Best is the iteration of the tuned λ: the one with the least held-out loss, if there are
	// held-out examples.
	Best int `json:"best_iteration"`

	// Exact Φ at λ = 0, at the start and at x̄. Φ of the tuned λ is that of its model: x̄ at the
	// end of the iterations need not be the tuned one.
	PhiLambda0 Number `json:"phi_lambda0"`
	PhiStart   Number `json:"phi_start"` // Φ at the start
	PhiEnd     Number `json:"phi_end"`   // Φ(x̄) at the end of the iterations
	GradNorm   Number `json:"grad_norm"` // ‖∇Φ(x̄)‖ there
	// Losses and accuracy of ȳ at the last evaluation, not of the model y*(x).
	TrainLoss    Number `json:"train_loss"`
	ValLoss      Number `json:"val_loss"`      // the same on validation examples
	TestLoss     Number `json:"test_loss"`     // the same on test examples
	TestAccuracy Number `json:"test_accuracy"` // share of right answers
	// Losses and accuracies of the exact solutions y*(0) and y*(x̄), which are the models.
	TestLossLambda0     Number `json:"test_loss_lambda0"`
	TestAccuracyLambda0 Number `json:"test_accuracy_lambda0"` // share of right answers
	TestLossTuned       Number `json:"test_loss_tuned"`       // of the model at the tuned λ
	TestAccuracyTuned   Number `json:"test_accuracy_tuned"`   // share of right answers

	Models    []Model    `json:"models"`    // of the table, in its order
	Constants []Constant `json:"constants"` // exact Φ at constant λ, in the order in which they were tried

	// Structures are the ways in which penalties were tried to differ from feature to feature, in
	// their order.
	Structures []Structure `json:"structures,omitempty"`

	// Sites compares the sites' own models with the models of all together, where each site has
	// test examples of its own.
	Sites []Site `json:"sites,omitempty"`
	// AllSites does so on the test examples of all sites together; nil where some site has no
	// model of its own.
	AllSites *Site `json:"all_sites,omitempty"`

	ConsensusX         Number `json:"consensus_x"`         // consensus error of x at the end
	ConsensusY         Number `json:"consensus_y"`         // the same of y
	ConsensusZ         Number `json:"consensus_z"`         // the same of z
	HypergradientError Number `json:"hypergradient_error"` // as [Record] has it, at the end

	Seconds        float64 `json:"seconds"`          // wall time of iterations
	MsPerIteration Number  `json:"ms_per_iteration"` // median, without evaluation
	// FloatsSent counts the numbers that an agent sends in an iteration, to all
	// neighbours together.
	FloatsSent    float64 `json:"floats_sent_per_agent_per_iteration"`
	FloatsFormula float64 `json:"floats_by_formula_per_agent_per_iteration"` // the same by the method's formula
	// bytes that all agents sent in the whole run
	BytesSent   int64      `json:"bytes_sent"`
	OracleCalls dsbo.Calls `json:"oracle_calls"` // of all agents
	Times                  // sums over all agents
	PeakRSSMiB  Number     `json:"peak_rss_mib"` // of the process that needed most
	PerAgent    []Usage    `json:"per_agent"`    // by number
	// Members are the agents that are there at the end, whose problem the models are of; nil: all.
	Members []int `json:"members,omitempty"`
	// Waited is for how many seconds neighbours waited for each agent, as far as this folder knows:
	// for an agent's own neighbours, or for all agents after they were put together. nil where all
	// agents are in one process.
	Waited []float64 `json:"waited_seconds,omitempty"`
	// Epoch is the epoch of the members whose end this is, see package membership; 0 where members
	// stay the same.
	Epoch int `json:"epoch,omitzero"`
}

// Timeless returns s without the fields that depend on the machine, times and memory, and without
// what a card has of the one site.
func (s Summary) Timeless() Summary {
	s.Seconds, s.MsPerIteration, s.PeakRSSMiB, s.Times = 0, 0, 0, Times{}
	s.Waited = nil
	if s.Card != nil {
		card := *s.Card
		card.Own, card.Odd = nil, nil
		s.Card = &card
	}
	s.PerAgent = slices.Clone(s.PerAgent)
	for i := range s.PerAgent {
		s.PerAgent[i].Times = Times{}
	}
	return s
}

// A Model is one choice of hyperparameters with the model that it gives.
type Model struct {
	Name   string `json:"name"`          // for people
	Lambda Number `json:"lambda"`        // the entry of λ, where all are one number
	Kept   bool   `json:"kept,omitzero"` // whether lambda.npy and omega.npy are this one's
	// Exact Φ(λ), and losses and accuracy of y*(λ), which the agents have found together.
	Phi          Number `json:"phi"`
	ValLoss      Number `json:"val_loss"`      // the same on validation examples
	HoldoutLoss  Number `json:"holdout_loss"`  // on held-out examples
	TestLoss     Number `json:"test_loss"`     // the same on test examples
	TestAccuracy Number `json:"test_accuracy"` // share of right answers
	// Reached is true if the lower problem is not known to be convex: Phi is then the value at the
	// solution reached, and other solutions may exist.
	Reached bool `json:"reached,omitzero"`
	// Spread is by how much Phi differs between the solutions from two starts, where there were
	// two: Phi is of the one of the lower loss on training examples.
	Spread Number `json:"phi_spread,omitzero"`
	// Hessian-vector products of the solution; of a network of tune, or trained by draws: gradients
	Steps int `json:"refit_steps"`
	// else nothing of this model is exact; where Reached, whether the lower loss has settled
	Converged bool `json:"refit_converged"`
	// norm that is left of the lower gradient, as a share of the first one; not known by draws
	Gradient Number `json:"refit_gradient"`
}

// Solved reports whether what the model is told to be is of its λ: its solution has converged, or Φ
// is at the solution reached.
func (m Model) Solved() bool { return m.Converged || m.Reached }

// PhiSolved returns Φ, not known where the model is not solved: the correction of its first order
// is then of any size.
func (m Model) PhiSolved() Number {
	if !m.Solved() {
		return Unknown()
	}
	return m.Phi
}

// A Site says how good models are on the test examples of one site.
type Site struct {
	Name     string `json:"name,omitempty"` // "": the label of its number, see [Site.Label]
	Examples int    `json:"examples"`
	// Alone is the model that the site finds by its own examples alone, as all together find
	// theirs: by structures of penalties, or at its best constant λ. Constant and Tuned are the
	// models of all sites together, at the best constant λ and at the tuned λ. All are unknown with
	// fewer than FewestOfSite examples.
	Alone    SiteScore `json:"alone"`
	Constant SiteScore `json:"constant"`
	Tuned    SiteScore `json:"tuned"`
	// Change is the mean loss of the kept model of all sites less the mean loss of Alone, and
	// ChangeError its standard error over the examples, each of which both have answered.
	Change      Number `json:"change"`
	ChangeError Number `json:"change_error"`
	// OthersAlone are the own models of all sites, by their numbers, on this site's test examples;
	// empty where they have not left their sites.
	OthersAlone []SiteScore `json:"lone,omitempty"`
}

// Joint is the score of the model of all sites that is kept.
func (s Site) Joint(tunedKept bool) SiteScore {
	if tunedKept {
		return s.Tuned
	}
	return s.Constant
}

// TunedKept reports whether the tuned model, the last one, is kept.
func (s *Summary) TunedKept() bool {
	n := len(s.Models)
	return n > 0 && s.Models[n-1].Kept
}

// KeepsLasso reports whether a lasso or an elastic net is kept, which is as asked.
func (s *Summary) KeepsLasso() bool {
	return slices.ContainsFunc(s.Structures, func(one Structure) bool { return one.Kept && one.Lasso != nil })
}

// ChangeMeaning explains the columns of changes by joining, and of losses, in the table of sites.
func (s *Summary) ChangeMeaning() string {
	what, shown, intervals := "Mean losses", 0, ""
	for _, one := range s.Sites {
		if one.Alone.Accuracy.Known() {
			what = "Mean losses, and beside them accuracies,"
		}
		if one.Change.Known() {
			shown++
		}
	}
	switch shown {
	case 0:
	case 1:
		intervals = " With 95 % confidence the site's interval contains the effect on its new rows; 0 in it shows no " +
			"difference."
	default:
		intervals = fmt.Sprintf(" With 95 %% confidence all %d intervals contain the effect on new rows of their "+
			"site; one that contains 0 shows no difference.", shown)
	}
	return what + " on test rows of each site; below 0 joining lowers the loss." + intervals
}

// JoiningAdvice returns what to try where joining surely raises the loss of all sites together, and
// their linear model has one level; "": nothing.
func (s *Summary) JoiningAdvice(a Assessment) string {
	if s.AllSites == nil || s.AllSites.ChangeOutcome(1) != Worse || a.Effects == nil || a.Levels || a.Events > 0 {
		return ""
	}
	return "Joining raises the loss of all sites together beyond chance. Where sites differ in their levels, such as " +
		"the shares of classes, -site-effects auto gives each its own."
}

// FewestOfSite is the number of test examples below which a site shows only their number: they are
// too few to show an effect of joining.
const FewestOfSite = 20

// NoChange returns the reason why Change is unknown.
func (s Site) NoChange() string {
	if s.Examples < FewestOfSite {
		return "too few rows to say"
	}
	return "no model of its own"
}

// ChangeInterval returns the 95 % interval of Change; for one of several sites, intervals that
// cover all their truths at once with 95 %: each has the level 1 − 0.05/sites. It is by Student's
// distribution with one degree of freedom less than examples, n. Differences of losses have long
// tails, so that the error is raised by 1/√n. Without the raise, in tables of two classes with 40
// to 100 training and 22 test rows at each of four sites, the intervals of all sites cover at once
// in 92 % of draws, and the one of all rows together in 91 %.
func (s Site) ChangeInterval(sites int) (low, high Number) {
	raised := float64(s.ChangeError) * (1 + 1/math.Sqrt(float64(s.Examples)))
	e := Number(float64(raised * num.StudentQuantile(1-0.05/float64(2*sites), s.Examples-1)))
	return s.Change - e, s.Change + e
}

// ChangeOutcome returns the effect of joining, by the interval's place relative to 0.
func (s Site) ChangeOutcome(sites int) Outcome {
	switch low, high := s.ChangeInterval(sites); {
	case high < 0:
		return Better
	case low > 0:
		return Worse
	case low.Known():
		return Same
	}
	return Unclear
}

// Label returns the name of the i-th site of a list.
func (s Site) Label(i int) string { return cmp.Or(s.Name, fmt.Sprintf("site %d", i)) }

// A SiteModel is how good one model is at each site, and last on the test examples of all together.
type SiteModel struct {
	Name   string
	Scores []SiteScore
}

// SiteModels returns the scores of each model at each site, followed by its mean score over all
// test examples: of the single sites' own models, as far as they were exchanged, and of the two
// joint models. A model's mean is unknown if its score at some site is.
func SiteModels(sites []Site) (all []SiteModel) {
	if len(sites) == 0 {
		return nil
	}
	examples := 0
	for _, s := range sites {
		examples += s.Examples
	}
	add := func(name string, of func(s Site) SiteScore) {
		m, mean := SiteModel{Name: name}, SiteScore{}
		for _, s := range sites {
			score := of(s)
			m.Scores = append(m.Scores, score)
			if share := Number(s.Examples) / Number(examples); share > 0 {
				mean.Loss += Number(share * score.Loss)
				mean.Accuracy += Number(share * score.Accuracy)
			}
		}
		m.Scores = append(m.Scores, mean)
		all = append(all, m)
	}
	for k := range sites[0].OthersAlone {
		add(sites[k].Label(k)+" alone", func(s Site) SiteScore { return s.OthersAlone[k] })
	}
	add("all, one penalty", func(s Site) SiteScore { return s.Constant })
	add("all, tuned", func(s Site) SiteScore { return s.Tuned })
	return all
}

// A SiteScore is the mean loss of a model on examples, and the share of right answers.
type SiteScore struct {
	Loss     Number `json:"loss"`
	Accuracy Number `json:"accuracy"`
}

// A Constant is Φ where all entries of λ are one number.
type Constant struct {
	Lambda float64 `json:"lambda"`
	Phi    float64 `json:"phi"`
}

// A ClusterSummary is the summary.json of a folder whose config.json is a [ClusterConfig].
type ClusterSummary struct {
	State State  `json:"state"`
	Error string `json:"error,omitempty"`
}

// A Structure is a way in which penalties differ from feature to feature, at the strength that
// suits the examples, as a run with -penalty auto has tried it.
type Structure struct {
	Name     string  `json:"name"`     // for people
	Strength float64 `json:"strength"` // log-penalty where the structure's factor is 1
	Loss     Number  `json:"loss"`     // cross-fitted: of each example by the model that has not seen it
	Error    Number  `json:"error"`    // standard error of Loss
	// Rows are those that Loss is of, where they may be some: the first fold judges all networks,
	// the others the best one.
	Rows int `json:"rows,omitzero"`
	// Kept is true if the run keeps its model; unknown in runs that kept a mean of structures.
	Kept bool `json:"kept,omitzero"`
	// Separate is true if its classes separate: all cross-fitted predictions are right, or the
	// feature of the largest weight has the weakest penalty there is.
	Separate  bool   `json:"separate,omitzero"`
	Solutions int    `json:"solutions"`       // of the lower problem, of all folds at once
	Products  int    `json:"products"`        // with the Hessian, of all folds at once; of networks: gradients
	Lasso     *Lasso `json:"lasso,omitempty"` // what it is of a lasso or an elastic net; nil of others
}

// A Lasso is the penalty λ (α Σ|u_j| + (1 − α)/2 Σ u_j²) of weights u in deviations of the
// features, with losses of targets in their own deviations.
type Lasso struct {
	Lambda  float64      `json:"lambda"`
	Ratio   float64      `json:"l1_ratio"` // α
	Nonzero int          `json:"nonzero"`  // features with a weight, in the kept model
	Of      int          `json:"of"`       // features
	Path    []LassoPoint `json:"path"`     // from the strongest λ on
}

// A LassoPoint is a λ of a path.
type LassoPoint struct {
	Lambda  float64 `json:"lambda"`
	Loss    Number  `json:"loss"`    // cross-fitted
	Error   Number  `json:"error"`   // standard error of Loss
	Nonzero float64 `json:"nonzero"` // features with a weight, a mean over the folds
}
