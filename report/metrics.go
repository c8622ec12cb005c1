package report

import (
	"bytes"
	"fmt"
	"math"
)

// Metrics is the course of a run: one row for each evaluation, by name of the measured quantity.
type Metrics struct {
	rows    int
	columns map[string][]float64
}

// Rows returns the number of evaluations.
func (m Metrics) Rows() int { return m.rows }

// Column returns a quantity at each evaluation, NaN where it was not measured. It returns nil for
// a quantity that no evaluation has. The slice is the Metrics' own.
func (m Metrics) Column(name string) []float64 { return m.columns[name] }

// Last returns a quantity at the last evaluation that has it, NaN if none has.
func (m Metrics) Last(name string) float64 {
	column := m.columns[name]
	for i := len(column) - 1; i >= 0; i-- {
		if !math.IsNaN(column[i]) {
			return column[i]
		}
	}
	return math.NaN()
}

// parseMetrics reads metrics.jsonl: one JSON object a line with an "iteration" that grows. A last
// line without line end that is not whole, which a stopped process leaves, is dropped, and cut
// says so. Anything else that is wrong is an error naming the line.
func parseMetrics(data []byte) (m Metrics, cut bool, err error) {
	m.columns = map[string][]float64{}
	lines := bytes.Split(data, []byte("\n"))
	for i, line := range lines {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		fields, err := parseFields(line)
		if err != nil && i == len(lines)-1 {
			return m, true, nil
		}
		if err == nil {
			err = m.add(fields)
		}
		if err != nil {
			return Metrics{}, false, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return m, false, nil
}

// add appends a row.
func (m *Metrics) add(fields Fields) error {
	k := fields.Number(keyIteration)
	switch {
	case math.IsNaN(k) || k < 0 || k != math.Trunc(k):
		return fmt.Errorf("iteration %q: want a whole number from 0 on", fields.Get(keyIteration))
	case m.rows > 0 && k <= m.columns[keyIteration][m.rows-1]:
		return fmt.Errorf("iteration %g after iteration %g: want a larger one", k, m.columns[keyIteration][m.rows-1])
	}
	for _, f := range fields {
		v, ok := f.number()
		if !ok {
			if isMetric(f.Key) {
				return fmt.Errorf("%s is %.20q: want a number", f.Key, f.Text)
			}
			continue
		}
		column := m.columns[f.Key]
		for len(column) <= m.rows {
			column = append(column, math.NaN())
		}
		column[m.rows] = v
		m.columns[f.Key] = column
	}
	m.rows++
	for key, column := range m.columns {
		for len(column) < m.rows {
			column = append(column, math.NaN())
		}
		m.columns[key] = column
	}
	return nil
}
