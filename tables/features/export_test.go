package features

import (
	"fmt"

	"dsbo/tables"
)

// The functions of values behind the rules, for tests, which are in a package of their own: this
// one has a constant named testing.
var SplitRows = func(n int, classes []int32, shares Shares) (of []set, err error) {
	return SplitCounted(n, classes, alike, shares)
}

// ClassCodes numbers the values of a column.
var ClassCodes = classCodes

// SplitCounted divides rows, each of which stands for some, by shares.
func SplitCounted(n int, classes []int32, rows func(row int) float64, shares Shares) (of []set, err error) {
	part, err := splitRows(n, classes, rows, shares, 1, 0)
	if counted := newPartition(part.of); err == nil && counted.sizes != part.sizes {
		return nil, fmt.Errorf("sizes %v of sets of %v", part.sizes, counted.sizes)
	}
	return part.of, err
}

// alike is the weight of each row.
func alike(int) float64 { return 1 }

// Fold deals rows of some sets to folds, and returns their sets and the folds of training rows.
// Each stands for some rows; nil: for one.
func Fold(sets []set, count int, classes []int32, rows func(row int) float64, site int) (of []set, folds []int) {
	part := newPartition(sets)
	if rows == nil {
		rows = alike
	}
	part.fold(count, classes, rows, 1, site)
	return part.of, part.folds
}

// ChooseWords sets the words of an input, of training and test rows and with a bound of rare ones,
// and returns the training rows of each.
func ChooseWords(in *Input, rows, test, rare int, names []string, missing float64, counts []float64) []float64 {
	p := newPreparation(Sites{}, Options{Rare: rare})
	p.rows = [sets]float64{float64(rows), 0, float64(test)}
	p.chooseWords(in, names, missing, counts)
	return p.made.Words
}

// Balance returns the factors of classes that have some weights.
func Balance(ofClass []float64) []float64 {
	p := new(preparation)
	setBalance(p, ofClass)
	return p.balance
}

// A Measured is a measure.
type Measured struct {
	Rows, Missing, Scale, Mean, Step, Deviation float64
	Constant                                    bool
}

// SetMoments sets what an input is encoded by.
func SetMoments(in *Input, m Measured) error {
	p := newPreparation(Sites{}, Options{})
	p.schema.Columns = []columnSchema{{Name: "age"}}
	return p.setMoments(in, measure{rows: m.Rows, missing: m.Missing, scale: m.Scale, mean: m.Mean, step: m.Step,
		deviation: m.Deviation, constant: m.Constant})
}

// Failure returns what is wrong with the time and the event of a row.
func Failure(time, event *tables.Column, row int, word string) (column, why string) {
	return Target{Name: "time", Event: "event", EventWord: word}.failure(time, event, row)
}

// IsConstant reports whether a column of some rows has one value, by sums of squares and of
// distances, and MissingRows how many of 100 training rows have none, by a difference.
func IsConstant(rows, squares, distances float64) bool {
	m := measure{rows: rows, step: 1}
	m.setDeviation(squares, distances)
	return m.constant
}

// MissingRows is told at IsConstant.
func MissingRows(difference float64) float64 {
	return (&preparation{rows: [sets]float64{100}}).unlessRounding(difference)
}
