package privacy

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"dsbo"
	"dsbo/internal/vec"
)

// A Bound says how far one row can move an agent's averaged loss, whose other rows stay as they are.
type Bound struct {
	Gradient float64 // norm by which the gradient by y moves at most
	Product  float64 // norm by which a product of the Hessian by y with v moves at most, for ‖v‖ = 1
}

// A Terms is what the answers of one agent keep to.
type Terms struct {
	Budget      Budget
	Answers     [2]int     // the most answers about training and about validation rows
	Multipliers [2]float64 // deviation of the noise of an answer about either, in sensitivities
}

// NewTerms returns the terms of a budget that is spent by so many answers at most about training and validation rows.
func NewTerms(b Budget, training, validation int) (Terms, error) {
	t := Terms{Budget: b, Answers: [2]int{training, validation}}
	if err := b.Check(); err != nil {
		return t, err
	}
	for rows, answers := range t.Answers {
		if answers > 0 {
			t.Multipliers[rows] = Multiplier(b, answers)
		}
	}
	return t, nil
}

// An Oracle answers for an agent with noise. It is a [dsbo.Oracle] and, if the one behind it is, a [dsbo.PenaltyOracle]; it has neither
// values, diagonals nor matrices. Draws are always of all rows. A question that was asked before gets the answer that was given.
//
// The problem must be one whose x enters a penalty alone, the same for all data: ∇_x f and products with ∇²_xy g then tell nothing of
// rows, and are without noise.
type Oracle struct {
	inner        dsbo.Oracle
	lower, upper Bound
	terms        Terms
	ledger       *Ledger
	data         string // stands for the agent's rows
}

// NewOracle returns the oracle that stands before inner. lower and upper bound the agent's losses, and data stands for its rows: other
// rows get other noise, even for the same question.
func NewOracle(inner dsbo.Oracle, lower, upper Bound, t Terms, l *Ledger, data string) *Oracle {
	return &Oracle{inner, lower, upper, t, l, data}
}

var _ dsbo.PenaltyOracle = (*Oracle)(nil)

// everyRow is the draw of all rows.
var everyRow = dsbo.Sample{Set: dsbo.Whole}

// Dims implements [dsbo.Oracle].
func (o *Oracle) Dims() (p, q int) { return o.inner.Dims() }

// Penalty implements [dsbo.PenaltyOracle]. It tells nothing of rows.
func (o *Oracle) Penalty(dst, x []float64) error {
	of, ok := o.inner.(dsbo.PenaltyOracle)
	if !ok {
		return dsbo.Errorf(dsbo.ErrCapability, "this problem's oracles give no penalty (dsbo.PenaltyOracle is missing)")
	}
	return of.Penalty(dst, x)
}

// UpperGrad implements [dsbo.Oracle].
func (o *Oracle) UpperGrad(dx, dy, x, y []float64, _ dsbo.Sample) error {
	if err := o.inner.UpperGrad(dx, dy, x, y, everyRow); err != nil || dy == nil {
		return err
	}
	return o.cover(dy, Validation, o.upper.Gradient, "gradient of f", x, y)
}

// LowerGrad implements [dsbo.Oracle].
func (o *Oracle) LowerGrad(dst, x, y []float64, _ dsbo.Sample) error {
	if err := o.inner.LowerGrad(dst, x, y, everyRow); err != nil {
		return err
	}
	return o.cover(dst, Training, o.lower.Gradient, "gradient of g", x, y)
}

// HVP implements [dsbo.Oracle].
func (o *Oracle) HVP(dst, x, y, v []float64, _ dsbo.Sample) error {
	if err := o.inner.HVP(dst, x, y, v, everyRow); err != nil {
		return err
	}
	return o.cover(dst, Training, o.lower.Product*vec.Norm(v), "product", x, y, v)
}

// JVP implements [dsbo.Oracle]. It tells nothing of rows.
func (o *Oracle) JVP(dst, x, y, v []float64, _ dsbo.Sample) error {
	return o.inner.JVP(dst, x, y, v, everyRow)
}

// cover rounds an answer to the grid and adds noise to it. sensitivity is how far one row can move it.
func (o *Oracle) cover(dst []float64, of Rows, sensitivity float64, what string, inputs ...[]float64) error {
	if sensitivity == 0 { // a product with 0
		return nil
	}
	grid, err := gridOf(o.terms.Multipliers[of]*(1+margin), sensitivity, len(dst))
	if err != nil {
		return err
	}
	source, err := o.ledger.noise(of, o.question(what, inputs), o.terms.Answers[of])
	if err != nil {
		return err
	}
	for i, v := range dst {
		if math.IsNaN(v) {
			return dsbo.Errorf(dsbo.ErrDiverged, "%s: number %d of %d is NaN", what, i, len(dst))
		}
		units := int64(math.RoundToEven(min(max(v/grid, -mostUnits), mostUnits)))
		dst[i] = float64(units+discreteGaussian(source)) * grid
	}
	return nil
}

const (
	// mostUnits bounds an entry in units of the grid, so that it and its noise are whole numbers of float64. Larger ones, of a penalty
	// run wild, are cut off: that brings no two answers farther apart.
	mostUnits = 1 << 51
	// margin is more than the rounding of float64 in a mean over a million rows can move an answer, as a share of the sensitivity: each of
	// m terms adds at most m·2^-53 of it.
	margin = 1e-3
)

// gridOf returns the unit of a grid for so many entries in which noise of deviation 2^gridBits is multiplier times the sensitivity, to
// which rounding adds one unit for each entry: 2^gridBits = multiplier·(sensitivity/grid + √entries).
func gridOf(multiplier, sensitivity float64, entries int) (float64, error) {
	left := 1<<gridBits - multiplier*math.Sqrt(float64(entries))
	if left < 1<<(gridBits-1) {
		return 0, dsbo.Errorf(dsbo.ErrConfig, "answers of %d numbers with noise of %.3g sensitivities are too many and too noisy for a grid of 2^-%d: ε must be larger, or K smaller",
			entries, multiplier, gridBits)
	}
	return multiplier * sensitivity / left, nil
}

// question returns what stands for a question: its name, its inputs, the agent's rows, and how large the noise of its answer is.
func (o *Oracle) question(what string, inputs [][]float64) []byte {
	h := sha256.New()
	h.Write([]byte(what + "\n" + o.data + "\n"))
	number := func(v float64) { h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))) }
	for _, v := range []float64{o.lower.Gradient, o.lower.Product, o.upper.Gradient, o.terms.Multipliers[0], o.terms.Multipliers[1]} {
		number(v)
	}
	for _, input := range inputs {
		number(float64(len(input)))
		for _, v := range input {
			number(v)
		}
	}
	return h.Sum(nil)
}
