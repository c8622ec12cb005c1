package models

// A Meant is a [Model] that describes its x. The x of another model is log-penalties if it is
// [Penalized] and the penalty grows with x, else plain numbers.
type Meant interface {
	// Meaning returns the words. All processes of a run get the same.
	Meaning() Meaning
}

// A Meaning describes x for verdicts, tables and pages.
type Meaning struct {
	Symbol    string // of x, such as "λ"
	One, Many string // an entry and several, such as "penalty" and "penalties"
	About     string // one sentence on the effect of an entry
	// Pictures is the number of pictures in x, each of Rows·Cols entries, one after the other from
	// entry 0.
	Pictures, Rows, Cols int
}

// A Baselined is a [Model] that names the x with which a tuned x is compared. For other models
// these are the best x whose entries are all equal, and 0.
type Baselined interface {
	// Baselines returns them, at least one, the plainest first. All processes of a run get
	// the same.
	Baselines() []Baseline
}

// A Simplified is a [Model], such as a network, that has a simpler model of the same examples,
// cheap to solve. A run reports the simpler model's best constant beside its own results, and
// whether it does as well.
type Simplified interface {
	// Simpler returns it, with a name such as "linear".
	Simpler() (name string, m Model)
}

// A Baseline is a choice of x that needs no tuning.
type Baseline struct {
	Name string    // such as "temperature 1" or "raw pixels"
	X    []float64 // hyperparameters at which Of's lower problem is solved
	Of   Model     // another model of the same examples; nil: the model itself
}
