package assess

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
	"dsbo/internal/num"
)

// A Fit is the estimated effects of columns with their covariances.
type Fit struct {
	*Effects
	Refused string // why there is no fit; "": there is one
	Freedom int    // degrees of freedom of Student's distribution

	weights         []float64 // of the columns in use, in deviations, output by output
	model, sandwich []float64 // covariances of the weights; model is 0 where rows weigh unlike
}

// leastRest is the lower bound of 1 − h in corrections by 1/(1 − h), where h is a row's leverage: a
// row that determines its own prediction has h = 1.
const leastRest = 1e-3

// Fit estimates the effects. It sums the columns' products (twice with missing values), then
// curvature and slopes for each Newton step, then the squares for errors. Each sum takes
// O(rows·weights²) time. With too few rows or too many columns, Refused of the fit is the reason.
// The check is repeated after columns were dropped, and changes no effects of e.
func (e *Effects) Fit() (*Fit, error) {
	own := *e
	own.Why = slices.Clone(e.Why)
	f := &Fit{Effects: &own, Refused: e.refusal()}
	if f.Refused != "" {
		return f, nil
	}
	if err := f.fillAndDrop(); err != nil {
		return nil, err
	}
	if f.Refused = f.refusal(); f.Refused != "" {
		return f, nil
	}
	solve, findErrors, size := f.solve, f.findErrors, f.effective
	if f.Kind == Hazard { // censored rows have little information
		solve, findErrors, size = f.solveHazards, f.findHazardErrors, f.events
	}
	at, err := solve()
	if err != nil {
		return nil, err
	}
	if at == nil {
		why := "the fit takes too many steps"
		if f.Kind == Class {
			why += ", as where classes separate,"
		}
		f.Refused = f.refuse(why)
		return f, nil
	}
	f.weights, f.Freedom = at.weights, int(size)-f.rowWeights()
	return f, findErrors(*at)
}

// findErrors computes two covariances of the weights at a point: the model's, φF⁻¹ with curvature F
// and dispersion φ, and the sandwich F⁻¹MF⁻¹, which does not trust the model's variance. Here M = Σ
// z_i r_i (z_i r̃_i)', where r̃_i = (I − W_i V_i)⁻¹ r_i corrects residual r_i for the pull of row i
// on its own prediction (leverage; HC2). Counts use r̃_i twice (HC3): their variance is unknown.
// The dispersion of classes is 1, and the one of counts at least 1, as under Poisson's law.
func (f *Fit) findErrors(at point) error {
	q := len(at.weights)
	sum := make([]float64, triangle(q)+1)
	err := f.sum("products of rows' slopes", sum, func(s *rows, part []float64) {
		full := make([]float64, q*q)
		part[len(part)-1] = f.addSquares(full, s, at)
		packLower(part, q, full)
	})
	if err != nil {
		return err
	}
	dispersion := sum[len(sum)-1] / float64(f.Freedom)
	switch f.Kind {
	case Class:
		dispersion = 1
	case Count:
		dispersion = max(1, dispersion)
	}
	f.setErrors(at, sum, dispersion)
	return nil
}

// setErrors sets the covariances of the weights from the squares of the rows' slopes.
func (f *Fit) setErrors(at point, squares []float64, dispersion float64) {
	if !f.alike {
		dispersion = 0
	}
	q := len(at.weights)
	f.model, f.sandwich = scaled(dispersion, at.inverse), make([]float64, q*q)
	half := make([]float64, q*q)
	kernel.GemmNN(q, q, q, half, q, at.inverse, q, unpackLower(squares, q), q, false)
	kernel.GemmNN(q, q, q, f.sandwich, q, half, q, at.inverse, q, false)
}

// addSquares adds a site's term of M of findErrors to full, q×q for q weights. It returns the sum
// of squared residuals, for the dispersion: counts in units of their mean, which is Poisson's
// variance; classes ignore it. A row that represents n rows counts as n rows, each with its own
// leverage, so weight and curvature are divided by n first. With several outputs M is not
// symmetric, since only one factor is corrected; the mean of M and M' is taken.
func (f *Fit) addSquares(full []float64, s *rows, at point) (squares float64) {
	m, q := f.outputs(), len(at.weights)
	f.each(s, func(from, n int, x []float64) {
		rows, z := f.predict(s, from, n, x, at.weights, s.level), f.withoutLevel(s, n, x)
		v := f.leverages(s, n, z, at.inverse)
		slope, corrected := make([]float64, n*q), make([]float64, n*q)
		for r := range n {
			residual, curvature := rows.residual[r*m:][:m], rows.curvature(f.Effects, r)
			square := float64(residual[0] * residual[0])
			if f.Kind == Count {
				square /= rows.mean[r]
			}
			count := s.rowsOf(from + r)
			squares += float64(square * count)
			linalg.Scale(residual, rows.weight[r]/count, residual)
			linalg.Scale(curvature, 1/count, curvature)
			correctedResidual := corrections(residual, curvature, v[r*m*m:][:m*m])
			if f.Kind == Count {
				copy(residual, correctedResidual)
			}
			linalg.Scale(correctedResidual, count, correctedResidual)
			kernel.GemmTN(q, 1, m, slope[r*q:], 1, z[r*m*q:], q, residual, 1, false)
			kernel.GemmTN(q, 1, m, corrected[r*q:], 1, z[r*m*q:], q, correctedResidual, 1, false)
		}
		kernel.GemmTN(q, q, n, full, q, slope, q, corrected, q, true)
	})
	for j := range q {
		for k := range j {
			full[j*q+k] = (full[j*q+k] + full[k*q+j]) / 2
		}
	}
	return squares
}

// corrections returns (I − W V)⁻¹ r for one row: r is the residual, W the curvature, V the
// leverage. The matrix is kept from being singular: for one output 1 − WV is at least leastRest,
// for several leastRest is added to the diagonal.
func corrections(residual, curvature, v []float64) []float64 {
	m := len(residual)
	if m == 1 {
		return []float64{residual[0] / max(leastRest, 1-float64(curvature[0]*v[0]))}
	}
	var a, to mat.Dense
	a.Mul(mat.NewDense(m, m, curvature), mat.NewDense(m, m, v))
	a.Apply(func(i, j int, wv float64) float64 {
		if i == j {
			return 1 + leastRest - wv
		}
		return -wv
	}, &a)
	_ = to.Solve(&a, mat.NewDense(m, 1, residual)) // an error only warns of a large condition number
	return to.RawMatrix().Data
}

// An Effect is a coefficient with its standard error.
type Effect struct{ Value, Error float64 }

// Told returns the columns that have an effect.
func (f *Fit) Told() []int {
	return slices.DeleteFunc(slices.Clone(f.use), func(j int) bool { return f.Why[j] != "" })
}

// Others returns the classes whose effects are relative to [Effects.Class]; one number if there are
// no classes.
func (e *Effects) Others() (list []int) {
	for k := range max(1, e.Classes) {
		if e.output(k) >= 0 {
			list = append(list, k)
		}
	}
	return list
}

// Effect returns the effect of one more of a column on a class against [Effects.Class], on the
// number, or on the logarithm of the count. Its error is the larger one of the model's and the
// sandwich's.
func (f *Fit) Effect(column, class int) Effect {
	at := f.output(class)*len(f.use) + slices.Index(f.use, column)
	square := at * (len(f.weights) + 1)
	return Effect{f.weights[at] / f.Deviation[column],
		math.Sqrt(max(f.model[square], f.sandwich[square])) / f.Deviation[column]}
}

// Importance returns the joint effect of a group's columns, with an interval of reach errors to
// either side: the standard deviation of their contribution to predictions, over the rows that have
// them; with several classes the root mean square over the classes.
//
// Its square is estimated by v = w'Gw − tr GU, where w is the weights, G the correlation of the
// columns, and U the larger one of the two covariances of w; tr GU is the bias of w'Gw. The error
// of v is √(4 w'GUGw + 2 tr GUGU). Errors of several classes are averaged, an upper bound of the
// error of the average. For a single weight the interval is the one of |w|.
func (f *Fit) Importance(group int, reach float64) (value, low, high float64) {
	var of []int // indices in f.use, which are adjacent
	for k, j := range f.use {
		if c := f.Columns[j]; c.Group == group && !c.Blank {
			of = append(of, k)
		}
	}
	n, p, q, m := len(of), len(f.use), len(f.weights), f.outputs()
	g := mat.NewDense(n, n, nil)
	g.Apply(func(i, k int, _ float64) float64 { return f.correlation(f.use[of[i]], f.use[of[k]]) }, g)
	root, v, half := func(v float64) float64 { return math.Sqrt(max(0, v)) }, 0.0, 0.0
	for a := range m {
		from := a*p + of[0]
		w := mat.NewVecDense(n, f.weights[from:][:n])
		u := mat.NewDense(q, q, f.model).Slice(from, from+n, from, from+n)
		if other := mat.NewDense(q, q, f.sandwich).Slice(from, from+n, from, from+n); mat.Trace(other) > mat.Trace(u) {
			u = other
		}
		if n == 1 && m == 1 {
			half, size := float64(reach*root(u.At(0, 0))), math.Abs(w.AtVec(0))
			return root(float64(size*size) - u.At(0, 0)), max(0, size-half), size + half
		}
		var gu, square mat.Dense
		var gw mat.VecDense
		gu.Mul(g, u)
		square.Mul(&gu, &gu)
		gw.MulVec(g, w)
		v += (mat.Inner(w, g, w) - mat.Trace(&gu)) / float64(m)
		half += reach * root(float64(4*mat.Inner(&gw, u, &gw))+float64(2*mat.Trace(&square))) / float64(m)
	}
	return root(v), root(v - half), root(v + half)
}

// correlation returns the correlation of two columns of a group: levels exclude each other.
func (e *Effects) correlation(j, k int) float64 {
	if j == k {
		return 1
	}
	return -e.Share[j] / e.Deviation[j] * (e.Share[k] / e.Deviation[k])
}

// level is the share of intervals that may miss the truth, and of runs that may mark chance.
const level = 0.05

// Quantile returns the half-width of 95 % intervals in standard errors: 95 % of the shown intervals
// cover the truth on average, though they were selected among all (Benjamini, Yekutieli 2005).
func (f *Fit) Quantile(shown, all int) float64 {
	return num.StudentQuantile(1-float64(level*min(1, float64(shown)/float64(all))/2), f.Freedom)
}

// Chance returns how likely an effect as large as this is by chance.
func (f *Fit) Chance(of Effect) float64 {
	return 2 * num.StudentTail(math.Abs(of.Value)/of.Error, f.Freedom)
}

// BeyondChance marks significant effects by their p values, with Holm's correction (1979): the
// probability that any effect of 0 is marked is at most 5 %.
func BeyondChance(probabilities []float64) []bool {
	order := indices(len(probabilities))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(probabilities[a], probabilities[b]) })
	marked := make([]bool, len(order))
	for k, i := range order {
		if !(probabilities[i] <= level/float64(len(order)-k)) {
			break
		}
		marked[i] = true
	}
	return marked
}
