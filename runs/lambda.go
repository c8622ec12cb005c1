package runs

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strconv"
	"strings"

	"dsbo"
	"dsbo/internal/num"
	"dsbo/internal/wording"
)

// LambdaTableFile is the hyperparameters by name, for people.
const LambdaTableFile = "lambda.csv"

// PathFile is the path of a lasso, a λ a line with its cross-fitted loss, standard error and number
// of features.
const PathFile = "path.csv"

// A Penalty is a line of lambda.csv: an entry of λ that is a log-penalty, and what it penalizes.
type Penalty struct {
	Name   string  // of what is penalized, such as a feature
	Lambda float64 // the log-penalty
	Norm   float64 // size of the weights: the root of the sum of their squares
	Kept   bool    // whether they are of any size beside other penalties
}

// lambdaColumns are the columns of lambda.csv.
var lambdaColumns = []string{"feature", "lambda", "penalty", "size", "kept"}

// WriteLambdaTable writes lambda.csv, in the order of λ, with each name as a [wording.Cell].
func (f Folder) WriteLambdaTable(all []Penalty) error {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	_ = w.Write(lambdaColumns) // a buffer takes all
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for _, p := range all {
		kept := "no"
		if p.Kept {
			kept = "yes"
		}
		_ = w.Write([]string{wording.Cell(p.Name), number(p.Lambda), number(num.Exp(p.Lambda)), number(p.Norm), kept})
	}
	w.Flush()
	return f.WriteFile(LambdaTableFile, text.Bytes())
}

// ReadLambdaTable reads lambda.csv. Errors match [dsbo.ErrConfig].
func (f Folder) ReadLambdaTable() ([]Penalty, error) {
	path := f.Path(LambdaTableFile)
	data, err := f.ReadFile(LambdaTableFile)
	if err != nil {
		return nil, dsbo.ConfigErrorf("%w", err)
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, dsbo.ConfigErrorf("%s: %w", path, err)
	}
	if len(rows) < 2 || !slices.Equal(rows[0], lambdaColumns) {
		return nil, dsbo.ConfigErrorf("%s must have the columns %s, and a line for each penalty", path,
			strings.Join(lambdaColumns, ", "))
	}
	var all []Penalty
	for i, row := range rows[1:] {
		finite := func(text string) float64 { // keeps the first error in err
			v, e := strconv.ParseFloat(text, 64)
			if err == nil && (e != nil || !Number(v).Known()) {
				err = dsbo.ConfigErrorf("%s, penalty %d: λ and size must be finite numbers; one is %q", path, i+1, text)
			}
			return v
		}
		all = append(all, Penalty{wording.OfCell(row[0]), finite(row[1]), finite(row[3]), row[4] == "yes"})
	}
	return all, err
}
