package features

import (
	"math"
	"runtime"
	"sync"

	"dsbo"
	"dsbo/tables"
)

// A measure is the statistics of a column of numbers over all training rows of all sites.
type measure struct {
	column    int     // place in the tables
	rows      float64 // those with a number, by their weights
	missing   float64 // those without
	scale     float64 // a power of two about the size of the numbers, without those that are 0
	mean      float64
	step      float64 // a power of two about the size of their distance from the mean
	deviation float64
	constant  bool // all numbers are one, up to their last digits
}

// measureNumbers sets the mean and the deviation of each input of numbers or times, and of a
// numeric target. Dropped inputs have no values, so that all of their training rows count as
// missing.
func measureNumbers(p *preparation) error {
	var columns []int
	for k, in := range p.recipe.Inputs {
		if in.Kind != tables.Word && in.Dropped == "" {
			columns = append(columns, p.places[k])
		}
	}
	target := p.columnIndex(p.Target)
	if p.recipe.Target.isMeasured() {
		columns = append(columns, target)
	}
	found, err := p.moments(columns)
	if err != nil {
		return err
	}
	for k := range p.recipe.Inputs {
		in := &p.recipe.Inputs[k]
		m, measured := found[p.places[k]]
		switch {
		case measured:
			p.made.Missing[k] = m.missing
			if err := p.setMoments(in, *m); err != nil {
				return err
			}
		case in.Kind != tables.Word: // dropped, as all are missing
			p.made.Missing[k] = p.rows[training]
		}
	}
	if m := found[target]; m != nil {
		return p.setTarget(*m)
	}
	return nil
}

// setTarget sets what the target's numbers are encoded by.
func (p *preparation) setTarget(m measure) (err error) {
	t := &p.recipe.Target
	if m.constant {
		return dsbo.ConfigErrorf(
			"column %s, the target, must have two values at least; all training rows have %g", p.Target, m.mean)
	}
	t.Mean = m.mean
	if t.Kind == Value {
		t.Deviation = m.deviation
	} else if t.Most, err = largestCount(p, m); err != nil {
		return err
	}
	return p.checkSpread(m)
}

// largestCount returns about how large the counts c of n training rows are at the most, (Σ c⁴)^¼:
// the largest one at least, and n^¼ times it where all are alike. A sum hides whose it is, and the
// nearer it is to the largest the more a few rows have of all. Terms are counted in shares of the
// sum of all, so that none is above 1.
func largestCount(p *preparation, m measure) (float64, error) {
	all := m.mean * m.rows
	sum, err := p.sum("counts⁴", 1, func(i int, part []float64) {
		p.eachNumber(i, m.column, func(v, rows float64) {
			square := (v / all) * (v / all)
			part[0] += float64(rows * square * square)
		})
	})
	return all * math.Sqrt(math.Sqrt(sum[0])), err
}

// setMoments sets the mean and deviation by which an input is encoded, and whether it has an
// indicator of missing values. An input that is the same in all training rows is dropped.
func (p *preparation) setMoments(in *Input, m measure) error {
	in.Indicator = m.missing > 0
	switch {
	case m.rows == 0:
		in.Indicator = false
		p.drop(in, "all values of training rows are missing")
	case m.constant && m.missing == 0:
		p.drop(in, "all training rows have one value")
	case m.constant: // only its absence varies, for which there is the indicator
		in.Mean, in.Deviation = m.mean, 1
	default:
		in.Mean, in.Deviation = m.mean, m.deviation
		return p.checkSpread(m)
	}
	return nil
}

// Limits of a column's deviation, in units of the usual distance of its numbers from their mean
// (widestSteps), and of their usual size (widestScales). Beyond them a few rows determine the
// column. Its terms would also cost other columns digits, as all terms of a sum share a scale:
// within the limits means keep 20 bits, and deviations 28.
const (
	widestSteps  = 1 << 16
	widestScales = 1 << 40
)

// checkSpread refuses a column some of whose numbers are out of all proportion.
func (p *preparation) checkSpread(m measure) error {
	if m.deviation <= widestSteps*m.step && m.deviation <= widestScales*m.scale {
		return nil
	}
	return dsbo.ConfigErrorf(
		"column %s must not have a few numbers that are out of all proportion: its deviation is %.3g, and the "+
			"geometric mean of their sizes %.3g; "+
			"a number that stands for a missing value should be left out, or the column (-drop)",
		p.schema.Columns[m.column].Name, m.deviation, m.scale)
}

// moments computes the measures of columns, by their indices, in four sums over the sites. All
// terms of a sum share one fixed-point scale. So that small columns are as exact as large ones,
// each column is first divided by a power of two of about its size; the mean exponent, itself from
// a sum, gives it without revealing the size of one site's numbers. The passes find the size, the
// mean, the size of the distances from the mean, and the deviation. Two passes for the deviation
// avoid the cancellation of Σv² − n·mean².
func (p *preparation) moments(columns []int) (found map[int]*measure, err error) {
	if len(columns) == 0 {
		return nil, nil
	}
	found, all := map[int]*measure{}, make([]measure, len(columns))
	for k, column := range columns {
		all[k] = measure{column: column, scale: 1, step: 1}
		found[column] = &all[k]
	}
	for _, pass := range []struct {
		name    string
		numbers int // of a column
		term    func(m *measure, part []float64, v, rows float64)
		take    func(m *measure, sum []float64)
	}{
		{"magnitudes of numbers", 3, func(_ *measure, part []float64, v, rows float64) {
			part[0] += rows
			addExponent(part[1:], v, rows)
		}, func(m *measure, sum []float64) { m.rows, m.scale = sum[0], usualSize(sum[1], sum[2]) }},
		{"sums of numbers", 1, func(m *measure, part []float64, v, rows float64) {
			part[0] += float64(rows * (v / m.scale))
		}, func(m *measure, sum []float64) { m.mean = sum[0] * m.scale / max(m.rows, 1) }},
		{"magnitudes of numbers", 2, func(m *measure, part []float64, v, rows float64) {
			addExponent(part, v-m.mean, rows)
		}, func(m *measure, sum []float64) { m.step = usualSize(sum[0], sum[1]) }},
		{"squares of numbers", 2, func(m *measure, part []float64, v, rows float64) {
			d := (v - m.mean) / m.step
			part[0] += float64(rows * d * d)
			part[1] += float64(rows * d) // not 0 as the mean is rounded, see setDeviation
		}, func(m *measure, sum []float64) { m.setDeviation(sum[0], sum[1]) }},
	} {
		sum, err := p.sum(pass.name, pass.numbers*len(all), func(i int, part []float64) {
			inParallel(len(all), func(k int) {
				terms := part[pass.numbers*k:][:pass.numbers]
				p.eachNumber(i, all[k].column, func(v, rows float64) { pass.term(&all[k], terms, v, rows) })
			})
		})
		if err != nil {
			return nil, err
		}
		for k := range all {
			pass.take(&all[k], sum[pass.numbers*k:][:pass.numbers])
		}
	}
	for k := range all {
		all[k].missing = p.unlessRounding(p.rows[training] - all[k].rows)
	}
	return found, nil
}

// setDeviation sets the deviation by the sums of squares and of distances from the mean, in steps.
// The mean is rounded, by a few units of its last digit at the most: numbers that are all one have
// one distance from it, up to rounding, and a variance around that distance of next to nothing
// beside its square.
func (m *measure) setDeviation(squares, distances float64) {
	rows := max(m.rows, 1)
	m.deviation = math.Sqrt(squares/rows) * m.step
	off := distances / rows
	m.constant = squares/rows-float64(off*off) <= 0x1p-20*float64(off*off)
}

// unlessRounding returns a number of training rows that is a difference of two; 0 where it is but
// their rounding, as of weights that are not whole.
func (p *preparation) unlessRounding(rows float64) float64 {
	if rows < 1e-9*p.rows[training] {
		return 0
	}
	return rows
}

// addExponent adds the exponent of a number that is not 0, in some rows, to a sum, and to their
// count.
func addExponent(part []float64, v, rows float64) {
	if v != 0 {
		part[0] += float64(rows * float64(math.Ilogb(v)))
		part[1] += rows
	}
}

// usualSize returns a power of two about the size of numbers, by the sum of their exponents and
// their count; 1: there are none.
func usualSize(exponents, count float64) float64 {
	if count == 0 {
		return 1
	}
	return math.Ldexp(1, int(math.Round(exponents/count)))
}

// eachNumber calls f with each number of a column in site i's training rows, and with the number of
// rows that it represents. Missing values, which are NaN, are skipped.
func (p *preparation) eachNumber(i, column int, f func(v, rows float64)) {
	c := p.Tables[i].Columns[column]
	if c.Kind == tables.Word { // a site whose values are all missing may have the column as words
		return
	}
	for row, of := range p.parts[i].of {
		if v := c.Number(row); of == training && v == v {
			f(v, p.rowsOf(i, row))
		}
	}
}

// inParallel calls f for 0 to n-1, several of them at the same time.
func inParallel(n int, f func(k int)) {
	var calls sync.WaitGroup
	for worker := range min(n, runtime.GOMAXPROCS(0)) {
		calls.Go(func() {
			for k := worker; k < n; k += runtime.GOMAXPROCS(0) {
				f(k)
			}
		})
	}
	calls.Wait()
}
