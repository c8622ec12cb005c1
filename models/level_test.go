package models_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// A levelCase is a fit with ridges on weights and on a level of each site, by R: numbers of two
// classes are of the second one less the first.
type levelCase struct {
	X               [][]float64
	Y               []float64
	Site            []int
	Lambda, Kappa   float64
	Weights, Levels []float64
	Intercept       float64
}

// of returns the rows of a site, with weights by which all rows count alike.
func (c levelCase) of(site int, classes bool) data.Examples {
	var x, y, w []float64
	var labels []uint8
	for row, s := range c.Site {
		if s == site {
			x, y, labels = append(x, c.X[row]...), append(y, c.Y[row]), append(labels, uint8(c.Y[row]))
		}
	}
	for range y {
		w = append(w, float64(len(y)*len(c.Levels))/float64(len(c.Y)))
	}
	e := data.Examples{X: table(len(y), len(c.X[0]), x), Target: table(len(y), 1, y), Weight: table(len(y), 1, w)}
	if classes {
		e.Target = testkit.Get(ad.LabelTable(labels, 2))
	}
	return e
}

// A sitesProblem is the average of the problems of some sites.
type sitesProblem struct {
	q     int
	sites []*models.Oracle
}

func newSitesProblem(m models.Model, shards ...data.Shard) *sitesProblem {
	_, q := m.Dims()
	p := &sitesProblem{q: q}
	for _, s := range shards {
		p.sites = append(p.sites, testkit.Get(models.NewOracle(m, s, models.Config{})))
	}
	return p
}

// mean returns the average of vectors of the sites.
func (p *sitesProblem) mean(n int, of func(o *models.Oracle, dst []float64) error) []float64 {
	sum, part := make([]float64, n), make([]float64, n)
	for _, o := range p.sites {
		testkit.OK(of(o, part))
		linalg.Axpy(sum, 1/float64(len(p.sites)), part)
	}
	return sum
}

// system returns H⁻¹ b for the averaged Hessian at y.
func (p *sitesProblem) system(x, y, b []float64) []float64 {
	h, v := mat.NewDense(p.q, p.q, nil), make([]float64, p.q)
	for j := range v {
		v[j] = 1
		h.SetCol(j, p.mean(p.q, func(o *models.Oracle, dst []float64) error {
			return o.HVP(dst, x, y, v, dsbo.Sample{Set: dsbo.Whole})
		}))
		v[j] = 0
	}
	var z mat.VecDense
	testkit.OK(z.SolveVec(h, mat.NewVecDense(p.q, b)))
	return z.RawVector().Data
}

// solve moves y to y*(x).
func (p *sitesProblem) solve(x, y []float64) []float64 {
	for range 30 {
		linalg.Axpy(y, -1, p.system(x, y, p.mean(p.q, func(o *models.Oracle, dst []float64) error {
			return o.LowerGrad(dst, x, y, dsbo.Sample{Set: dsbo.Whole})
		})))
	}
	return y
}

// upper returns the averaged upper loss.
func (p *sitesProblem) upper(x, y []float64) float64 {
	return p.mean(1, func(o *models.Oracle, dst []float64) (err error) {
		dst[0], _, err = o.Values(x, y, dsbo.Sample{Set: dsbo.Whole})
		return err
	})[0]
}

var levelLosses = map[string]models.OutputLoss{
	"value": models.Squared{}, "count": models.Poisson{}, "classes": models.CrossEntropy{},
}

func readLevels() map[string]levelCase {
	var file struct{ Cases map[string]levelCase }
	testkit.OK(json.Unmarshal(testkit.Get(os.ReadFile("testdata/levels.json")), &file))
	return file.Cases
}

// TestLevelsByR: sites that know their own rows alone find the fit that R finds of all rows with a
// column for each site, to the digits that two programs share: six.
func TestLevelsByR(t *testing.T) {
	for name, c := range readLevels() {
		outputs, d, n, sites := 1, len(c.X[0]), float64(len(c.Y)), len(c.Levels)
		if name == "classes" {
			outputs = 2
		}
		m := models.Linear{Features: d, Outputs: outputs, Loss: levelLosses[name], Penalties: models.OnePenalty{},
			Level: models.Level{Ridge: c.Kappa * float64(sites) / n}}
		var shards []data.Shard
		for site := range sites {
			e := c.of(site, outputs > 1)
			shards = append(shards, data.Shard{Train: e, Val: e})
		}
		p := newSitesProblem(m, shards...)
		x, y := []float64{math.Log(c.Lambda / n * float64(d*outputs) / 2)}, make([]float64, p.q)
		if name == "count" {
			y[p.q-1] = 2
		}
		p.solve(x, y)
		difference := func(v []float64) []float64 {
			if outputs == 1 {
				return v
			}
			half := slices.Clone(v[len(v)/2:])
			linalg.Axpy(half, -1, v[:len(v)/2])
			return half
		}
		got := append(difference(y[:d*outputs]), difference(y[d*outputs:])...)
		for _, s := range shards {
			level := testkit.Get(testkit.Get(models.NewPrograms(m).Levels(s.Train, new(ad.Workspace))).Own(x, y))
			own := slices.Clone(level[d*outputs:])
			linalg.Axpy(own, -1, y[d*outputs:])
			got = append(got, difference(own)...)
		}
		for j, want := range slices.Concat(c.Weights, []float64{c.Intercept}, c.Levels) {
			if math.Abs(got[j]-want) > 1e-6 {
				t.Errorf("%s: number %d of weights, intercept and levels is %.9g; R has %.9g", name, j, got[j], want)
			}
		}
	}
}

// TestLevelHypergradient: by implicit differentiation it is the central difference of Φ, over folds
// whose validation rows have the level of the training rows.
func TestLevelHypergradient(t *testing.T) {
	for name, c := range readLevels() {
		testLevelHypergradient(t, name, c, models.Level{Ridge: .1})
		testLevelHypergradient(t, name, c, models.Level{Ridge: .1, Slopes: []int{0, 2}, SlopeRidge: .3})
	}
}

func testLevelHypergradient(t *testing.T, name string, c levelCase, level models.Level) {
	outputs, classes := 1, name == "classes"
	if classes {
		outputs = 2
	}
	linear := models.Linear{Features: len(c.X[0]), Outputs: outputs, Loss: levelLosses[name],
		Level: level}
	if name == "count" {
		linear.Intercepts = []float64{2}
	}
	m := models.Folds{Of: linear, Count: 2}
	var shards []data.Shard
	for site := range 3 {
		s := folded(data.Shard{Train: c.of(site, classes)}, 2, nil)
		s.Val.Columns = []data.Column{{Name: models.LevelWeights, Table: s.Train.Weight}}
		shards = append(shards, s)
	}
	p := newSitesProblem(m, shards...)
	x, y := make([]float64, linear.Features), make([]float64, p.q)
	for j := range x {
		x[j] = float64(j%3) - 2
	}
	m.Start(y)
	p.solve(x, y)
	whole := dsbo.Sample{Set: dsbo.Whole}
	z := p.system(x, y, p.mean(p.q, func(o *models.Oracle, dst []float64) error {
		return o.UpperGrad(nil, dst, x, y, whole)
	}))
	gradient := p.mean(len(x), func(o *models.Oracle, dst []float64) error { return o.JVP(dst, x, y, z, whole) })
	for j := range x {
		const step = 1e-4 // Φ is known to 1e-13 or so, and is curved by about its size
		phi := func(by float64) float64 {
			moved := slices.Clone(x)
			moved[j] += by
			return p.upper(moved, p.solve(moved, slices.Clone(y)))
		}
		if want := (phi(step) - phi(-step)) / (2 * step); math.Abs(-gradient[j]-want) > 1e-7 {
			t.Errorf("%s, %v: entry %d of ∇Φ is %.10g; by differences it is %.10g", name, level, j, -gradient[j], want)
		}
	}
}

// slopeOfLoss is the derivative of a loss by outputs.
var slopeOfLoss = map[string]func(outputs []float64, target float64) []float64{
	"value": func(o []float64, y float64) []float64 { return []float64{o[0] - y} },
	"count": func(o []float64, y float64) []float64 { return []float64{math.Exp(o[0]) - y} },
	"classes": func(o []float64, y float64) []float64 {
		p := 1 / (1 + math.Exp(o[0]-o[1]))
		return []float64{y - p, p - y}
	},
}

// TestSlopesAreLeast: at the intercepts and slopes of a site's own the loss of its rows with their
// ridges is level, and other weights are the common ones.
func TestSlopesAreLeast(t *testing.T) {
	for name, c := range readLevels() {
		outputs, d, slopes := 1, len(c.X[0]), []int{0, 2}
		if name == "classes" {
			outputs = 2
		}
		const ofIntercept, ofSlopes = .1, .3
		m := models.Linear{Features: d, Outputs: outputs, Loss: levelLosses[name],
			Level: models.Level{Ridge: ofIntercept, Slopes: slopes, SlopeRidge: ofSlopes}}
		x, y := make([]float64, d), make([]float64, outputs*(d+1))
		for j := range y {
			y[j] = .1 * float64(j%4)
		}
		e := c.of(1, outputs > 1)
		own := testkit.Get(testkit.Get(models.NewPrograms(m).Levels(e, new(ad.Workspace))).Own(x, y))
		gradient := make([]float64, len(y))
		for row := range e.Len() {
			o := slices.Clone(own[outputs*d:])
			for k := range o {
				for j := range d {
					o[k] += own[k*d+j] * e.X.At(row, j)
				}
			}
			target := e.Target.At(row, outputs-1)
			for k, s := range slopeOfLoss[name](o, target) {
				s *= e.Weight.At(row, 0) / float64(e.Len())
				gradient[outputs*d+k] += s
				for j := range d {
					gradient[k*d+j] += s * e.X.At(row, j)
				}
			}
		}
		for j := range y {
			switch {
			case j >= outputs*d:
				gradient[j] += ofIntercept * (own[j] - y[j])
			case slices.Contains(slopes, j%d):
				gradient[j] += ofSlopes * (own[j] - y[j])
			case own[j] != y[j]:
				t.Errorf("%s: weight %d is %g for the site and %g for all", name, j, own[j], y[j])
				fallthrough
			default:
				gradient[j] = 0
			}
		}
		if off := linalg.Norm(gradient); off > 1e-9 { // ArgMin ends at 1e-12 of the gradient where it starts
			t.Errorf("%s: the gradient at a site's level is %g", name, off)
		}
	}
}

func TestLevelsRefuse(t *testing.T) {
	m := models.Linear{Features: 5, Outputs: 1, Loss: models.Squared{}, Level: models.Level{Ridge: -1}}
	if err := m.Check(valueShard(30, 21, 5)); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("a ridge below 0 gives %v", err)
	}
	m.Level = models.Level{Ridge: 1, Slopes: []int{1}}
	if err := m.Check(valueShard(30, 21, 5)); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("slopes without a ridge give %v", err)
	}
	m.Loss, m.Level = models.Cox{}, models.Level{Ridge: 1}
	if err := m.Check(survivalShard(30, 21, 5)); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("a level of survival times gives %v", err)
	}
}
