package candidates_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/experiment/candidates"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
)

// glmnetCases are what testdata/glmnet.R has found.
type glmnetCases struct {
	X                                             [][]float64
	Gaussian, Binomial, Multinomial, Poisson, Cox []float64
	Cases                                         []struct {
		Family       string
		Alpha, First float64
		Lambda, Loss []float64
		Coef         [][]float64 // of each λ; classes one after the other, each after its intercept
	}
}

// readGlmnet reads them.
func readGlmnet() (all glmnetCases) {
	testkit.OK(json.Unmarshal(testkit.Get(os.ReadFile("testdata/glmnet.json")), &all))
	return all
}

// problem returns the problem of a family on the rows of three unlike sites, in three folds.
func (g glmnetCases) problem(family string) candidates.CrossFit {
	classes := map[string]int{"binomial": 2, "multinomial": 3}[family]
	target := map[string][]float64{"gaussian": g.Gaussian, "binomial": g.Binomial, "multinomial": g.Multinomial,
		"poisson": g.Poisson, "cox": g.Cox}[family]
	loss := map[string]models.OutputLoss{"gaussian": models.Squared{}, "poisson": models.Poisson{},
		"cox": models.Cox{Breslow: true}}[family]
	const folds = 3
	d := len(g.X[0])
	linear := models.Linear{Features: d, Outputs: max(1, classes), Loss: loss}
	cross := data.Task{Features: d, Classes: classes}
	all, from := cross, 0
	sites := []int{30, 24, 18}
	if family == "cox" { // sites would be strata
		sites = []int{len(g.X)}
	}
	for _, n := range sites {
		var x []float64
		of, weights, labels := make([]int, n), make([]float64, n), make([]uint8, n)
		for row := range n {
			x = append(x, g.X[from+row]...)
			of[row], weights[row] = row%folds, float64(len(sites)*n)/float64(len(g.X))
			labels[row] = uint8(max(0, target[from+row]))
		}
		e := data.Examples{X: testkit.Get(ad.FloatTable(n, d, x)), Weight: testkit.Get(ad.FloatTable(n, 1, weights))}
		if classes > 0 {
			e.Target = testkit.Get(ad.LabelTable(labels, classes))
		} else {
			e.Target = testkit.Get(ad.FloatTable(n, 1, target[from:][:n]))
		}
		tr, va := e, e
		var err error
		tr.Weight, va.Weight, err = models.FoldWeights(of, folds, e.Weight)
		testkit.OK(err)
		cross.Shards = append(cross.Shards, data.Shard{Train: tr, Val: va})
		all.Shards, from = append(all.Shards, data.Shard{Train: e, Val: e}), from+n
	}
	m := models.Folds{Of: linear, Count: folds, Apart: true}
	return candidates.CrossFit{Model: m, Problem: testkit.Get(train.NewProblem(cross, m, models.Config{})), Data: cross,
		All: testkit.Get(train.NewProblem(all, linear, models.Config{})), Variance: family == "gaussian",
		Lasso: &candidates.Lasso{Ratio: 1, All: all.Shards}}
}

// TestGlmnet: models of sites that share sums are glmnet's of the rows together, and so are
// cross-fitted losses.
func TestGlmnet(t *testing.T) {
	g := readGlmnet()
	for _, c := range g.Cases {
		t.Run(fmt.Sprint(c.Family, " ", c.Alpha), func(t *testing.T) {
			f := g.problem(c.Family)
			one := models.Folds{Of: f.Model.Of, Count: 1}
			s, u, err := candidates.NewSparse(t.Context(), f.All, f.Lasso.All, one, nil)
			testkit.OK(err)
			if first := s.Strongest() / c.Alpha; math.Abs(first-c.First) > 1e-6*c.First {
				t.Errorf("weights begin at λ = %.9g, want %.9g", first, c.First)
			}
			for k, lambda := range c.Lambda {
				y := testkit.Get(s.At(u, lambda, c.Alpha, 1e-11))
				worst := 0.0
				for j, got := range glmnetOrder(f.Model.Of, y, len(c.Coef[k])) {
					worst = max(worst, math.Abs(got-c.Coef[k][j])/(1+math.Abs(c.Coef[k][j])))
				}
				t.Logf("λ = %.3g: off by %.2g, %d gradients, %d products", lambda, worst, s.Gradients, s.Products)
				if !(worst < 1e-6) {
					t.Errorf("λ = %g: %.6f, want %.6f", lambda, glmnetOrder(f.Model.Of, y, len(c.Coef[k])), c.Coef[k])
				}
			}
			if len(c.Loss) == 0 {
				return
			}
			parts, u, err := f.Sparse(t.Context())
			testkit.OK(err)
			for k, lambda := range c.Lambda {
				y := testkit.Get(parts.At(u, lambda, c.Alpha, 1e-9))
				if loss := testkit.Get(f.Judged(t.Context(), y)); math.Abs(loss-c.Loss[k]) > 1e-6*c.Loss[k] {
					t.Errorf("λ = %g: the cross-fitted loss is %.9g, want %.9g", lambda, loss, c.Loss[k])
				}
			}
		})
	}
}

// glmnetOrder returns the coefficients of a linear model in glmnet's order, n of them.
func glmnetOrder(of models.Linear, y []float64, n int) (all []float64) {
	d := of.Features
	for k := range of.Outputs {
		weights := y[k*d:][:d]
		if n > d {
			all = append(all, y[of.Outputs*d+k])
		}
		all = append(all, weights...)
	}
	if of.Outputs == 2 {
		for j := range n {
			all[j] = all[n+j] - all[j]
		}
	}
	return all[:n]
}

// TestLassoSlopes: the derivatives of the cross-fitted loss by log λ and by α are differences of
// it, where the support stays.
func TestLassoSlopes(t *testing.T) {
	g := readGlmnet()
	for _, family := range []string{"gaussian", "binomial", "multinomial", "poisson", "cox"} {
		for _, ratio := range []float64{1, 0.7} {
			t.Run(fmt.Sprint(family, " ", ratio), func(t *testing.T) {
				f := g.problem(family)
				s, u, err := f.Sparse(t.Context())
				testkit.OK(err)
				loss := func(lambda, ratio float64) float64 {
					return testkit.Get(f.Judged(t.Context(), testkit.Get(s.At(u, lambda, ratio, 1e-13))))
				}
				lambda, h := 0.15*s.Strongest(), 1e-4
				loss(lambda, ratio)
				byStrength, byRatio, err := s.Slopes(u)
				testkit.OK(err)
				central := (loss(lambda*math.Exp(h), ratio) - loss(lambda*math.Exp(-h), ratio)) / (2 * h)
				if math.Abs(byStrength-central) > 1e-6*(0.01+math.Abs(central)) {
					t.Errorf("by log λ %.9g, by differences %.9g", byStrength, central)
				}
				if ratio < 1 {
					central = (loss(lambda, ratio+h) - loss(lambda, ratio-h)) / (2 * h)
					if math.Abs(byRatio-central) > 1e-6*(0.01+math.Abs(central)) {
						t.Errorf("by α %.9g, by differences %.9g", byRatio, central)
					}
				}
			})
		}
	}
}

// TestLassoStructure: the lasso that a run keeps has a loss that no λ of the path has, at a slope
// that is next to 0, with weights for few features, in its models of all examples too; a tuned α is
// no worse than the one that it begins with, and one standard error more is a larger λ.
func TestLassoStructure(t *testing.T) {
	const d, rows, folds = 20, 120, 3
	found := map[string]*candidates.Structures{}
	for name, ask := range map[string]candidates.Lasso{"lasso": {Ratio: 1}, "tuned": {}, "half": {Ratio: 0.5},
		"1se": {Ratio: 1, OneError: true}} {
		f := crossFitted(sparse(d, 3), 1, rows, folds)
		ask.All = allShards(f)
		f.Lasso = &ask
		found[name] = testkit.Get(f.Structures(t.Context(), 0))
	}
	for name, s := range found {
		if note := s.Note("The tuned λ is"); !strings.HasPrefix(note, "The "+s.Best.Name+" with λ = ") ||
			len(s.LassoParts()) != folds {
			t.Errorf("%s: %d models of parts, %s", name, len(s.LassoParts()), note)
		}
		testPathEnd(t, name, s.Lasso().Path)
		names := map[string]string{"half": "elastic net, α = 0.5", "lasso": "lasso", "1se": "lasso"}
		if want := names[name]; want != "" && s.Best.Name != want {
			t.Errorf("%s is called %s", name, s.Best.Name)
		}
		if _, best := testkit.Get2(s.Models(t.Context())); best.Name != s.Best.Name ||
			best.FoundBy != candidates.FoundByPath {
			t.Errorf("%s: %s is found by %s", name, best.Name, best.FoundBy)
		}
	}
	s := found["lasso"]
	l := s.Lasso()
	for _, at := range l.Path {
		if at.Loss < s.Best.Loss || math.Abs(math.Log(at.Lambda/l.Lambda)) < 1e-3 { // it is sought between two
			t.Errorf("the loss is %g at λ = %g, and %g at the kept one", at.Loss, at.Lambda, s.Best.Loss)
		}
	}
	if l.Nonzero < 3 || l.Nonzero == d || s.Best.Loss >= s.List[0].Loss {
		t.Errorf("%d features, a loss of %g beside %g", l.Nonzero, s.Best.Loss, s.List[0].Loss)
	}
	if !(found["tuned"].Best.Loss <= found["half"].Best.Loss) {
		t.Errorf("a tuned α has the loss %g, 0.5 has %g", found["tuned"].Best.Loss, found["half"].Best.Loss)
	}
	if one := found["1se"].Lasso(); one.Lambda <= l.Lambda || one.Nonzero > l.Nonzero ||
		found["1se"].Best.Loss > s.Best.Loss+s.Best.Error {
		t.Errorf("with one standard error λ = %g of %d features, without %g of %d", one.Lambda, one.Nonzero, l.Lambda,
			l.Nonzero)
	}
	f := crossFitted(sparse(d, 3), 1, rows, folds)
	f.Lasso = &candidates.Lasso{Ratio: 1, All: allShards(f)}
	kept := testkit.Get(f.Restore(t.Context(), testkit.Get(s.Encode())))
	want := testkit.Get(s.Refit(t.Context(), f.All, f.Lasso.All, 1)).Y
	for j, got := range testkit.Get(kept.Refit(t.Context(), f.All, f.Lasso.All, 1)).Y {
		if got != want[j] {
			t.Fatalf("weight %d is %v of restored structures, want %v", j, got, want[j])
		}
	}
}

// testPathEnd: log λ falls by 0.2 from where no feature has a weight, up to a loss that is higher
// than the least before by more than its error, six that are no less, or by 9.2.
func testPathEnd(t *testing.T, name string, path []runs.LassoPoint) {
	t.Helper()
	least, rises := path[0], 0
	for k, at := range path[1:] {
		far := .2*float64(k+1) - math.Log(path[0].Lambda/at.Lambda)
		if ended := rises == 6; ended || !(math.Abs(far) <= 1e-9) || path[0].Nonzero != 0 {
			t.Errorf("%s: point %d of the path is %+v, after %d that rise", name, k+1, at, rises)
		}
		rises++
		if at.Loss < least.Loss {
			least, rises = at, 0
		} else if last := k+2 == len(path); at.Loss > least.Loss+least.Error && !last {
			t.Errorf("%s: the path goes beyond %+v", name, at)
		}
	}
	end := path[len(path)-1]
	if rises < 6 && end.Loss <= least.Loss+least.Error && len(path) != 47 {
		t.Errorf("%s: the path of %d ends at %+v", name, len(path), end)
	}
}

// allShards returns the examples of all folds, once each.
func allShards(f candidates.CrossFit) (all []data.Shard) {
	for _, s := range f.Data.Shards {
		s.Train.Weight = nil
		all = append(all, s)
	}
	return all
}

// TestLassoSeparable: classes that can be separated, of which a site lacks one, have a model, and
// so has a target that no feature tells of.
func TestLassoSeparable(t *testing.T) {
	g := readGlmnet()
	for e, row := range g.X {
		g.Binomial[e], g.Gaussian[e] = 0, 0.5
		if e < 54 && row[0] > 1.05 {
			g.Binomial[e] = 1
		} else if row[0] > 1.05 {
			row[0] = 1
		}
	}
	for _, family := range []string{"binomial", "gaussian"} {
		f := g.problem(family)
		s := testkit.Get(f.Structures(t.Context(), 0))
		for _, y := range testkit.Get(s.Refit(t.Context(), f.All, f.Lasso.All, 1)).Y {
			if math.Abs(y) > 1e4 || math.IsNaN(y) {
				t.Errorf("%s: a weight is %g", family, y)
			}
		}
	}
}
