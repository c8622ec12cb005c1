// Package tune is the task of a user's own tables: its flags name columns and files, deal rows to
// folds, choose the penalties and networks to try, and the report on the model at the end.
package tune

import (
	"cmp"
	_ "embed"
	"flag"
	"slices"
	"strings"

	"dsbo"
	"dsbo/data"
	"dsbo/experiment"
	"dsbo/experiment/candidates"
	"dsbo/experiment/site"
	"dsbo/experiment/tasks"
	"dsbo/internal/cli"
	"dsbo/internal/num"
	"dsbo/models"
	"dsbo/tables"
	"dsbo/tables/features"
)

// Task returns the task that tunes the penalties of a model of the user's own tables.
func Task() experiment.Task {
	t := new(tune)
	return experiment.Task{
		Name: "tune", About: tuneAbout,
		Flags: t.flags, Load: t.load, Check: t.check, LocalFlags: []string{"data"}, Agents: t.agents,
		Example: "-data 'site{agent}.csv' -target diagnosis -drop patient -out model\n" +
			"  (with the files that dsbo init clinics makes, in the folder clinics)",
		First:       []string{"data", "target", "drop", "words", "task", "model"},
		Fingerprint: t.fingerprint, Describe: t.describe, Start: t.start, Sites: t.Sites,
		SiteFlags: func() experiment.Sites { return siteFlags(t) },
		AskSite:   func(a experiment.Agents) error { return askSite(t, a) },
		Presets: []experiment.Preset{experiment.PaperPreset(
			map[string]string{"folds": "0", "penalty": perFeature, "prior": "0", "refit": "none"})},
		TestFlag: "split", CrossFit: t.crossFit, Finish: t.finish, Ending: t.ending, Card: t.card,
	}
}

const tuneAbout = `tune the penalties of a model over tables that stay where they are

Each agent reads a table of its own, -data 'site{agent}.csv'; without {agent}, the rows of
one file are dealt to the agents. Means, deviations and categories are found by sums over
the training rows of all sites, a model is trained on them together, and its penalties are
tuned on their validation rows.`

// tune is what the flags of the task choose, and what Load has made of them.
type tune struct {
	data                  string             // rule of the sites' files
	target, weight        string             // columns
	features, drop, words list               // columns
	kind, loss            string             // of the target; of the model
	model, penalty        string             // by name; model "": open
	taken                 string             // the model that is taken, which is model but where that is open
	shared                string             // the penalty that is taken, which is penalty but for auto; "" before Load
	lasso                 lassoFlags         // of -penalty l1 and elastic
	hidden                tasks.Hidden       // sizes of hidden layers
	event                 string             // column of events, and perhaps the word for one
	ties                  string             // rule for tied events
	balance, alone        bool               // weigh classes alike; find each site's own model
	exchangeAlone         bool               // whether these models are exchanged
	rare                  int                // rows below which a word is no feature of its own
	rareClasses           string             // what becomes of classes with few rows
	missing               missing            // rule for missing values, and the words for them
	dates                 string             // order of dates
	split                 features.Shares    // shares of training, validation and test rows
	splitColumn           string             // column of the split; "": there is none
	folds                 string             // number of folds, or auto
	prior                 string             // deviation of log-penalties, or auto
	refit                 string             // which rows the kept model is solved with
	group                 groups             // blocks of features, by their names
	groupsFile            string             // the same from a file; "": none
	blocks                candidates.Blocks  // of features; the zero value: none are named, or before Load
	siteEffects           string             // whether sites have a level of their own
	siteSlopes            list               // columns of which they have slopes with it
	cost                  missCost           // cost of a missed example of each class
	from                  string             // earlier run or model; "": none
	asked                 *tables.Table      // which askSite has read; nil once Load has it
	prepared              *features.Prepared // nil before Load
	seed                  uint64             // of the run
	sites                 int                // sites whose rows prepared is based on: those at the
	// start
	earlier *earlier          // nil: there is none
	levels  candidates.Levels // of sites, that may be tried; the zero value: none
	center  []float64         // where λ starts, around which its prior is; nil: elsewhere
}

// A list is a flag of names with commas between.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

func (l *list) Set(text string) error {
	*l = nil
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			*l = append(*l, name)
		}
	}
	return nil
}

//go:embed flags.txt
var usages string

// flags is the task's Flags; what flags are for is in flags.txt.
func (t *tune) flags(f *flag.FlagSet) {
	*t = tune{split: features.DefaultShares, hidden: tasks.DefaultHidden, missing: missing{rule: features.MeanOfOthers},
		kind: auto, ties: efron, lasso: lassoFlags{"0.5", leastOne}, loss: squared, penalty: auto, siteEffects: "off",
		folds: auto, refit: auto, prior: auto}
	for name, to := range map[string]*string{"data": &t.data, "target": &t.target, "weight": &t.weight, "task": &t.kind,
		"event": &t.event, "ties": &t.ties, "l1-ratio": &t.lasso.ratio, "lambda": &t.lasso.lambda, "loss": &t.loss,
		"model": &t.model, "penalty": &t.penalty, "rare-classes": &t.rareClasses, "site-effects": &t.siteEffects,
		"dates": &t.dates, "from": &t.from, "split-column": &t.splitColumn, "folds": &t.folds,
		"groups": &t.groupsFile, "refit": &t.refit, "prior": &t.prior} {
		f.StringVar(to, name, *to, "")
	}
	for name, to := range map[string]flag.Value{"features": &t.features, "drop": &t.drop, "words": &t.words,
		"hidden": &t.hidden, "site-slopes": &t.siteSlopes, "missing": &t.missing, "group": &t.group, "cost": &t.cost} {
		f.Var(to, name, "")
	}
	f.TextVar(&t.split, "split", t.split, "")
	f.IntVar(&t.rare, "rare", 5, "")
	f.BoolVar(&t.balance, "balance", false, "")
	f.BoolVar(&t.alone, "alone", true, "")
	f.BoolVar(&t.exchangeAlone, "exchange-alone", false, "")
	cli.SetUsages(f, strings.ReplaceAll(usages, "{missing}", strings.Join(tables.MissingWords, " ")))
}

// Values of flags.
const (
	auto    = "auto"
	squared = "squared"
	huber   = "huber"
	linear  = "linear"
	network = "mlp"

	perFeature = "feature"
	allRows    = "all"
	onePenalty = "one"
	intercept  = "intercept"
)

// kinds are the values of -task.
var kinds = map[string]features.TargetKind{auto: "", "classification": features.Class, "regression": features.Value,
	"count": features.Counts, "survival": features.Survival}

// check is the task's Check. What one site may leave to its own command line is checked
// by Load.
func (t *tune) check() error {
	for _, c := range []struct{ flag, value, allowed string }{
		{"task", t.kind, "auto or classification or regression or count or survival"},
		{"ties", t.ties, "efron or breslow"},
		{"loss", t.loss, "squared or huber"},
		{"model", cmp.Or(t.model, linear), "linear or mlp or auto"},
		{"penalty", t.penalty, "auto or feature or group or layer or one or l1 or elastic"},
		{"refit", t.refit, "auto or all or none"},
		{"site-effects", t.siteEffects, "off or intercept or auto"},
		{"dates", cmp.Or(t.dates, "dmy"), "dmy or mdy"},
		{"rare-classes", cmp.Or(t.rareClasses, "merge"), "merge or drop"}, // "": they are refused
	} {
		if !slices.Contains(strings.Split(c.allowed, " or "), c.value) {
			return dsbo.ConfigErrorf("-%s must be %s; it is %s", c.flag, c.allowed, c.value)
		}
	}
	event, _ := eventOf(t.event)
	for _, c := range []struct{ flag, name string }{{"target", t.target}, {"event", event},
		{"weight", t.weight}, {"split-column", t.splitColumn}} {
		if c.name != "" && slices.Contains(t.drop, c.name) {
			return dsbo.ConfigErrorf("-drop must not name %s, which is the column of -%s", c.name, c.flag)
		}
	}
	if t.rare < 1 {
		return dsbo.ConfigErrorf("-rare must be at least 1; it is %d", t.rare)
	}
	if err := t.hidden.Check(t.model, network, auto); err != nil {
		return err
	}
	if _, err := t.deviation(); err != nil {
		return err
	}
	if t.exchangeAlone && !t.alone {
		return dsbo.ConfigErrorf(
			"-exchange-alone must not be given with -alone=false, by which there are no such models")
	}
	if t.model == auto && t.penalty != auto {
		return dsbo.ConfigErrorf("-penalty must be auto with -model auto; it is %s", t.penalty)
	}
	_, _, err := t.foldCount(false)
	return cmp.Or(checkSurvival(t), checkLasso(t), checkLevels(t), err)
}

// load reads the tables of the agents that are here and prepares them together with the tables of
// the others. It sets what t is after Load, and may be called again, so it resets the center. Its
// errors are of files, and of flags that do not fit the data.
func (t *tune) load(a experiment.Agents) (task data.Task, m models.Model, err error) {
	tables, err := t.read(a)
	if err != nil {
		return task, nil, err
	}
	if a.Log == nil {
		a.Log = func(string, ...any) {}
	}
	t.sites, t.seed, t.center = cmp.Or(a.Start, a.N), a.Seed, nil
	together := experiment.Recorded(a.Collective)
	sites, o := features.Sites{Tables: tables, Start: a.Start, Collective: together, Seed: a.Seed}, optionsOf(t)
	if o.Folds, o.FoldRows, err = t.foldCount(a.Private); err != nil {
		return task, nil, err
	}
	if a.Need != nil {
		sites.Rows = func(_ int, rows []int) error {
			return a.Need(func(r *site.Request) { r.AskRows(rows...) })
		}
	}
	if a.Private { // sums for a recipe of this run would reveal something of its rows
		t.prepared, err = t.prepareByEarlier(a, sites, o)
	} else {
		t.prepared, err = features.Prepare(sites, o)
	}
	if err != nil {
		return task, nil, err
	}
	if kind := t.targetKind(); t.loss != squared && kind != features.Value {
		return task, nil, dsbo.ConfigErrorf(
			"-loss %s is for regressions; the target %s is a %s (-task regression takes numbers as such)", t.loss,
			t.target, kind)
	}
	if t.cost.class != "" {
		if _, err := t.cost.check(t.prepared.Recipe.Target); err != nil {
			return task, nil, err
		}
	}
	for _, note := range t.prepared.Notes {
		a.Log("%s", note)
	}
	if t.earlier, err = findEarlier(t, a, together.Found); err != nil {
		return task, nil, err
	}
	t.choose(a.Log)
	t.levels, err = findLevels(t, a)
	if err = cmp.Or(err, t.nameBlocks()); err != nil {
		return task, nil, err
	}
	// Two models, as startFromEarlier fits x to a model's layers, and the prior is around that x.
	if m, err = t.newModel(a.Seed); err == nil {
		err = t.startFromEarlier(a, m)
	}
	if err == nil && t.earlier != nil { // whose penalties the prior is around
		t.center = t.earlier.x
		m, err = t.newModel(a.Seed)
	}
	return t.prepared.Data, t.inFolds(m), err
}

// targetKind returns the kind of the prepared target.
func (t *tune) targetKind() features.TargetKind { return t.prepared.Recipe.Target.Kind }

// newModel makes the model of the prepared examples.
func (t *tune) newModel(seed uint64) (models.Model, error) {
	r := t.prepared.Recipe
	m := models.Linear{Features: len(r.Features()), Outputs: max(1, len(r.Target.Classes)), Loss: t.outputLoss(),
		Penalties: t.penalties(r)}
	// with differential privacy nobody knows how many rows there are
	if d, _ := t.deviation(); d > 0 && t.prepared.Rows[1] > 0 { // which Check has read
		m.Prior = models.Prior{Deviation: d, Rows: float64(judgedRows(t.prepared, 1)),
			Residuals: r.Target.Kind == features.Value, Center: t.center}
	}
	if r.Target.Kind == features.Counts { // from e⁰, Newton's first step to large counts would go far too far
		m.Intercepts = []float64{num.Log(r.Target.Mean)}
	}
	if t.taken != network {
		return m, nil
	}
	hidden, err := t.hidden.Units()
	return models.MLP{Features: m.Features, Outputs: m.Outputs, Hidden: hidden, Loss: m.Loss, Penalties: m.Penalties,
		Intercepts: m.Intercepts, Prior: m.Prior, Seed: seed}, err
}

// outputLoss returns the loss of the prepared target.
func (t *tune) outputLoss() models.OutputLoss {
	switch t.targetKind() {
	case features.Class:
		return models.CrossEntropy{}
	case features.Counts:
		return models.Poisson{Most: t.prepared.Recipe.Target.Most}
	case features.Survival:
		return models.Cox{Breslow: t.ties == breslow}
	}
	if t.loss == huber {
		return models.Huber{}
	}
	return models.Squared{}
}

// penalties returns which weights share a penalty.
func (t *tune) penalties(r features.Recipe) models.Penalties {
	switch t.shared {
	case "group":
		return models.PerGroup{Of: r.Groups()}
	case "layer":
		return models.PerLayer{}
	case onePenalty, auto, lasso, elastic: // by which structures begin
		return models.OnePenalty{}
	}
	return models.PerFeature{}
}
