package features

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dsbo"
	"dsbo/ad"
	"dsbo/tables"
)

// A Sparse is the encoding of the numbered columns of a sparse table, as of LIBSVM files, as
// features. A number v of column k, from 1 on, becomes v / scale under the name "fk". Nothing is
// centred, so that what is 0 stays 0 and takes no memory. A scale is the root mean square of the
// numbers of training rows that are not 0: a column of zeros and ones stays as it is, as words do.
type Sparse struct {
	Columns int `json:"columns"` // number of columns, the most that a site has
	// columns that become features, ascending: those that are not 0 in all training rows
	Indices Line[int]     `json:"indices"`
	Scales  Line[float64] `json:"scales"` // of each of Indices, larger than 0
}

// sparseName is what a sparse column is called, by its number from 1 on.
func sparseName(column int) string { return "f" + strconv.Itoa(column) }

// featureOf returns the place among the features of a column, from 0 on; -1: it is none.
func (s *Sparse) featureOf(column int32) int {
	k, known := slices.BinarySearch(s.Indices, int(column)+1)
	if !known {
		return -1
	}
	return k
}

// A Line is a list of numbers that JSON has as a string with spaces between them: a hundred
// thousand take one line.
type Line[T int | float64] []T

// MarshalText implements encoding.TextMarshaler.
func (l Line[T]) MarshalText() ([]byte, error) {
	var text []byte
	for k, v := range l {
		if k > 0 {
			text = append(text, ' ')
		}
		text = fmt.Append(text, v) // the shortest text of the number
	}
	return text, nil
}

// UnmarshalText implements encoding.TextUnmarshaler. A number that T cannot represent, such as a
// fraction in a list of ints, is an error.
func (l *Line[T]) UnmarshalText(text []byte) error {
	*l = nil
	for field := range strings.FieldsSeq(string(text)) {
		v, err := strconv.ParseFloat(field, 64)
		if err != nil || float64(T(v)) != v {
			return fmt.Errorf("a list must be numbers with spaces between; it has %.40q", field)
		}
		*l = append(*l, T(v))
	}
	return nil
}

// measureSparse chooses the sparse columns that become features, the ones that are not 0 in all
// training rows, and finds their scales. As in [preparation.moments], a first sum over the sites
// finds the usual size of each column's numbers, and a second one their squares in units of it.
func measureSparse(p *preparation) error {
	columns := p.schema.Sparse
	if columns == 0 {
		return nil
	}
	// For each column the sum of the exponents of its numbers, and their count.
	sizes, err := p.sum("magnitudes of numbers", 2*columns, func(i int, part []float64) {
		p.eachSparse(i, func(column int32, v, rows float64) { addExponent(part[2*column:], v, rows) })
	})
	if err != nil {
		return err
	}
	units := make([]float64, columns)
	for k := range units {
		units[k] = usualSize(sizes[2*k], sizes[2*k+1])
	}
	squares, err := p.sum("squares of numbers", columns, func(i int, part []float64) {
		p.eachSparse(i, func(column int32, v, rows float64) {
			v /= units[column]
			part[column] += float64(rows * v * v)
		})
	})
	if err != nil {
		return err
	}
	s := &Sparse{Columns: columns}
	for k, unit := range units {
		count := sizes[2*k+1]
		if count == 0 {
			continue
		}
		spread := math.Sqrt(squares[k] / count)
		if spread > widestSteps {
			return dsbo.ConfigErrorf(
				"column %s must not have a few numbers that are out of all proportion: their root mean square is "+
					"%.3g, and most are about %.3g",
				sparseName(k+1), spread*unit, unit)
		}
		// With the digits of the numbers in files, model.json is half as long.
		s.Indices, s.Scales = append(s.Indices, k+1), append(s.Scales, float64(float32(spread*unit)))
	}
	if dropped := columns - len(s.Indices); dropped > 0 {
		p.note("%d of %d sparse columns are dropped: all training rows have 0 there", dropped, columns)
	}
	p.recipe.Sparse = s
	return nil
}

// eachSparse calls f for the numbers in the sparse columns, from 0 on, of site i's training rows,
// and the number of rows that each represents.
func (p *preparation) eachSparse(i int, f func(column int32, v, rows float64)) {
	s := p.Tables[i].Sparse
	for row, of := range p.parts[i].of {
		if of != training {
			continue
		}
		for e := s.Starts[row]; e < s.Starts[row+1]; e++ {
			f(s.Indices[e], float64(s.Values[e]), p.rowsOf(i, row))
		}
	}
}

// sparseFeatures encodes the rows of site i into one sparse table for each set, and frees the
// site's own table. Memory for each set is allocated by an upper bound: columns that are no feature
// are counted too.
func (p *preparation) sparseFeatures(i int) (sites [sets]*ad.Table, err error) {
	t, part := p.Tables[i], p.parts[i]
	var numbers [sets]int
	for row, of := range part.of {
		numbers[of] += t.Sparse.Starts[row+1] - t.Sparse.Starts[row]
	}
	var starts [sets][]int
	var indices [sets][]int32
	var values [sets][]float32
	for k, size := range part.sizes {
		starts[k], indices[k], values[k] = make([]int, 1, size+1), make([]int32, 0, numbers[k]),
			make([]float32, 0, numbers[k])
	}
	for row, of := range part.of {
		eachFeature(p.recipe.Sparse, t.Sparse, row, func(place int, v float64) {
			indices[of], values[of] = append(indices[of], int32(place)), append(values[of], float32(v))
		})
		starts[of] = append(starts[of], len(values[of]))
	}
	t.Sparse = tables.Sparse{}
	for k, size := range part.sizes {
		if size == 0 {
			continue
		}
		if sites[k], err = ad.SparseTable(size, len(p.recipe.Sparse.Indices), starts[k], indices[k],
			values[k]); err != nil {
			return sites, fmt.Errorf("%s: %s features: %w", p.label(i), setNames[k], err)
		}
	}
	return sites, nil
}

// eachFeature calls f for the features of a row that may not be 0, in their order.
func eachFeature(r *Sparse, t tables.Sparse, row int, f func(place int, v float64)) {
	for e := t.Starts[row]; e < t.Starts[row+1]; e++ {
		if place := r.featureOf(t.Indices[e]); place >= 0 {
			f(place, float64(t.Values[e])/r.Scales[place])
		}
	}
}
