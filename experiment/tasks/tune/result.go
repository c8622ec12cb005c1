package tune

import (
	"fmt"
	"math"
	"slices"
	"time"

	"dsbo/experiment"
	"dsbo/experiment/site"
	"dsbo/internal/wording"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/tables/assess"
	"dsbo/tables/features"
	"dsbo/tables/modelfile"
)

// Sites returns the run's results by site.
func (t *tune) Sites() experiment.Sites {
	survival := t.targetKind() == features.Survival // a site alone may have no event
	s := siteFlags(t)
	s.Compare = s.Compare && t.prepared.Rows[2] > 0 && !survival
	return s
}

// siteFlags is the task's SiteFlags.
func siteFlags(t *tune) experiment.Sites {
	return experiment.Sites{Compare: t.alone, Exchange: t.exchangeAlone}
}

// askSite is the task's AskSite.
func askSite(t *tune, a experiment.Agents) error {
	read, err := t.read(a)
	if err != nil {
		return err
	}
	t.asked = read[a.Local[0]]
	columns, words, classes := optionsOf(t).NamesOf(t.asked)
	return a.Need(func(r *site.Request) {
		r.Columns, r.Words, r.Classes = columns, words && !a.Private, classes && !a.Private
		r.AskRows(t.asked.Rows())
	})
}

// finish is the task's Finish: it writes λ by name, the model, and how good its
// predictions are.
func (t *tune) finish(f experiment.FinishedRun) error {
	m, err := t.newModel(0)
	if err != nil {
		return err
	}
	if f.Network != nil { // a network has won the choice of -model auto: the rest is of it
		kept := *t
		kept.taken, kept.shared = network, onePenalty
		t, m = &kept, *f.Network
	}
	y, err := t.keptWeights(f, m)
	if err != nil {
		return err
	}
	origin := modelfile.Origin{
		Program: "dsbo " + wording.Build().Name(), Made: time.Now().UTC().Format(time.RFC3339), Run: string(f.Folder),
		Lambda: runs.LambdaTableFile,
	}
	made, own, err := modelsOf(t, f, m, t.unfolded(), 1, y, origin)
	if err != nil {
		return err
	}
	judged := judge{t, made, m, y, f, own}
	assessment, err := judged.assess() // before the test rows are in the model
	if err != nil {
		return err
	}
	if t.refits() {
		all, times, err := rowsOfRefit(t, f)
		if err != nil {
			return err
		}
		kept, err := t.refitted(f, m, all, times)
		if err != nil {
			return err
		}
		f.X, y = kept.X, kept.Y
		if made, own, err = modelsOf(t, f, m, all, times, y, origin); err != nil {
			return err
		}
	}
	if err = judged.addFeatures(assessment, made); err == nil {
		err = (judge{t, made, m, y, f, own}).keepBaseline(assessment)
	}
	if err != nil || !f.Writes {
		return err
	}
	if err = tellPenalties(t, f, assessment, t.penaltyTable(made, m.(models.Layered), f.X, y)); err == nil {
		err = writeModels(own, made, f.Folder)
	}
	if err == nil {
		err = f.Folder.WriteAssessment(*assessment)
	}
	return err
}

// ending is the task's Ending.
func (t *tune) ending() (e site.Ending) {
	n, errors := t.assessedNumbers()
	once, told := site.Once, 0
	add := func(what string, numbers int, often site.Range) {
		e.Sums = append(e.Sums, site.Sum(what, numbers, often))
	}
	if n > 0 {
		add("counts of predictions", n, once)
		add("changes of measures without a row", errors, once)
		if t.cost.class != "" {
			add("counts of validation predictions", n, once)
		}
	}
	if judgesSurvival(t.prepared) {
		add(inOrder, len(new(assess.Concordance).Numbers())+survivalNumbers, once)
	}
	e.Sums = append(e.Sums, timesSums(t)...)
	m, err := t.newModel(0)
	if err != nil { // which Load tells
		return e
	}
	_, q := m.Dims()
	if slopes, _ := findSlopes(t); slopes != nil {
		add("slopes of sites' own", len(slopes)*m.(models.Layered).Layers()[0].Out+1, site.Range{Most: 2})
	}
	if t.taken == network {
		told = toldImportances(t.prepared, q)
	}
	e.Sums = append(e.Sums, effectSums(t)...)
	if t.prepared.Folds > 0 {
		e.Solves++
	}
	if t.cost.class != "" && n > 0 && !wantsLasso(t) {
		e.Solves += t.prepared.Folds // at once, with a vector for each
	}
	if t.refits() {
		e.Solves++
	}
	if e.Solves > 0 {
		e.Model = q
	}
	if c := t.crossFit(); c != nil {
		e.Before, e.Levels = c.Begin != nil, c.Levels.Rows > 0
		_, e.Parts = t.inFolds(m).Dims()
		if c.Lasso != nil {
			e.Scales = len(t.prepared.Recipe.Features())
		}
		for _, n := range t.networks() {
			_, q := n.Dims()
			e.Networks = append(e.Networks, q)
			told = max(told, toldImportances(t.prepared, q)) // the kept one may be a small one
		}
	}
	if told > 0 {
		add("losses without a feature", told, site.Range{Most: 1})
	}
	return e
}

// A layering is the weights that an entry of λ penalizes, and their name.
type layering struct {
	names []string
	of    []int               // entry of the first layer's weights of each feature
	rest  func(layer int) int // entry of the first layer's biases, for layer 0, or of a later layer
}

// layering returns the layering of -penalty for a model of n layers. Intercepts of a linear model
// have none.
func (t *tune) layering(layers int) (l layering) {
	r := t.prepared.Recipe
	all := r.Features()
	l.of = make([]int, len(all))
	l.rest = func(layer int) int { return len(l.names) - layers + layer }
	switch t.shared {
	case onePenalty:
		l.names, l.rest = []string{"all weights"}, func(int) int { return 0 }
		return l
	case "layer":
		for k := range layers {
			l.names = append(l.names, fmt.Sprintf("layer %d", k+1))
		}
		return l
	case "group":
		l.of = r.Groups()
		for _, f := range all {
			l.names = append(l.names, r.Input(f.Input).Name)
		}
		l.names = slices.Compact(l.names)
	default:
		for k, f := range all {
			l.of[k] = k
			l.names = append(l.names, f.Name)
		}
	}
	if layers > 1 {
		l.names = append(l.names, "biases of layer 1")
		for k := range layers - 1 {
			l.names = append(l.names, fmt.Sprintf("layer %d", k+2))
		}
	}
	return l
}

// negligible is the size of weights, relative to the largest, up to which the model counts as not
// using a feature.
const negligible = 0.01

// penaltyTable returns the entries of λ = x with the sizes of the weights that they penalize: in y,
// of the first layer in what is made of it, with the sites' mean slopes.
func (t *tune) penaltyTable(made *modelfile.Model, m models.Layered, x, y []float64) []runs.Penalty {
	layers := m.Layers()
	l := t.layering(len(layers))
	squares := make([]float64, len(x))
	for k, layer := range layers {
		weights := y[layer.Offset:][:layer.Out*layer.In]
		if k == 0 {
			weights = made.Layers[0].Weights
		}
		for j, w := range weights {
			entry := l.of[j%len(l.of)]
			if k > 0 {
				entry = l.rest(k)
			}
			squares[entry] += float64(w * w)
		}
		if len(layers) > 1 {
			for _, b := range y[layer.Offset+len(weights):][:layer.Out] {
				squares[l.rest(k)] += float64(b * b)
			}
		}
	}
	largest := math.Sqrt(slices.Max(squares))
	var all []runs.Penalty
	for k, name := range l.names {
		size, least := math.Sqrt(squares[k]), negligible*largest
		if wantsLasso(t) { // which sets weights to 0
			least = 0
		}
		all = append(all, runs.Penalty{Name: name, Lambda: x[k], Norm: size, Kept: size > least})
	}
	return all
}
