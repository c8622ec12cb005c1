package runs

import (
	"bytes"
	"encoding/csv"
	"math"
	"strconv"

	"dsbo/internal/atomicfile"
)

// LambdaTableFile is the hyperparameters by name, for people.
const LambdaTableFile = "lambda.csv"

// A Penalty is a line of lambda.csv: an entry of λ that is a log-penalty, and what it penalizes.
type Penalty struct {
	Name   string  // of what is penalized, such as a feature
	Lambda float64 // the log-penalty
	Norm   float64 // size of the weights: the root of the sum of their squares
	Kept   bool    // whether they are of any size beside those of other penalties
}

// WriteLambdaTable writes lambda.csv, in the order of λ.
func (f Folder) WriteLambdaTable(all []Penalty) error {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	_ = w.Write([]string{"feature", "lambda", "penalty", "size", "kept"}) // a buffer takes all
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for _, p := range all {
		kept := "no"
		if p.Kept {
			kept = "yes"
		}
		_ = w.Write([]string{p.Name, number(p.Lambda), number(math.Exp(p.Lambda)), number(p.Norm), kept})
	}
	w.Flush()
	return atomicfile.WriteBytes(f.Path(LambdaTableFile), text.Bytes())
}
