// Package tune is the task of tables of the user's own: which columns and files its flags name, how
// rows are dealt to folds, which penalties and networks are tried, and what is told of the model at
// the end.
package tune

import (
	"cmp"
	"flag"
	"slices"
	"strings"

	"dsbo"
	"dsbo/data"
	"dsbo/experiment"
	"dsbo/experiment/candidates"
	"dsbo/experiment/site"
	"dsbo/experiment/tasks"
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
		Flags: t.Flags, Load: t.Load, Check: t.Check, LocalFlags: []string{"data"}, Agents: t.Agents,
		Example: "-data 'site{agent}.csv' -target diagnosis -drop patient -out model\n" +
			"  (with the files that dsbo init clinics makes, in the folder clinics)",
		First:       []string{"data", "target", "drop", "words", "task", "model"},
		Fingerprint: t.Fingerprint, Describe: t.Describe, Start: t.Start, Sites: t.Sites,
		SiteFlags: func() experiment.Sites { return siteFlags(t) },
		AskSite:   func(a experiment.Agents) error { return askSite(t, a) },
		Presets: []experiment.Preset{experiment.PaperPreset(
			map[string]string{"folds": "0", "penalty": perFeature, "prior": "0", "refit": "none"})},
		TestFlag: "split", CrossFit: t.crossFit, Finish: t.Finish, Ending: t.Ending, Card: t.Card,
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
	splitColumn           string             // column that says it; "": there is none
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
	prepared              *features.Prepared // nil before Load
	seed                  uint64             // of the run
	sites                 int                // of whose rows prepared tells: those at the start
	earlier               *earlier           // nil: there is none
	levels                candidates.Levels  // of sites, that may be tried; the zero value: none
	center                []float64          // where λ starts, around which its prior is; nil: elsewhere
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

func (t *tune) Flags(f *flag.FlagSet) {
	*t = tune{split: features.DefaultShares, hidden: tasks.DefaultHidden, missing: missing{rule: features.MeanOfOthers}}
	f.StringVar(&t.data, "data", "",
		"`file` of each agent, such as 'site{agent}.csv', of which an agent opens its own alone: site0.csv is that "+
			"of agent 0, or site1.csv if there is no site0.csv; without {agent} the rows of one file are dealt to "+
			"the agents, and over gRPC it is the agent's own")
	f.StringVar(&t.target, "target", "", "`column` to predict; label in LIBSVM files")
	f.Var(&t.features, "features", "`columns` to learn from, with commas between (default: all)")
	f.Var(&t.drop, "drop", "`columns` to leave out, with commas between")
	f.Var(&t.words, "words", "`columns` of words, with commas between, whose words look like numbers")
	f.StringVar(&t.weight, "weight", "", "`column` of the rows' weights: a row of weight k is k rows in all that is "+
		"found and told, one of 0 is not there; weights that are not all whole are scaled to sum to (Σ w)²/Σ w² "+
		"rows (default: all weigh 1)")
	f.StringVar(&t.kind, "task", auto,
		"`kind` of the target: classification, regression, count, or survival, times until an -event; auto takes "+
			"words, and whole numbers of at most 20 values, for classes")
	addSurvivalFlags(f, t)
	t.lasso.addFlags(f)
	f.StringVar(&t.loss, "loss", squared, "`loss` of a regression: squared, or huber, which outliers pull less")
	f.StringVar(&t.model, "model", "", "`name` of the model: linear; mlp, a network; auto, the best of both by folds "+
		"(default: auto with 10 rows a feature, up to 10⁶ numbers, no -penalty, -folds, -group, -from; else linear)")
	f.Var(&t.hidden, "hidden", "`units` of the hidden layers of mlp, such as 64,32, or of the only network of auto")
	f.StringVar(&t.penalty, "penalty", auto,
		"`what` has a penalty of its own: feature; group, all features of one column; layer; or one for all; auto: "+
			"with folds, the structure by which penalties differ from feature to feature, such as by the size of its "+
			"weight, whose cross-fitted loss is least; without, feature where there are 4 training and validation "+
			"rows of all sites for each feature, else one; l1 or elastic: a lasso or an elastic net")
	f.StringVar(&t.rareClasses, "rare-classes", "",
		"`what` becomes of rows whose class no site has in 5 rows, so that its name does not leave: merge, one class "+
			"of all of them; or drop, they are left out (default: they are an error)")
	t.addReadingFlags(f)
	f.TextVar(&t.split, "split", features.DefaultShares,
		"`shares` of a site's rows for training, validation and test, by the seed, each class in proportion")
	f.BoolVar(&t.alone, "alone", true,
		"find what each site could do alone, and compare it with what all do together: every site then sees the test "+
			"losses and accuracies of each (default true)")
	f.BoolVar(&t.exchangeAlone, "exchange-alone", false,
		"let every site see the model that each site finds alone, and try it on its own test rows; where all are in "+
			"one process that is shown in any case")
	f.StringVar(&t.from, "from", "",
		"`folder` of an earlier run of tune, perhaps of other sites: λ and the model start at its own, by the names "+
			"of features, but for a run of the same rows and seed; {agent} is the number of the agent")
	f.StringVar(&t.splitColumn, "split-column", "", "`column` with the words train, validation and test, for -split")
	f.StringVar(&t.folds, "folds", auto,
		"`parts` of the training and validation rows for cross-validation, of which each validates a model of the "+
			"others, so that all rows train and tune, and the model that is kept has all of them; 0: none; auto: 5 "+
			"for a linear model of at most 20000 such rows of all sites, else none")
	f.Var(&t.group, "group",
		"`groups` of columns with a penalty each, as one more structure of -penalty auto, such as "+
			"'omics=gene_*,lab=*_mmol'; columns of no group are one")
	f.StringVar(&t.groupsFile, "groups", "", "`file` with a group a line, as -group has them with commas between")
	f.StringVar(&t.refit, "refit", auto, "whether the kept linear model has the test `rows` too, once they have "+
		"judged the model of the others: all, or none; auto: all, but none where -split-column names them")
	f.StringVar(&t.prior, "prior", auto,
		"standard `deviation` of log-penalties around a common value, or the λ of -from, or of the structures with "+
			"which -penalty feature begins; 0, and with differential privacy: none; auto: 0.5 around these, else 1")
	t.cost.addFlag(f)
}

// addReadingFlags adds the flags of how values are read, and classes and sites told apart.
func (t *tune) addReadingFlags(f *flag.FlagSet) {
	f.StringVar(&t.siteEffects, "site-effects", "off",
		"whether each site has a `level` of its own, which does not leave it: intercept; off; or auto, by folds")
	f.Var(&t.siteSlopes, "site-slopes", "`columns`, with commas between, whose slopes are each site's own beside the "+
		"common ones, as -site-effects has levels")
	f.IntVar(&t.rare, "rare", 10,
		"a word that is in fewer training `rows` of all sites together is one of the rare ones, which share a "+
			"feature; so is one that no site has in 5 training rows")
	f.BoolVar(&t.balance, "balance", false, "give all classes the same weight in training and validation")
	f.Var(&t.missing, "missing",
		"`what` takes the place of missing values: mean, with a feature that says where; or refuse, which makes "+
			"them an error; and the words for them in files, such as 'NA,.', where lab=<5 is a word of column lab "+
			"alone, and lab= says that it has none (default: mean, "+strings.Join(tables.MissingWords, " ")+")")
	f.StringVar(&t.dates, "dates", "", "`order` of dates such as 1/2/2006: dmy or mdy (default: found)")
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

// Check is the task's. What one site may leave to its own command line is checked
// by Load.
func (t *tune) Check() error {
	for _, c := range []struct {
		flag, value string
		allowed     []string
	}{
		{"task", t.kind, []string{auto, "classification", "regression", "count", "survival"}},
		{"ties", t.ties, []string{efron, breslow}},
		{"loss", t.loss, []string{squared, huber}},
		{"model", cmp.Or(t.model, linear), []string{linear, network, auto}},
		{"penalty", t.penalty, []string{auto, perFeature, "group", "layer", onePenalty, lasso, elastic}},
		{"refit", t.refit, []string{auto, allRows, "none"}},
		{"site-effects", t.siteEffects, []string{"off", intercept, auto}},
		{"dates", cmp.Or(t.dates, "dmy"), []string{"dmy", "mdy"}},
		{"rare-classes", cmp.Or(t.rareClasses, string(features.MergeRare)), // "": they are refused
			[]string{string(features.MergeRare), string(features.DropRare)}},
	} {
		if !slices.Contains(c.allowed, c.value) {
			return dsbo.ConfigErrorf("-%s must be %s; it is %s", c.flag,
				strings.Join(c.allowed, " or "), c.value)
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
	if err := checkSurvival(t); err != nil {
		return err
	}
	if err := checkLasso(t); err != nil {
		return err
	}
	if err := checkLevels(t); err != nil {
		return err
	}
	_, _, err := t.foldCount(false)
	return err
}

// Load reads the tables of the agents that are here and prepares them together with the tables of
// the others.
func (t *tune) Load(a experiment.Agents) (data.Task, models.Model, error) {
	tables, err := t.read(a)
	if err != nil {
		return data.Task{}, nil, err
	}
	if a.Log == nil {
		a.Log = func(string, ...any) {}
	}
	t.sites, t.seed, t.center = cmp.Or(a.Start, a.N), a.Seed, nil
	folds, foldRows, err := t.foldCount(a.Private)
	if err != nil {
		return data.Task{}, nil, err
	}
	together := experiment.Recorded(a.Collective)
	sites, o := features.Sites{Tables: tables, Start: a.Start, Collective: together, Seed: a.Seed}, optionsOf(t)
	o.Folds, o.FoldRows = folds, foldRows
	if a.Need != nil {
		sites.Rows = func(_ int, rows []int) error {
			return a.Need(func(r *site.Request) { r.AskRows(rows...) })
		}
	}
	if a.Private {
		t.prepared, err = t.prepareByEarlier(a, sites, o)
	} else {
		t.prepared, err = features.Prepare(sites, o)
	}
	if err != nil {
		return data.Task{}, nil, err
	}
	if kind := t.prepared.Recipe.Target.Kind; t.loss != squared && kind != features.Value {
		return data.Task{}, nil, dsbo.ConfigErrorf(
			"-loss %s is for regressions; the target %s is a %s (-task regression takes numbers as such)", t.loss,
			t.target, kind)
	}
	if t.cost.class != "" {
		if _, err := t.cost.check(t.prepared.Recipe.Target); err != nil {
			return data.Task{}, nil, err
		}
	}
	for _, note := range t.prepared.Notes {
		a.Log("%s", note)
	}
	if t.earlier, err = findEarlier(t, a, together.Found); err != nil {
		return data.Task{}, nil, err
	}
	t.choose(a.Log)
	t.levels, err = findLevels(t, a)
	if err = cmp.Or(err, t.nameBlocks()); err != nil {
		return data.Task{}, nil, err
	}
	m, err := t.newModel(a.Seed)
	if err == nil {
		err = t.startFromEarlier(a, m)
	}
	if err == nil && t.earlier != nil { // whose penalties the prior is around
		t.center = t.earlier.x
		m, err = t.newModel(a.Seed)
	}
	return t.prepared.Data, t.inFolds(m), err
}

// newModel makes the model of the prepared examples.
func (t *tune) newModel(seed uint64) (models.Model, error) {
	r := t.prepared.Recipe
	inputs, outputs := len(r.Features()), max(1, len(r.Target.Classes))
	loss, penalties := t.outputLoss(r.Target.Kind), t.penalties(r)
	var prior models.Prior
	// with differential privacy nobody knows how many rows there are
	if d, _ := t.deviation(); d > 0 && t.prepared.Rows[1] > 0 { // which Check has read
		prior = models.Prior{Deviation: d, Rows: float64(judgedRows(t.prepared, 1)),
			Residuals: r.Target.Kind == features.Value, Center: t.center}
	}
	var start []float64
	if r.Target.Kind == features.Counts { // from e⁰, Newton's first step to large counts would go far too far
		start = []float64{num.Log(r.Target.Mean)}
	}
	if t.taken != network {
		return models.Linear{Features: inputs, Outputs: outputs, Loss: loss, Penalties: penalties, Intercepts: start,
			Prior: prior}, nil
	}
	hidden, err := t.hidden.Units()
	return models.MLP{Features: inputs, Outputs: outputs, Hidden: hidden, Loss: loss, Penalties: penalties,
		Intercepts: start, Prior: prior, Seed: seed}, err
}

// outputLoss returns the loss of a kind of target.
func (t *tune) outputLoss(kind features.TargetKind) models.OutputLoss {
	switch {
	case kind == features.Class:
		return models.CrossEntropy{}
	case kind == features.Counts:
		return models.Poisson{Most: t.prepared.Recipe.Target.Most}
	case kind == features.Survival:
		return models.Cox{Breslow: t.ties == breslow}
	case t.loss == huber:
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
