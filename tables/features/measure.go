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

// measureNumbers finds the mean and the deviation of the inputs that are numbers or times, and of
// the target's numbers.
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

// setMoments sets what an input is encoded by.
func (p *preparation) setMoments(in *Input, m measure) error {
	in.Indicator = m.missing > 0
	switch {
	case m.rows == 0:
		in.Indicator = false
		p.drop(in, "all values of training rows are missing")
	case m.constant && m.missing == 0:
		p.drop(in, "all training rows have one value")
	case m.constant: // only its absence varies
		in.Mean, in.Deviation = m.mean, 1
	default:
		in.Mean, in.Deviation = m.mean, m.deviation
		return p.checkSpread(m)
	}
	return nil
}

// Bounds of a column's deviation in units of its numbers' usual distance from their mean, and of
// their usual size. Beyond them the sums of one column would take from the digits of others in the
// same sums, means below 2^-20 and deviations below 2^-28, and a few rows would be all that counts.
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
		"column %s must not have a few numbers that are out of all proportion: its deviation is %.3g, and most "+
			"numbers are about %.3g; "+
			"a number that stands for a missing value should be left out, or the column (-drop)",
		p.schema.Columns[m.column].Name, m.deviation, m.scale)
}

// moments finds the measures of columns, by their places, in four sums. Terms of a sum share a
// scale, so that the terms of a column are counted in units of its own, powers of two that come
// from sums of exponents: no site shows the size of its numbers, and the smallest column is as
// exact as the largest. Deviations are those from the mean, in a pass of their own.
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
			part[1] += float64(rows * d)
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

// eachNumber calls f for the numbers of a column in site i's training rows, and the number of rows
// that each represents.
func (p *preparation) eachNumber(i, column int, f func(v, rows float64)) {
	c := p.Tables[i].Columns[column]
	if c.Kind == tables.Word { // of which all are missing
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
