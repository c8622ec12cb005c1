package models

// A Meant is a [Model] that says what its x is. The x of other models is log-penalties, if they are
// [Penalized] and the penalty grows with x, else just numbers.
type Meant interface {
	// Meaning returns the words. All processes of a run get the same.
	Meaning() Meaning
}

// A Meaning says in words what x is, for verdicts, tables and pages.
type Meaning struct {
	Symbol    string // of x, such as "λ"
	One, Many string // an entry and several, such as "penalty" and "penalties"
	About     string // a sentence for people on what an entry does
	// Pictures says which of the entries are pictures: these many, one after the other from the
	// first entry on, each of Rows·Cols entries.
	Pictures, Rows, Cols int
}

// A Baselined is a [Model] that says what a tuned x is compared with. The x of other models is
// compared with x whose entries are all one number, the best that there is, and 0.
type Baselined interface {
	// Baselines returns them, at least one, the plainest first. All processes of a run get
	// the same.
	Baselines() []Baseline
}

// A Simplified is a [Model], such as a network, with a simpler one of the same examples that takes
// little to solve. A run shows that one's best constant beside its own models, and says if it does
// as well.
type Simplified interface {
	// Simpler returns it, with a name such as "linear".
	Simpler() (name string, m Model)
}

// A Baseline is what one could take without tuning.
type Baseline struct {
	Name string    // such as "temperature 1" or "raw pixels"
	X    []float64 // hyperparameters of Of, at which its lower problem is solved
	Of   Model     // another model of the same examples; nil: the model itself
}
