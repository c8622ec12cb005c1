package tasks

import (
	"cmp"
	"math"
	"slices"

	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/tables"
	"dsbo/tables/features"
	"dsbo/tables/modelfile"
)

// Limits of coefficients: how many are told, and up to which number of weights, and of products
// over the rows, their errors are found.
const (
	toldCoefficients = 10
	mostSandwiched   = 400
	mostProducts     = 4e8
)

// A contrast is a coefficient as a difference of weights of the model: of feature j, of the outputs
// by a sum with the given factors.
type contrast struct {
	feature, class int
	factors        []float64 // of the outputs
	value          float64   // per standard deviation of a number, or for a word
}

// addFeatures tells which features matter most: of a linear model their coefficients, a feature
// once, and their errors where the model is small enough; of a network their importances.
func (t judge) addFeatures(a *runs.Assessment) error {
	linear, ok := t.m.(models.Linear)
	if !ok {
		return t.addImportances(a)
	}
	chosen := largest(t.made.Layers[0])
	errors, err := t.standardErrors(linear, chosen)
	if err != nil {
		return err
	}
	r := t.prepared.Recipe
	all, scale := r.Features(), 1.0
	if r.Target.Kind == features.Value {
		scale = r.Target.Deviation
	}
	for i, c := range chosen {
		one := runs.Coefficient{Feature: all[c.feature].Name}
		if k := len(r.Target.Classes); k > 0 {
			one.Class = r.Target.Classes[c.class]
		}
		unit := scale
		if in := r.Input(all[c.feature].Input); in.Kind != tables.Word && one.Feature == in.Name {
			one.Deviation = in.Deviation
			unit = scale / in.Deviation
		}
		one.Value, one.Error = runs.Number(c.value*unit), runs.Number(errors[i]*unit)
		a.Coefficients = append(a.Coefficients, one)
	}
	return nil
}

// largest returns the contrasts of the features whose weights are largest, of each feature for
// the class that it moves most: of two classes the second against the first, of more a class
// against the mean of all.
func largest(l modelfile.Layer) (list []contrast) {
	for j := range l.In {
		best := contrast{feature: j, class: l.Out - 1}
		for k := range l.Out {
			c := contrast{feature: j, class: k, factors: contrastFactors(k, l.Out)}
			for o, factor := range c.factors {
				c.value += float64(factor * l.Weights[o*l.In+j])
			}
			if best.factors == nil || math.Abs(c.value) > math.Abs(best.value) || l.Out == 2 {
				best = c
			}
		}
		list = append(list, best)
	}
	slices.SortStableFunc(list, func(a, b contrast) int { return cmp.Compare(math.Abs(b.value), math.Abs(a.value)) })
	list = slices.DeleteFunc(list, func(c contrast) bool { return c.value == 0 })
	return list[:min(len(list), toldCoefficients)]
}

// contrastFactors returns by which factors the outputs of a model make the contrast of output k.
func contrastFactors(k, outputs int) []float64 {
	factors := make([]float64, outputs)
	switch {
	case outputs == 2:
		factors[k], factors[1-k] = 1, -1
	case outputs > 2:
		linalg.Fill(factors, -1/float64(outputs))
		factors[k]++
	default:
		factors[k] = 1
	}
	return factors
}

// sandwiched returns whether errors of coefficients are found, which the sites must decide alike.
func (t *tune) sandwiched(q int) bool {
	rows := float64(t.prepared.Rows[0])
	return t.taken != network && rows > 0 && q <= mostSandwiched && rows*float64(q*q) <= mostProducts &&
		t.prepared.Recipe.Sparse == nil
}

// standardErrors returns the errors of contrasts by the sandwich
//
//	H⁻¹ (Σ_e u_e² ∇L_e ∇L_e') H⁻¹
//
// where H is the Hessian of the lower loss with its penalties, L_e the loss of training row e, and
// u_e its share of the mean. The sites add up H; then each adds the squares of its rows' slopes
// along H⁻¹c of each contrast c, one number for each. All are NaN where the model is too large.
func (t judge) standardErrors(m models.Linear, of []contrast) ([]float64, error) {
	errors := slices.Repeat([]float64{math.NaN()}, len(of))
	_, q := m.Dims()
	if !t.sandwiched(q) || len(of) == 0 {
		return errors, nil
	}
	s := sandwich{Linear: m, q: q, y: t.y, loss: t.outputLoss(t.prepared.Recipe.Target.Kind)}
	h := make([]float64, q*(q+1)/2+1)
	err := t.run.Collective.Sum(h, func(i int, part []float64) error {
		part[len(part)-1] = 1 // sites
		s.eachRow(t.trainingRows(i), func(weight float64, row rowOf) { s.addCurvature(part, weight, row) })
		return nil
	})
	if err != nil {
		return nil, err
	}
	sites := h[len(h)-1]
	full := s.penalized(h, sites, t.run.X)
	if !linalg.Cholesky(q, full) {
		return errors, nil
	}
	along := make([][]float64, len(of))
	for k, c := range of {
		along[k] = make([]float64, q)
		for o, factor := range c.factors {
			along[k][o*m.Features+c.feature] = factor
		}
		linalg.Solve(q, full, along[k])
	}
	squares := make([]float64, toldCoefficients)
	err = t.run.Collective.Sum(squares, func(i int, part []float64) error {
		s.eachRow(t.trainingRows(i), func(weight float64, row rowOf) {
			for k, v := range along {
				slope := weight / sites * s.slopeAlong(v, row)
				part[k] += float64(slope * slope)
			}
		})
		return nil
	})
	for k := range of {
		errors[k] = math.Sqrt(squares[k])
	}
	return errors, err
}

// trainingRows returns the rows of site i of which the kept model is made, with their weights.
func (t judge) trainingRows(i int) data.Examples {
	e := t.prepared.Data.Shards[i].Train
	if t.prepared.Folds > 0 && e.Len() > 0 {
		e.Weight = t.prepared.Weights[i]
	}
	return e
}

// A sandwich is a linear model at y.
type sandwich struct {
	models.Linear
	q    int
	y    []float64
	loss models.OutputLoss
}

// A rowOf is a row with the model's outputs: features that are not 0, and the derivatives of the
// loss by the outputs, the first and the second ones.
type rowOf struct {
	places    []int32
	values    []float64
	slope     []float64
	curvature []float64 // Outputs×Outputs
}

// eachRow calls visit for each example with its share of a site's mean.
func (s sandwich) eachRow(e data.Examples, visit func(weight float64, row rowOf)) {
	c, d := s.Outputs, s.Features
	row := rowOf{slope: make([]float64, c), curvature: make([]float64, c*c)}
	out := make([]float64, c)
	eachRow(e, func(e data.Examples, n int, places []int32, values []float64) {
		for k := range out {
			out[k] = s.y[c*d+k]
			for p, j := range places {
				out[k] += float64(s.y[k*d+int(j)] * values[p])
			}
		}
		row.places, row.values = places, values
		s.differentiate(row, out, e, n)
		weight := 1.0
		if e.Weight != nil {
			weight = e.Weight.At(n, 0)
		}
		visit(weight/float64(e.Len()), row)
	})
}

// differentiate writes the derivatives of the loss of row n by the outputs.
func (s sandwich) differentiate(row rowOf, out []float64, e data.Examples, n int) {
	switch s.loss.(type) {
	case models.CrossEntropy:
		modelfile.Softmax(out)
		class, _ := e.Target.Label(n)
		for k, p := range out {
			row.slope[k] = p
			for o, r := range out {
				row.curvature[k*len(out)+o] = -p * r
			}
			row.curvature[k*len(out)+k] += p
		}
		row.slope[class]--
	case models.Poisson:
		mean := features.Target{Kind: features.Counts}.Decode(out[0])
		row.slope[0], row.curvature[0] = mean-e.Target.At(n, 0), mean
	default:
		residual := out[0] - e.Target.At(n, 0)
		row.slope[0], row.curvature[0] = residual, 1
		if _, huber := s.loss.(models.Huber); huber && math.Abs(residual) > 1 {
			row.slope[0], row.curvature[0] = math.Copysign(1, residual), 0
		}
	}
}

// addCurvature adds a row's part of the Hessian to its lower triangle, row by row.
func (s sandwich) addCurvature(h []float64, weight float64, row rowOf) {
	c, d := s.Outputs, s.Features
	for k := range c {
		for o := range c {
			curvature := float64(weight * row.curvature[k*c+o])
			if curvature == 0 {
				continue
			}
			for p, i := range row.places {
				at, v := k*d+int(i), curvature*row.values[p]
				for r, j := range row.places {
					if to := o*d + int(j); to <= at {
						h[at*(at+1)/2+to] += float64(v * row.values[r])
					}
				}
			}
			at := c*d + k // the intercept
			for p, j := range row.places {
				h[at*(at+1)/2+o*d+int(j)] += float64(curvature * row.values[p])
			}
			if o <= k {
				h[at*(at+1)/2+c*d+o] += curvature
			}
		}
	}
}

// penalized returns the Hessian of all sites with the penalties at x, as a square matrix.
func (s sandwich) penalized(h []float64, sites float64, x []float64) []float64 {
	full, penalty := make([]float64, s.q*s.q), make([]float64, s.q)
	m := s.Linear
	if p, _ := m.Dims(); p != len(x) {
		m.Penalties = models.PerFeature{}
	}
	m.Penalty(penalty, x)
	first := s.Outputs * s.Features // intercept
	for i := range s.q {
		for j := range i + 1 {
			full[i*s.q+j] = h[i*(i+1)/2+j] / sites
			if _, shifts := s.loss.(models.ShiftInvariant); shifts && j >= first {
				full[i*s.q+j] += m.InterceptCoupling()
			}
		}
		full[i*s.q+i] += penalty[i]
	}
	return full
}

// slopeAlong returns the derivative of a row's loss along v.
func (s sandwich) slopeAlong(v []float64, row rowOf) (sum float64) {
	c, d := s.Outputs, s.Features
	for k, slope := range row.slope {
		along := v[c*d+k]
		for p, j := range row.places {
			along += float64(v[k*d+int(j)] * row.values[p])
		}
		sum += float64(slope * along)
	}
	return sum
}
