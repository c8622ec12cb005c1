package experiment

import (
	"io"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/algo/algotest"
	"dsbo/data"
	"dsbo/experiment/candidates"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
)

// TestFewTestRows: a site with 19 test rows shows nothing of them but their number, one with 20
// shows its sums.
func TestFewTestRows(t *testing.T) {
	for n, shown := range map[float64]bool{19: false, 20: true} {
		sums := shownSums([]float64{n, 1, 2, 3, 4, 5, 6, 7})
		if sums[0] != n || slices.ContainsFunc(sums[1:], math.IsNaN) == shown || len(sums) != siteNumbers {
			t.Errorf("%g test rows: %v", n, sums)
		}
	}
}

// TestSiteOf: the change by joining is the kept model's mean loss less the own one's, and its error
// is of the paired differences, by n − 1.
func TestSiteOf(t *testing.T) {
	own, constant, tuned := []float64{3, 1, 4, 1}, []float64{2, 2, 2, 2}, []float64{1, 1, 2, 3}
	for _, kept := range [][]float64{constant, tuned} {
		var row [siteNumbers]float64
		row[0] = float64(len(own))
		mean, square := 0., 0.
		for e := range own {
			for k, losses := range [][]float64{own, constant, tuned} {
				row[1+2*k] += losses[e]
			}
			d := kept[e] - own[e]
			row[siteNumbers-1] += d * d
			mean += d / 4
		}
		for e := range own {
			square += (kept[e] - own[e] - mean) * (kept[e] - own[e] - mean) / 3
		}
		row[2], row[4], row[6] = 1, 2, 3 // right answers
		m := candidates.NewModel("", 0, nil)
		m.Kept = &kept[0] == &tuned[0]
		s := siteOf("", row[:], m)
		if !(math.Abs(float64(s.Change)-mean) <= 1e-12) ||
			!(math.Abs(float64(s.ChangeError)-math.Sqrt(square/4)) <= 1e-12) ||
			s.Alone.Accuracy.Known() {
			t.Errorf("%+v; want %g ± %g, and no right answers of numbers", s, mean, math.Sqrt(square/4))
		}
		m.TestAccuracy = .5
		if s := siteOf("", row[:], m); s.Alone.Accuracy != .25 || s.Constant.Accuracy != .5 || s.Tuned.Accuracy != .75 {
			t.Errorf("%+v; want accuracies .25, .5, .75", s)
		}
	}
}

// TestUnited: a model of three folds becomes one model, the mean, in each fold, whose loss is then
// the score; a model of another length stays.
func TestUnited(t *testing.T) {
	folds := models.Folds{Of: models.Linear{Features: 2, Outputs: 1, Loss: models.Squared{}}, Count: 3}
	y := []float64{1, 2, 3, 4, 5, 6, 7, 8, 12} // weights of each, then intercepts
	got := united(folds, train.Fit{Y: y}).Y
	if want := []float64{3, 4, 3, 4, 3, 4, 9, 9, 9}; !slices.Equal(got, want) || y[0] != 1 {
		t.Errorf("%v, want %v", got, want)
	}
	if one := []float64{1, 2, 3}; !slices.Equal(united(folds, train.Fit{Y: one}).Y, one) {
		t.Error("a model of all examples has changed")
	}
	if other := united(folds.Of, train.Fit{Y: y}).Y; !slices.Equal(other, y) {
		t.Errorf("a model without folds has become %v", other)
	}
}

// TestChangeOutcome is of [runs.Site], whose limits follow from the numbers of siteOf.
func TestChangeOutcome(t *testing.T) {
	s := runs.Site{Examples: 60, Change: -2.5, ChangeError: 1}
	// Student's quantiles of 59 degrees are 2.001 at .975, 2.464 at 1 − .05/6; times 1 + 1/√60
	// they are 2.259 and 2.782
	if one, three := s.ChangeOutcome(1), s.ChangeOutcome(3); one != runs.Better || three != runs.Same {
		t.Errorf("of one site %s, of three %s", one, three)
	}
}

// TestExchangedRows: what all see of each site is its scores, where sites are compared, and its own
// model too, where these are exchanged among 32 sites at most.
func TestExchangedRows(t *testing.T) {
	score := new(problem)
	score.Score = func(int, train.Fit) (train.Scores, error) { panic("a plan asks for no scores") }
	score.model = models.Logistic{Features: 3}
	for _, c := range []struct {
		sites  Sites
		agents int
		of     *problem
		want   []float64 // lengths
	}{
		{Sites{}, 3, score, nil}, {Sites{Exchange: true}, 3, score, nil}, {Sites{Compare: true}, 3, new(problem), nil},
		{Sites{Compare: true}, 3, score, []float64{8}},
		{Sites{Compare: true, Exchange: true}, 3, score, []float64{8, 6, 6}},
		{Sites{Compare: true, Exchange: true}, 32, score, []float64{8, 6, 64}},
		{Sites{Compare: true, Exchange: true}, 33, score, []float64{8}},
	} {
		r := ofJob(&Job{Task: Task{Sites: func() Sites { return c.sites }}}, run{})
		r.settings.Agents = c.agents
		var got []float64
		for _, q := range r.exchangedRows(c.of) {
			got = append(got, q.Length)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v, %d agents: rows of %v numbers, want %v", c.sites, c.agents, got, c.want)
		}
	}
}

// TestOthersAlone: each site has the loss and the accuracy of the models of all, in the sites'
// order; none of a model that was not found, and none where it has fewer than 20 test rows.
func TestOthersAlone(t *testing.T) {
	p := train.Problem{Oracles: slices.Repeat([]dsbo.Oracle{struct{ dsbo.Oracle }{}}, 4)}
	p.Score = func(i int, m train.Fit) (s train.Scores, err error) {
		s.Test = train.Score{Rows: 10, Losses: m.X[0] + float64(100*i), Right: m.Y[0]}
		return s, nil
	}
	e := &ending{run: ofJob(new(Job), run{})}
	e.problem.model = models.Logistic{Features: 3}
	nx, ny := e.problem.model.Dims()
	own := make([]train.Fit, 4)
	for i := range own[:3] { // the last one found none
		own[i] = train.Fit{X: slices.Repeat([]float64{float64(10 + i)}, nx),
			Y: slices.Repeat([]float64{float64(1 + i)}, ny)}
	}
	sites := []runs.Site{{Examples: 20}, {Examples: 19}, {Examples: 21}, {Examples: 90}}
	testkit.OK(e.exchangeSiteModels(t.Context(), sites, p, own))
	for i, s := range sites {
		if len(s.OthersAlone) != 4 {
			t.Fatalf("site %d has %d scores", i, len(s.OthersAlone))
		}
		for k, got := range s.OthersAlone {
			loss, accuracy := runs.Number(float64(10+k+100*i)/10), runs.Number(float64(1+k)/10)
			if k == 3 || i == 1 {
				if got.Loss.Known() || got.Accuracy.Known() {
					t.Errorf("site %d, model of site %d: %+v, want none", i, k, got)
				}
			} else if got.Loss != loss || got.Accuracy != accuracy {
				t.Errorf("site %d, model of site %d: %+v, want %v and %v", i, k, got, loss, accuracy)
			}
		}
	}
}

// TestSiteSums: a site's numbers are its rows, losses and right answers of three models, and the
// squares of how far the losses of the kept one are from its own model's, example by example.
func TestSiteSums(t *testing.T) {
	losses := map[float64][]float64{1: {3, 1, 4}, 2: {2, 2, 2}, 3: {1, 1, 8}} // by y
	view := make([]float64, 3)                                                // which each call overwrites
	p := train.Problem{Each: func(_ int, set train.Set, m train.Fit) (train.Each, error) {
		if set != train.TestSet {
			t.Errorf("set %v", set)
		}
		copy(view, losses[m.Y[0]])
		return train.Each{Losses: view, Hits: []float64{1, 0, m.Y[0] - 1}}, nil
	}}
	f := candidates.New(p, "λ", 1, nil, nil, nil)
	of := func(y float64, kept bool) *candidates.Model {
		m := candidates.NewModel("", 0, nil)
		m.Y, m.Finder, m.Kept = []float64{y}, f, kept
		return m
	}
	e := new(ending)
	for _, c := range []struct {
		kept int
		last float64
	}{{2, 1 + 1 + 4}, {3, 4 + 0 + 16}} {
		got := testkit.Get(e.siteSums(0, p, train.Fit{Y: []float64{1}}, of(2, c.kept == 2), of(3, c.kept == 3)))
		if want := []float64{3, 8, 1, 6, 2, 10, 3, c.last}; !slices.Equal(got, want) {
			t.Errorf("model %d is kept: %v, want %v", c.kept, got, want)
		}
	}
	got := testkit.Get(e.siteSums(0, p, train.Fit{}, of(2, false), of(3, true)))
	if !math.IsNaN(got[1]) || !math.IsNaN(got[2]) || !math.IsNaN(got[siteNumbers-1]) || got[5] != 10 {
		t.Errorf("without a model of its own: %v", got)
	}
}

// TestGainsOf: gains have the validation loss at the start where it is known, and there are none of
// a model that is not finite.
func TestGainsOf(t *testing.T) {
	p := train.Problem{Oracles: []dsbo.Oracle{algotest.NewQuadratics(1, 1, 1, 1)[0]},
		Each: func(_ int, _ train.Set, m train.Fit) (train.Each, error) {
			return train.Each{Losses: []float64{m.Y[0], m.Y[0] + 1}}, nil
		}}
	f := candidates.New(p, "λ", 1, nil, nil, nil)
	of := func(y ...float64) *candidates.Model {
		m := candidates.NewModel("", 0, []float64{0})
		m.Y, m.Finder = y, f
		return m
	}
	for start, want := range map[runs.Number]runs.Number{7: 7, 0: 0, runs.Unknown(): 0} {
		gains := testkit.Get(gainsOf(t.Context(), of(1), of(3), start))
		if len(gains) != 3 || gains[2].LossStart != want || gains[0].LossChange != -2 {
			t.Errorf("start %g: %+v", start, gains)
		}
	}
	for _, pair := range [][2]*candidates.Model{{of(), of(3)}, {of(1), of()}} {
		if gains := testkit.Get(gainsOf(t.Context(), pair[0], pair[1], 7)); gains != nil {
			t.Errorf("%+v without a model", gains)
		}
	}
}

// TestSitesNotCompared: sites are compared where the task asks for it, both models are there, and
// the model scores examples.
func TestSitesNotCompared(t *testing.T) {
	found, none := &candidates.Model{Y: []float64{1}}, new(candidates.Model)
	score := func(int, train.Fit) (s train.Scores, err error) { return s, nil }
	for name, c := range map[string]struct {
		asked           bool
		constant, tuned *candidates.Model
		score           func(int, train.Fit) (train.Scores, error)
	}{"not asked": {false, found, found, score}, "no constant": {true, none, found, score},
		"none tuned": {true, found, none, score}, "no scores": {true, found, found, nil}} {
		e := &ending{run: ofJob(&Job{Task: Task{Sites: func() Sites { return Sites{Compare: c.asked} }}}, run{})}
		e.problem.Score = c.score
		if err := e.compareSites(t.Context(), nil, c.constant, c.tuned); err != nil || e.summary.Sites != nil {
			t.Errorf("%s: %v, error %v", name, e.summary.Sites, err)
		}
	}
}

// TestSitesOfConstants: without structures a site alone has the best constant of its own rows; what
// it gives is counted among what is sent where its model may leave it.
func TestSitesOfConstants(t *testing.T) {
	var sent []int64
	for _, exchange := range []bool{false, true} {
		task := newMean()
		task.Sites = func() Sites { return Sites{Compare: true, Exchange: exchange} }
		folder := runs.Folder(filepath.Join(t.TempDir(), "run"))
		testkit.OK(runIn(t, task, string(folder), "-agents=3 -rows=30 -K=2 -dtype=float64"))
		s := testkit.Get(folder.ReadSummary())
		sent = append(sent, s.Traffic.Models.Floats)
		if len(s.Sites) != 3 || s.AllSites == nil || s.AllSites.Examples != 1500 {
			t.Fatalf("sites %+v, all %+v", s.Sites, s.AllSites)
		}
		for _, of := range s.Sites {
			if !(of.Alone.Loss > 0) || of.Alone.Loss == of.Constant.Loss || !of.Alone.Accuracy.Known() ||
				len(of.OthersAlone) != 3 {
				t.Errorf("%+v", of)
			}
		}
	}
	if !(sent[0] < sent[1]) {
		t.Errorf("%d numbers are sent, and %d where models of sites leave them", sent[0], sent[1])
	}
}

// TestManySites: models of 32 sites are tried at each other, and of 33 none is, nor one that would
// have to leave its process without permission.
func TestManySites(t *testing.T) {
	e := &ending{run: ofJob(new(Job), run{})}
	sites, here := make([]runs.Site, 3), train.Problem{Team: labelled{}} // which ends where something is sent
	testkit.OK(e.exchangeSiteModels(t.Context(), sites, here, make([]train.Fit, 3)))
	for n, want := range map[int]int{mostCrossed: mostCrossed, mostCrossed + 1: 0} {
		p := train.Problem{Oracles: slices.Repeat([]dsbo.Oracle{struct{ dsbo.Oracle }{}}, n)}
		p.Score = func(int, train.Fit) (s train.Scores, err error) { return s, nil }
		e := &ending{run: ofJob(new(Job), run{})}
		e.problem.model = models.Logistic{Features: 1}
		sites := make([]runs.Site, n)
		testkit.OK(e.exchangeSiteModels(t.Context(), sites, p, make([]train.Fit, n)))
		if got := len(sites[0].OthersAlone); got != want {
			t.Errorf("%d sites: each is scored by %d models, want %d", n, got, want)
		}
	}
}

// roomy is a model without a lower loss where a number of the training examples is below 0.
type roomy struct{ models.Logistic }

func (m roomy) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	room := ad.SumAll(ad.Log(b.Column("room")))
	return ad.Add(m.Logistic.Lower(x, y, b), ad.Scale(1e-300, ad.ScaleBy(room, ad.Dot(y, y))))
}

// TestSiteWithoutModel: a site that finds no model alone has the scores of all others' models and
// of the joint ones, and nothing of its own; the row of all sites is left out then.
func TestSiteWithoutModel(t *testing.T) {
	for lacks := range 4 { // 3: none
		task := newMean()
		load := task.Load
		task.Load = func(a Agents) (data.Task, models.Model, error) {
			set, m, err := load(a)
			for i := range set.Shards {
				room := slices.Repeat([]float64{1}, set.Shards[i].Train.Len())
				if i == lacks {
					room[0] = -1
				}
				set.Shards[i].Train.Columns = []data.Column{{Name: "room",
					Table: testkit.Get(ad.FloatTable(len(room), 1, room))}}
			}
			return set, roomy{m.(models.Logistic)}, err
		}
		j := testkit.Get(Parse(task, []string{"-agents=3", "-rows=30"}, io.Discard))
		r, p := testkit.Get2(j.poseHere(t.Context()))
		e := &ending{run: r, problem: p, result: &train.Result{X: make([]float64, 3)}}
		f := candidates.New(p.Problem, "λ", 3, nil, nil, nil)
		joint := candidates.NewModel("", 0, make([]float64, 3))
		joint.Y, joint.Finder, joint.Kept = []float64{1, 0, -1}, f, true
		joint.TestAccuracy = 1
		got := testkit.Get(e.findSites(t.Context(), nil, joint, joint))
		if (got.All == nil) != (lacks < 3) {
			t.Errorf("site %d has no model of its own: of all sites %+v", lacks, got.All)
		}
		for i, s := range got.Sites {
			if own := i != lacks; s.Alone.Loss.Known() != own || s.Alone.Accuracy.Known() != own ||
				s.Change.Known() != own || !s.Tuned.Loss.Known() {
				t.Errorf("site %d has no model of its own; site %d: %+v", lacks, i, s)
			}
		}
	}
}
