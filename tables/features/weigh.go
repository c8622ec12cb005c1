package features

import (
	"cmp"
	"math"
	"slices"

	"dsbo"
	"dsbo/ad"
	"dsbo/tables"
)

// sumWeights sums the weights of all rows of each set, by class. With Balance, the training rows'
// sums give the factor of each class, which the totals then include.
func sumWeights(p *preparation) error {
	if p.Balance && p.recipe.Target.Kind != Class {
		return dsbo.ConfigErrorf("-balance is for classes; the target %s is a %s", p.Target, p.recipe.Target.Kind)
	}
	classes := max(1, len(p.recipe.Target.Classes))
	sum := make([]float64, int(sets)*classes)
	err := p.Collective.Sum("sums of weights", sum, func(i int, part []float64) error {
		of, err := p.classesOf(i) // of an error the sum is not used
		for row, set := range p.parts[i].of {
			if err == nil {
				part[int(set)*classes+int(of[row])] += p.rowsOf(i, row)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	if p.Balance {
		setBalance(p, sum[:classes])
	}
	for set := range p.total {
		for k, w := range sum[set*classes:][:classes] {
			p.total[set] += float64(w * p.factor(k))
		}
	}
	return nil
}

// setBalance sets the factors of classes so that all classes with training rows have equal sums of
// weights, and the sum over all is unchanged. ofClass has the sums of training rows.
func setBalance(p *preparation, ofClass []float64) {
	all, present := 0.0, 0.0
	for _, w := range ofClass {
		if all += w; w > 0 {
			present++
		}
	}
	p.balance = make([]float64, len(ofClass))
	for k, w := range ofClass {
		if p.balance[k] = 1; w > 0 {
			p.balance[k] = all / (present * w)
		}
	}
}

// factor is what weights of rows of a class are multiplied by.
func (p *preparation) factor(class int) float64 {
	if p.balance == nil {
		return 1
	}
	return p.balance[class]
}

// checkWeights returns an error if a weight of a site of this process is negative, missing or no
// number, or all are 0. It removes rows of weight 0 from the tables: a row of weight w is w rows.
func checkWeights(p *preparation) error {
	for _, i := range p.localSites() {
		t := p.Tables[i]
		c := t.Column(p.Weight)
		if p.Weight == "" || c == nil { // which compareSchemas reports
			return nil
		}
		var rows []int
		for row := range t.Rows() {
			if c.Kind == tables.Word {
				return p.failAt(i, row, c.Name, "a weight must be a number from 0; the column holds words")
			}
			switch v := c.Number(row); {
			case v != v:
				return p.failAt(i, row, c.Name, "a weight must be a number from 0; it is missing")
			case v < 0:
				return p.failAt(i, row, c.Name, "a weight must be a number from 0; it is %s", numberText(v))
			case v > 0:
				rows = append(rows, row)
			}
		}
		if len(rows) == 0 && t.Rows() > 0 {
			return p.failf(i, c.Name, "a weight must be above 0 in some rows; all are 0")
		}
		if len(rows) < t.Rows() {
			p.Tables[i] = t.Pick(rows)
		}
	}
	return nil
}

// mostCounted is the number of rows up to which weights count them.
const mostCounted = 1 << 50

// scaleWeights finds the factor by which weights become numbers of rows. It is 1 if all are whole.
// Else it is (Σ w)/(Σ w²): the scaled weights sum to (Σ w)²/(Σ w²), the number of equally weighted
// rows with the same information. A first sum over the sites finds the usual size of weights, so
// that the sum of their squares is exact whatever their unit.
func scaleWeights(p *preparation) error {
	p.scale, p.made.Whole = 1, true
	if p.Weight == "" {
		return nil
	}
	// The sum of the exponents of weights, the number of rows, and of rows whose weight is not
	// whole.
	found, err := p.sum("magnitudes of weights", 3, func(i int, part []float64) {
		for row := range p.Tables[i].Rows() {
			w := p.rowsOf(i, row)
			if addExponent(part, w, 1); w != math.Trunc(w) {
				part[2]++
			}
		}
	})
	if err != nil {
		return err
	}
	unit := usualSize(found[0], found[1])
	sums, err := p.sum("squares of weights", 2, func(i int, part []float64) { // and of weights, in this unit
		for row := range p.Tables[i].Rows() {
			w := p.rowsOf(i, row) / unit
			part[0] += w
			part[1] += float64(w * w)
		}
	})
	if p.made.Whole = found[2] == 0 && sums[0]*unit <= mostCounted; !p.made.Whole {
		p.scale = sums[0] / sums[1] / unit
	}
	return err
}

// rowsOf returns the number of rows that a row of site i represents.
func (p *preparation) rowsOf(i, row int) float64 {
	if p.Weight == "" || p.plain {
		return 1
	}
	return p.column(i, p.Weight).Number(row) * p.scale
}

// countOf returns rowsOf for site i.
func (p *preparation) countOf(i int) func(row int) float64 {
	return func(row int) float64 { return p.rowsOf(i, row) }
}

// namedBy returns as how many rows a row of site i counts where a site names its words and classes:
// of weights that do not count rows, as one.
func (p *preparation) namedBy(i, row int) float64 {
	if !p.made.Whole {
		return 1
	}
	return p.rowsOf(i, row)
}

// countTable returns the numbers of rows that some rows of site i represent, nil if all are 1.
func countTable(p *preparation, i int, rows []int) (*ad.Table, error) {
	if p.Weight == "" {
		return nil, nil
	}
	counts := make([]float64, len(rows))
	for k, row := range rows {
		counts[k] = p.rowsOf(i, row)
	}
	return ad.FloatTable(len(rows), 1, counts)
}

// classesOf returns the class of each row of site i, 0 where there are no classes.
func (p *preparation) classesOf(i int) ([]uint8, error) {
	rows := p.Tables[i].Rows()
	if p.recipe.Target.Kind != Class {
		return make([]uint8, rows), nil
	}
	return classPlaces(p.Tables[i], p.column(i, p.Target), p.recipe.Target.Classes)
}

// weightTable returns the weights of the examples in some sets of site i, one set after the other,
// or nil if all are 1. A run averages over a site's examples and then over the n sites; for this to
// be the weighted mean over the rows of all sites, a row's weight is multiplied by n·size/total,
// where size is the number of the site's examples, and total the sum of the weights of all sites.
// A known recipe has no total.
func weightTable(p *preparation, i int, of ...set) (*ad.Table, error) {
	if p.plain {
		return nil, nil
	}
	classes, err := p.classesOf(i)
	if err != nil {
		return nil, err
	}
	part := p.parts[i]
	size, total := 0, 0.0
	for _, one := range of {
		size, total = size+part.sizes[one], total+p.total[one]
	}
	unit := float64(cmp.Or(p.Start, len(p.Tables))) * float64(size) / total
	var list []float32
	for _, one := range of {
		for row, set := range part.of {
			if set != one {
				continue
			}
			list = append(list, float32(p.rowsOf(i, row)*p.factor(int(classes[row]))*unit))
		}
	}
	if !slices.ContainsFunc(list, func(w float32) bool { return w != 1 }) {
		return nil, nil
	}
	return ad.Float32Table(len(list), 1, list)
}
