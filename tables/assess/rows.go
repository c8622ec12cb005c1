package assess

import (
	"math"
	"slices"

	"dsbo/internal/linalg"
)

// blockRows is the number of rows that are read together. Sums over the rows of a site are in this
// order on all machines.
const blockRows = 256

// rows are the rows of a site, with what the site alone knows of the fit.
type rows struct {
	Site
	mean  []float64 // of each column
	level []float64 // of each output, at the point
	step  []float64 // of the levels, the next
	slope []float64 // by the levels
	own   []float64 // Cholesky factor of F_ss, the curvature by the levels
	cross []float64 // (F_xs F_ss⁻¹)', a row for each output
}

// rowsOf returns the number of rows that a row represents.
func (s Site) rowsOf(row int) float64 {
	if s.Count == nil {
		return 1
	}
	return s.Count[row]
}

// weight returns the weight of a row.
func (s Site) weight(row int) float64 {
	if s.Weight == nil {
		return 1
	}
	return s.Weight[row]
}

// weighs returns whether some row weighs more than 0: else the site has no level to find.
func (s Site) weighs() bool { return s.Rows > 0 && (s.Weight == nil || slices.Max(s.Weight) > 0) }

// eachBlock calls visit for the rows of a site, some at a time, with their p columns.
func eachBlock(s Site, p int, visit func(from, n int, x []float64)) {
	x := make([]float64, min(s.Rows, blockRows)*p)
	for from := 0; from < s.Rows; from += blockRows {
		n := min(blockRows, s.Rows-from)
		s.Read(from, from+n, x[:n*p])
		visit(from, n, x[:n*p])
	}
}

// each calls visit for blocks of a site's rows with the columns of the fit. A value is centred at
// the site's mean, because effects are within sites, and divided by the deviation over all sites.
// A missing value is 0, the mean, or filled in if there is a fill.
func (e *Effects) each(s *rows, visit func(from, n int, x []float64)) {
	all, p := len(e.Columns), len(e.use)
	picked := make([]float64, min(s.Rows, blockRows)*p)
	var missing []int
	eachBlock(s.Site, all, func(from, n int, raw []float64) {
		for r := range n {
			row, x := raw[r*all:][:all], picked[r*p:][:p]
			missing = missing[:0]
			for k, j := range e.use {
				if x[k] = 0; e.has(row, j) {
					x[k] = (row[j] - s.mean[j]) / e.Deviation[j]
				} else {
					missing = append(missing, k)
				}
			}
			if e.fill != nil {
				e.fillBlanks(x, missing)
			}
		}
		visit(from, n, picked[:n*p])
	})
}

// products returns the matrix of products of the columns within sites, and the approximate size of
// its diagonal; for hazards the products within risk sets, at weights of 0. It is nil if a site has
// no curvature. Numbers have a curvature of just these products, so the other kinds borrow theirs.
func (e *Effects) products() (products []float64, square float64, err error) {
	zero := make([]float64, len(e.use))
	if e.Kind == Hazard {
		at, _, err := e.hazardsAt(zero, zero)
		return at.bends, e.events, err
	}
	plain := *e
	plain.Kind, plain.Classes = Number, 0
	plain.begin()
	products, _, ok, err := plain.curve("products of columns", zero, zero, 0)
	if !ok {
		return nil, 0, err
	}
	return products, float64(e.Rows), err
}

// findFill sets e.fill, the precision matrix of the columns within sites. With it a missing value
// is replaced by its best linear prediction from the values that the row has. Each covariance is
// the mean product over the rows that have both columns. Covariances are shrunk towards 0, the more
// the more columns there are per row, as estimates of many from few rows are noise. Such a matrix
// may be indefinite; it is shrunk further until it is positive definite.
func (e *Effects) findFill() error {
	p := len(e.use)
	sum := make([]float64, p*(p+1))
	err := e.sum("products of columns where both are known", sum, func(s *rows, part []float64) {
		all := len(e.Columns)
		x, has := make([]float64, p), make([]bool, p)
		eachBlock(s.Site, all, func(from, n int, raw []float64) {
			for r := range n {
				row := raw[r*all:][:all]
				for k, j := range e.use {
					x[k], has[k] = (row[j]-s.mean[j])/e.Deviation[j], e.has(row, j) && !e.Columns[j].Blank
				}
				addPairs(part, x, has, s.rowsOf(from+r))
			}
		})
	})
	if err != nil {
		return err
	}
	shrink := 1 - float64(p)/float64(e.Rows)
	for {
		full := make([]float64, p*p)
		for j := range p {
			for k := range j {
				at := j*(j+1) + 2*k // the sum of products of j and k, and the number of rows, as addPairs has them
				full[j*p+k] = float64(shrink*sum[at]) / max(1, sum[at+1])
			}
			own := sum[j*(j+1)+2*j:] // of j with itself, as above; without rows the variance is taken as 1
			if full[j*p+j] = 1; own[1] > 0 {
				full[j*p+j] = max(own[0]/own[1], leastPivot)
			}
		}
		if inverse := inverted(p, full); inverse != nil {
			e.fill = inverse
			return nil
		}
		shrink *= 0.9
	}
}

// addPairs adds, for each two columns j >= k that a row has, their product and 1 to the two sums of
// the pair, as often as the row counts. Row j of this lower triangle begins at j(j+1).
func addPairs(part, x []float64, has []bool, count float64) {
	for j, v := range x {
		if !has[j] {
			continue
		}
		at := part[j*(j+1):]
		for k, w := range x[:j+1] {
			if has[k] {
				at[2*k] += float64(v * w * count)
				at[2*k+1] += count
			}
		}
	}
}

// fillBlanks sets the missing columns M of a row to −Ω_MM⁻¹ Ω_MO x_O, their conditional mean given
// the observed columns O, where Ω is the precision matrix. They must be 0 before, so that the
// product with the whole row is Ω_MO x_O; they stay 0, the mean, where Ω_MM is singular by
// rounding.
func (e *Effects) fillBlanks(x []float64, missing []int) {
	m, p := len(missing), len(x)
	if m == 0 {
		return
	}
	block, right := make([]float64, m*m), make([]float64, m)
	for a, j := range missing {
		right[a] = -linalg.Dot(e.fill[j*p:][:p], x)
		for b, k := range missing {
			block[a*m+b] = e.fill[j*p+k]
		}
	}
	if !linalg.Cholesky(m, block) {
		return
	}
	linalg.Solve(m, block, right)
	for a, j := range missing {
		x[j] = right[a]
	}
}

// inverted returns the inverse of a symmetric positive definite matrix, or nil if it is not, or its
// inverse overflows. Only the lower triangle of a is read; it is overwritten.
func inverted(n int, a []float64) []float64 {
	if !linalg.AllFinite(a) || !linalg.Cholesky(n, a) {
		return nil
	}
	inverse := make([]float64, n*n)
	for j := range n {
		inverse[j*n+j] = 1
		linalg.Solve(n, a, inverse[j*n:][:n])
	}
	for j := range n { // the same bits on both sides
		for k := range j {
			inverse[k*n+j] = inverse[j*n+k]
		}
	}
	if math.IsNaN(linalg.Dot(inverse, inverse)) {
		return nil
	}
	return inverse
}
