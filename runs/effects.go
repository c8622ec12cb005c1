package runs

import (
	"encoding/json"
)

// Effects is what is known of the coefficients of a linear model together.
type Effects struct {
	Rows   int `json:"rows,omitzero"`   // of all agents, by which they are estimated
	Events int `json:"events,omitzero"` // events among them, of survival times; of unlike weights,
	// the equivalent number
	// Refused is the reason why there are no estimates; "": there are.
	Refused string `json:"refused,omitempty"`
	// Shown is the number of intervals, chosen by the kept weights among Of: 95 % of these cover
	// the truth on average.
	Shown int `json:"shown,omitzero"`
	Of    int `json:"of,omitzero"` // see Shown
	// NoFeature is the p value of the hypothesis that no feature has an effect, by a test with
	// permuted targets; 0: it is not tested.
	NoFeature float64 `json:"no_feature_p,omitzero"`
	// Columns lists the contribution of each column of the coefficients, the largest first.
	Columns []ColumnEffect `json:"columns,omitempty"`
}

// mostByChance is the p value up to which features have more than a chance effect.
const mostByChance = 0.05

// ByChance reports whether it may be that no feature counts.
func (e *Effects) ByChance() bool { return e != nil && e.NoFeature > mostByChance }

// A ColumnEffect is how much a column of a file gives with all its words: the standard deviation
// over the rows of its part of what is predicted, of several classes the root of the mean square.
type ColumnEffect struct {
	Column string `json:"column"`
	Value  Number `json:"value"`
	Low    Number `json:"low"`
	High   Number `json:"high"`
}

// A Coefficient is by how much one more of a feature, in the unit of the file, raises the predicted
// number, the logarithm of the odds of a class against another one, or of a count or a hazard.
type Coefficient struct {
	Feature string `json:"feature"`          // name of the feature
	Column  string `json:"column,omitempty"` // of the file, of which the feature is made
	Class   string `json:"class,omitempty"`  // whose odds it changes, of several
	// Value is the weight with which the kept model predicts, which penalties pull towards 0.
	Value Number `json:"value"`
	// Estimate is of a fit without penalties, in which each agent has a level of its own; unknown
	// where there is none.
	Estimate Number `json:"estimate"`
	Error    Number `json:"error"` // standard error of Estimate
	Low      Number `json:"low"`   // interval of 95 %, see Effects.Shown
	High     Number `json:"high"`  // see Low
	// Reference is the feature of the word to which all others are relative, else ReferenceClass.
	Reference string `json:"reference,omitempty"`
	// ReferenceClass is the class against which the odds are; "": there are no classes.
	ReferenceClass string `json:"reference_class,omitempty"`
	// BeyondChance is set where the effect is not 0 by a test of all coefficients that marks none
	// by mistake in 95 % of runs.
	BeyondChance bool    `json:"beyond_chance"`
	Why          string  `json:"why,omitempty"`      // there is no estimate of this one
	Deviation    float64 `json:"deviation,omitzero"` // of the feature, in its unit; 0: of a word, or of missing values
}

// Step is the change of the feature behind a coefficient's stated effect: a standard deviation of a
// number, all of a word.
func (c Coefficient) Step() float64 {
	if c.Deviation > 0 {
		return c.Deviation
	}
	return 1
}

// UnmarshalJSON implements json.Unmarshaler. What older files do not have is unknown; their errors
// are of the kept weights, and are left out.
func (c *Coefficient) UnmarshalJSON(data []byte) error {
	type plain Coefficient
	p := plain{Value: Unknown(), Estimate: Unknown(), Error: Unknown(), Low: Unknown(), High: Unknown()}
	err := json.Unmarshal(data, &p)
	if *c = Coefficient(p); !c.Estimate.Known() {
		c.Error = Unknown()
	}
	return err
}
