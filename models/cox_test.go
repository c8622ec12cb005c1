package models_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"dsbo"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// survivalShard makes examples with normal features and few distinct times as targets, about half
// of them events.
func survivalShard(train, val, features int) data.Shard {
	return numberShard(train, val, features, func(r *rand.Rand) float64 {
		return float64(1+r.IntN(9)) * float64(1-2*r.IntN(2))
	})
}

// A coxTable is what R's packages survival and glmnet find of a table in strata, for columns with
// the mean and the deviation taken off.
type coxTable struct {
	Time, Status, Mean, Deviation []float64
	Site, Fold                    []int
	X                             [][]float64
	Breslow, Efron                coxFit
}

type coxFit struct {
	Coefficients []float64
	Loglik       float64
	At           struct {
		Coefficients, Gradient, V []float64
		Information               []float64 `json:"information_v"`
		Loglik                    float64
		Site                      []float64 `json:"loglik_site"`
	}
	Ridge, Glmnet []struct {
		Lambda       float64
		Coefficients []float64
	}
	CrossFitted struct {
		Coefficients [][]float64 `json:"fold_coefficients"`
		Joint        float64
	} `json:"cross_fitted"`
}

// A coxProblem is the oracles of the sites of a table.
type coxProblem struct {
	t     *testing.T
	sites []*models.Oracle
	rows  []float64
	x     []float64
	q     int
}

// readCox returns a table of R's, and what R finds of it.
func readCox(name string, breslow bool) (of coxTable, fit coxFit) {
	testkit.OK(json.Unmarshal(testkit.Get(os.ReadFile("testdata/survival_"+name+".json")), &of))
	if breslow {
		return of, of.Breslow
	}
	return of, of.Efron
}

// of returns the examples of a site, and their folds.
func (t coxTable) of(site int) (e data.Examples, folds []int) {
	var x, targets []float64
	for row, at := range t.Site {
		if at != site {
			continue
		}
		for j, v := range t.X[row] {
			x = append(x, (v-t.Mean[j])/t.Deviation[j])
		}
		targets, folds = append(targets, (2*t.Status[row]-1)*t.Time[row]), append(folds, t.Fold[row])
	}
	n := len(targets)
	return data.Examples{X: table(n, len(t.Mean), x), Target: table(n, 1, targets)}, folds
}

func newCoxProblem(t *testing.T, name string, breslow bool) (*coxProblem, coxFit) {
	t.Helper()
	of, fit := readCox(name, breslow)
	d := len(of.Mean)
	p := &coxProblem{t: t, q: d + 1, x: slices.Repeat([]float64{math.Inf(-1)}, d)}
	for site := range slices.Max(of.Site) + 1 {
		e, _ := of.of(site)
		model := models.Linear{Features: d, Outputs: 1, Loss: models.Cox{Breslow: breslow}}
		p.sites = append(p.sites, testkit.Get(models.NewOracle(model, data.Shard{Train: e, Val: e}, models.Config{})))
		p.rows = append(p.rows, float64(e.Len()))
	}
	return p, fit
}

// all returns the sums over the sites of the loss, its gradient and its products with vs.
func (p *coxProblem) all(w []float64, vs ...[]float64) (loss float64, gradient []float64, products [][]float64) {
	whole, y := dsbo.Sample{Set: dsbo.Whole}, append(slices.Clone(w), 0)
	add := func(dst, part []float64, rows float64) {
		for j := range dst {
			dst[j] += rows * part[j]
		}
	}
	gradient, products = make([]float64, p.q-1), make([][]float64, len(vs))
	part := make([]float64, p.q)
	for i, o := range p.sites {
		_, value, err := o.Values(p.x, y, whole)
		testkit.OK(err)
		loss += p.rows[i] * value
		testkit.OK(o.LowerGrad(part, p.x, y, whole))
		add(gradient, part, p.rows[i])
		for k, v := range vs {
			if products[k] == nil {
				products[k] = make([]float64, p.q-1)
			}
			testkit.OK(o.HVP(part, p.x, y, append(slices.Clone(v), 0), whole))
			add(products[k], part, p.rows[i])
		}
	}
	return loss, gradient, products
}

// solve returns the coefficients at a ridge ½ θ ‖w‖² by Newton's method.
func (p *coxProblem) solve(theta float64) []float64 {
	d := p.q - 1
	w, units := make([]float64, d), make([][]float64, d)
	for j := range units {
		units[j] = make([]float64, d)
		units[j][j] = 1
	}
	for range 12 {
		_, g, columns := p.all(w, units...)
		h, rhs := mat.NewDense(d, d, nil), mat.NewVecDense(d, nil)
		for j := range d {
			rhs.SetVec(j, g[j]+theta*w[j])
			for k := range d {
				h.Set(j, k, columns[k][j])
			}
			h.Set(j, j, h.At(j, j)+theta)
		}
		var step mat.VecDense
		testkit.OK(step.SolveVec(h, rhs))
		for j := range w {
			w[j] -= step.AtVec(j)
		}
	}
	return w
}

// near requires numbers within 1e-6 of the largest, at least 1: R and glmnet stop there.
func (p *coxProblem) near(name string, got, want []float64) {
	p.t.Helper()
	for j, v := range want {
		if !(math.Abs(got[j]-v) <= 1e-6*max(1, math.Abs(slices.Max(want)), math.Abs(slices.Min(want)))) {
			p.t.Errorf("%s: %v, want %v", name, got, want)
			return
		}
	}
}

// TestCoxLikeR: the likelihood of strata, its derivatives and its solutions are R's.
func TestCoxLikeR(t *testing.T) {
	for _, name := range []string{"lung", "veteran"} {
		for _, breslow := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", Breslow ", breslow), func(t *testing.T) {
				p, want := newCoxProblem(t, name, breslow)
				loss, gradient, products := p.all(want.At.Coefficients, want.At.V)
				p.near("−ℓ", []float64{-loss}, []float64{want.At.Loglik})
				for j := range gradient {
					gradient[j] = -gradient[j]
				}
				p.near("gradient", gradient, want.At.Gradient)
				p.near("product", products[0], want.At.Information)
				w := p.solve(0)
				p.near("coefficients", w, want.Coefficients)
				loss, _, _ = p.all(w)
				p.near("ℓ", []float64{-loss}, []float64{want.Loglik})
				rows := 0.0
				for _, n := range p.rows {
					rows += n
				}
				for _, r := range append(want.Ridge, want.Glmnet...) {
					p.near(fmt.Sprint("λ = ", r.Lambda), p.solve(r.Lambda*rows), r.Coefficients)
				}
			})
		}
	}
}

// TestCoxOfNoWeight: rows of weight 0 are in no risk set: the loss and its derivatives are as
// without them.
func TestCoxOfNoWeight(t *testing.T) {
	of, fit := readCox("lung", false)
	e, _ := of.of(0)
	n, kept, weights := e.Len(), []int{}, []float64{}
	for row := range n {
		weights = append(weights, float64(row%2))
		if row%2 == 1 {
			kept = append(kept, row)
		}
	}
	without := testkit.Get(e.Pick(kept))
	e.Weight = table(n, 1, weights)
	at := func(e data.Examples) (*coxProblem, float64, []float64, [][]float64) {
		d := len(of.Mean)
		model := models.Linear{Features: d, Outputs: 1, Loss: models.Cox{}}
		o := testkit.Get(models.NewOracle(model, data.Shard{Train: e, Val: e}, models.Config{}))
		p := &coxProblem{t: t, q: d + 1, x: slices.Repeat([]float64{math.Inf(-1)}, d),
			rows: []float64{float64(e.Len())}, sites: []*models.Oracle{o}}
		loss, gradient, products := p.all(fit.At.Coefficients, fit.At.V)
		return p, loss, gradient, products
	}
	_, loss, gradient, products := at(e)
	p, want, wantGradient, wantProducts := at(without)
	p.near("loss", []float64{loss}, []float64{want})
	p.near("gradient", gradient, wantGradient)
	p.near("product", products[0], wantProducts[0])
}

// TestCoxFoldsLikeR: rows of all folds, each with the score of the model that leaves it out, are
// judged by one partial likelihood of each site, as R judges them.
func TestCoxFoldsLikeR(t *testing.T) {
	for _, name := range []string{"lung", "veteran"} {
		for _, breslow := range []bool{false, true} {
			of, want := readCox(name, breslow)
			d, joint, scored := len(of.Mean), 0.0, 0.0
			one := models.Linear{Features: d, Outputs: 1, Loss: models.Cox{Breslow: breslow}}
			model := models.Folds{Of: one, Count: 5}
			y := append(slices.Concat(want.CrossFitted.Coefficients...), make([]float64, 5)...)
			for site := range slices.Max(of.Site) + 1 {
				train, folds := of.of(site)
				val := train
				train.Weight, val.Weight = testkit.Get2(models.FoldWeights(folds, 5, nil))
				o := testkit.Get(models.NewOracle(model, data.Shard{Train: train, Val: val}, models.Config{}))
				upper, _ := testkit.Get2(o.Values(make([]float64, d), y, dsbo.Sample{Set: dsbo.Whole}))
				sum, _ := testkit.Get2(testkit.Get(models.NewScore(model, val, false)).Sums(make([]float64, d), y))
				joint -= float64(val.Len()) * upper
				scored -= sum
			}
			p := &coxProblem{t: t}
			p.near(name, []float64{joint, scored}, []float64{want.CrossFitted.Joint, want.CrossFitted.Joint})
		}
	}
}
