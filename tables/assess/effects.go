package assess

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"dsbo/internal/linalg"
	"dsbo/internal/wording"
)

// A Kind is what is predicted.
type Kind int

// The kinds: a number by least squares, a class by its log-odds, a count by its logarithm, and
// times until an event by the logarithm of the hazard.
const (
	Number Kind = iota
	Class
	Count
	Hazard
)

// A Column is a number of each row. A group is the columns made of one column of a file: the
// indicators of its words' levels, or a number. With blanks the group has one more, 1 where the
// value is missing; the other columns of the group are unknown there.
type Column struct {
	Name         string
	Group        int
	Level, Blank bool
}

// A Site is the rows of a site.
type Site struct {
	Rows   int
	Read   func(from, to int, x []float64) // writes the columns of some rows, row by row
	Target []float64                       // a number, of a class, a count, or a time, below 0 without event
	Count  []float64                       // rows that each row represents; nil: one
	Weight []float64                       // of each of these, in any unit that the sites share; nil: all alike
}

// Tables are the tables of all sites.
type Tables struct {
	Kind    Kind
	Classes int  // of a class
	Breslow bool // the rule for tied events; else Efron's
	Columns []Column
	Sites   []Site // those elsewhere are empty
	// Sum sets dst to the sum over all sites of what each site that is here fills in, whose part
	// is 0 before.
	Sum func(name string, dst []float64, fill func(i int, part []float64) error) error
}

// Effects are tables whose columns are measured.
type Effects struct {
	Tables     // as they are
	Rows   int // of all sites, as Count has them
	// Reference is, for a column of words, the level that effects are relative to, the commonest;
	// -1 for other columns.
	Reference []int
	// Class is the class that effects are relative to: the first of two, else the commonest.
	Class int
	// Why is the reason why a column has no interval; "": it has one, or there is no fit.
	Why       []string
	Deviation []float64 // of each column
	Share     []float64 // mean of each column over the rows that have it: of a level its share

	use       []int     // indices of the columns of the fit
	levels    int       // number of sites with a level (intercept) of their own
	effective float64   // (Σw)²/Σw²: equally weighted rows with the same information
	alike     bool      // whether all rows have the same weight
	unit      float64   // mean weight; weights are divided by it
	counts    []float64 // rows of each class
	start     float64   // mean count, at which a fit of counts begins
	events    float64   // number of events, scaled as effective is
	blankOf   []int     // for each column, its group's indicator of missing values; -1: there is none
	blanks    bool      // whether some columns have missing values
	fill      []float64 // precision matrix by which they are filled in; nil: there are none
	sites     []*rows   // nil: elsewhere, or without rows that weigh
}

// leastLevelRows is the number of rows below which a level has no interval.
const leastLevelRows = 5

// columnNumbers is the number of sums for each column, over the rows that have it: rows (for a
// level, rows that are 1), weights, weighted values, and weighted squares.
const columnNumbers = 4

// measured returns the number of sums of [Effects.measure]: rows, weights, squared weights, sites,
// weighted targets (or events), rows of each class, and the sums of the columns.
func (t Tables) measured() int { return 5 + t.Classes + columnNumbers*len(t.Columns) }

// sums describes one kind of sum over the sites, for the list of what leaves a site.
type sums struct {
	Name   string
	Length int     // numbers in one sum
	Most   float64 // how often it is taken at most
}

// Sums returns all sums that [NewEffects], [Effects.Chance] and [Effects.Fit] may take. It assumes
// that the fit uses all columns but one level of each group; where it leaves out more, the sums are
// shorter. A fit with more than mostWeights weights is refused, and takes no further sums.
func (t Tables) Sums() []sums {
	e := Effects{Tables: t}
	seen := map[int]bool{}
	for j, c := range t.Columns {
		if e.blanks = e.blanks || c.Blank; !c.Level || c.Blank || seen[c.Group] {
			e.use = append(e.use, j) // all but the first level of a group, the assumed reference
		}
		seen[c.Group] = true
	}
	p, q := len(e.use), len(e.use)*e.outputs()
	list := []sums{{"rows, means and squares of columns", t.measured(), 1},
		{e.slopesName(), e.permuted(), 1}}
	if q > mostWeights {
		return list
	}
	if e.blanks {
		list = append(list, sums{"products of columns where both are known", p * (p + 1), 2})
	}
	if e.Kind == Hazard {
		return append(list, sums{"partial likelihood with derivatives", triangle(p) + p + 2,
			mostSteps + 2}, sums{"products of rows' slopes", triangle(p), 1})
	}
	return append(list, sums{"products of columns", triangle(p) + 2, 1},
		sums{"second derivatives, no penalties", triangle(q) + 2, 3 * mostSteps},
		sums{"slopes, no penalties", q + 1, mostSteps},
		sums{"products of rows' slopes", triangle(q) + 1, 1})
}

// Unmeasured returns the columns without sums: effects are relative to the first level of a group,
// and the first class.
func Unmeasured(t Tables) *Effects {
	e := &Effects{Tables: t, Why: make([]string, len(t.Columns))}
	e.choose(slices.Repeat([]float64{leastLevelRows, 1, 0, 1}, len(t.Columns)))
	return e
}

// NewEffects measures the columns by one sum over the sites and chooses the columns of the fit. It
// leaves out the reference level of each group, and columns with one value in all rows.
func NewEffects(t Tables) (*Effects, error) {
	e := &Effects{Tables: t, Why: make([]string, len(t.Columns))}
	sum := make([]float64, t.measured())
	for _, c := range t.Columns {
		e.blankOf = append(e.blankOf, slices.IndexFunc(t.Columns, func(other Column) bool {
			return other.Blank && other.Group == c.Group && !c.Blank
		}))
	}
	e.sites = make([]*rows, len(t.Sites))
	if err := t.Sum("rows, means and squares of columns", sum, func(i int, part []float64) error {
		if s := t.Sites[i]; s.weighs() {
			e.sites[i] = &rows{Site: s, mean: e.measure(s, part)}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	// Rows, weights, squared weights, sites, and weighted targets, as measure has summed them.
	e.Rows, e.levels, e.counts = int(sum[0]), int(sum[3]), sum[5:][:t.Classes]
	e.unit = sum[1] / sum[0]
	e.effective = float64(sum[1] / sum[2] * sum[1])
	if e.alike = float64(e.Rows)-e.effective < 1e-9*float64(e.Rows); e.alike {
		e.effective = float64(e.Rows)
	}
	switch t.Kind {
	case Count:
		e.start = sum[4] / sum[1]
	case Hazard: // each site's baseline hazard cancels from the partial likelihood
		e.levels, e.events = 0, float64(sum[4]*e.effective)/sum[0]
	}
	if t.Classes > 2 {
		e.Class = slices.Index(e.counts, slices.Max(e.counts))
	}
	e.choose(sum[5+t.Classes:])
	return e, nil
}

// sum sums what the sites that are here, and have rows that weigh, fill in.
func (e *Effects) sum(name string, dst []float64, fill func(s *rows, part []float64)) error {
	return e.Sum(name, dst, func(i int, part []float64) error {
		if s := e.sites[i]; s != nil {
			fill(s, part)
		}
		return nil
	})
}

// measure adds a site's sums to part, in the order of [Tables.measured], and returns the site's
// weighted means of the columns over the rows that have them.
func (e *Effects) measure(s Site, part []float64) []float64 {
	p := len(e.Columns)
	of := part[5+e.Classes:]
	part[3] = 1
	eachBlock(s, p, func(from, n int, x []float64) {
		for r := range n {
			n, v, y := s.rowsOf(from+r), s.weight(from+r), s.Target[from+r]
			part[0] += n
			part[2] += float64(v * v * n)
			v = float64(v * n)
			part[1] += v
			if e.Kind != Hazard {
				part[4] += float64(v * y)
			} else if y > 0 { // an event
				part[4] += n
			}
			if e.Classes > 0 {
				part[5+int(y)] += n
			}
			row := x[r*p:][:p]
			for j := range row {
				if !e.has(row, j) {
					continue
				}
				c := of[columnNumbers*j:]
				if !e.isLevel(j) || row[j] != 0 {
					c[0] += n
				}
				c[1] += v
				c[2] += float64(v * row[j])
				c[3] += float64(float64(v*row[j]) * row[j])
			}
		}
	})
	mean := make([]float64, p)
	for j := range mean {
		mean[j] = of[columnNumbers*j+2] / max(math.SmallestNonzeroFloat64, of[columnNumbers*j+1])
	}
	return mean
}

// isLevel returns whether a column is 1 for some rows and 0 for the others.
func (e *Effects) isLevel(j int) bool { return e.Columns[j].Level || e.Columns[j].Blank }

// has returns whether a row has a column.
func (e *Effects) has(row []float64, j int) bool { return e.blankOf[j] < 0 || row[e.blankOf[j]] == 0 }

// choose sets the columns of the fit from the pooled sums of [Effects.measure] for each column. The
// reference of a group is its commonest level. A column whose deviation is 0 but for rounding has
// one value and is left out; a rare level takes part in the fit but gets no interval.
func (e *Effects) choose(of []float64) {
	p := len(e.Columns)
	e.Reference, e.Deviation, e.Share = make([]int, p), make([]float64, p), make([]float64, p)
	count := make([]float64, p)
	for j := range e.Columns {
		c := of[columnNumbers*j:]
		count[j] = c[0]
		if c[1] > 0 {
			e.Share[j] = c[2] / c[1]
			e.Deviation[j] = math.Sqrt(max(0, c[3]/c[1]-float64(e.Share[j]*e.Share[j])))
		}
	}
	for j, c := range e.Columns {
		e.Reference[j] = -1
		for k, other := range e.Columns {
			if c.Level && !c.Blank && other.Level && !other.Blank && other.Group == c.Group &&
				(e.Reference[j] < 0 || count[k] > count[e.Reference[j]]) {
				e.Reference[j] = k
			}
		}
		switch {
		case e.Reference[j] == j: // the other levels are relative to it
		case !(e.Deviation[j] > 1e-6*math.Abs(e.Share[j])) || e.Deviation[j] < 1e-9:
			e.Why[j] = "one value in all rows"
		default:
			e.use = append(e.use, j)
			e.blanks = e.blanks || c.Blank
			if e.isLevel(j) && count[j] < leastLevelRows {
				e.Why[j] = "too few rows"
			}
		}
	}
}

// outputs returns the number of numbers that are predicted: of a class, one less than there are.
func (e *Effects) outputs() int { return max(1, e.Classes-1) }

// rowWeights returns the number of weights of the fit, with a level for each site and output.
func (e *Effects) rowWeights() int { return e.outputs() * (len(e.use) + e.levels) }

// leastFreedom is how many more rows than weights there must be.
const leastFreedom = 5

// Bounds of fits: of weights, and of products over the rows for each sum.
const (
	mostWeights  = 400
	mostProducts = 4e9
	mostAtRisk   = 4e7 // numbers of rows whose risk sets are in memory
)

// refusal returns why no intervals can be given, or "". The numbers of rows for each weight d of an
// output are the fewest at which intervals still cover the truth in about 95 % of simulated tables;
// classes also need as many rows of the rarest one. The other limits bound time and memory.
func (e *Effects) refusal() string {
	n, d := e.effective, float64(len(e.use)+e.levels)
	rarest := n // rows of the rarest class
	for _, c := range e.counts {
		rarest = min(rarest, c)
	}
	few := false
	switch e.Kind {
	case Hazard:
		if few = e.events < leastOfColumn*d; few || e.events < d+leastFreedom {
			return e.refuse(fmt.Sprintf("too few events (%.0f)", e.events))
		}
	case Number:
		few = n < float64(1.3*d)+5
	case Class:
		few = n < 3*d || rarest < max(10, 1.3*d)
	case Count:
		few = n < 4*d
	}
	switch q := float64(e.rowWeights()); {
	case few || n < q+leastFreedom:
		return e.refuse("too few rows")
	case q > mostWeights:
		return e.refuse("too many columns")
	case len(e.use) == 0 || float64(q*q)*float64(e.Rows) > mostProducts ||
		e.Kind == Hazard && q*float64(e.Rows) > mostAtRisk:
		return e.refuse("no columns, or too many rows,")
	}
	return ""
}

// refuse makes a refusal of its reason.
func (e *Effects) refuse(why string) string {
	return fmt.Sprintf("%s to say how sure the coefficients are (%.0f rows, %d columns and levels of sites)", why,
		e.effective, len(e.use)+e.levels)
}

// fillAndDrop finds how missing values are filled in, and removes columns that are linear
// combinations of earlier ones. A column's pivot in the Cholesky factorization of the products
// within sites is the variance that the earlier columns leave unexplained; near 0 it is dropped.
// The filling depends on the columns in use, so it is found again after some were dropped.
func (e *Effects) fillAndDrop() error {
	if e.blanks {
		if err := e.findFill(); err != nil {
			return err
		}
	}
	p := len(e.use)
	products, squares, err := e.products()
	if products == nil {
		return err
	}
	var kept, names []int // of the columns kept: indices in products, and in Columns
	var factor [][]float64
	for j := range p {
		row, pivot := make([]float64, 0, j), products[j*p+j]
		for k, at := range kept {
			v := (products[j*p+at] - linalg.Dot(row, factor[k][:k])) / factor[k][k]
			row, pivot = append(row, v), pivot-float64(v*v)
		}
		if pivot < leastPivot*squares {
			e.Why[e.use[j]] = "cannot be told apart from " + e.mixture(names, factor, row)
			continue
		}
		kept, names, factor = append(kept, j), append(names, e.use[j]), append(factor, append(row, math.Sqrt(pivot)))
	}
	if e.use = names; e.blanks && len(names) < p {
		return e.findFill()
	}
	return nil
}

// leastPivot is the share of a column's variance which is nothing but rounding.
const leastPivot = 1e-8

// mixture names the columns of which a dropped column is a linear combination. Back substitution of
// b, its row of the Cholesky factor, gives the coefficients; the ones near 0 are not named. If none
// is left, the column is constant within each site.
func (e *Effects) mixture(names []int, factor [][]float64, b []float64) string {
	var list []string
	for k := len(b) - 1; k >= 0; k-- {
		b[k] /= factor[k][k]
		linalg.Axpy(b[:k], -b[k], factor[k][:k])
		if math.Abs(b[k]) > leastPart {
			list = append(list, e.Columns[names[k]].Name)
		}
	}
	slices.Reverse(list)
	return cmp.Or(wording.Some(list), "the sites")
}

// leastPart is the least weight, in deviations, of a column that is named as part of a mixture.
const leastPart = 1e-3
