// Package features makes examples of tables: features and targets that are alike at all sites, by a
// [Recipe] that the sites find together by sums, none of which shows the rows of one site.
//
// # Why no library
//
// Libraries prepare features from the pooled rows. Here means, deviations, categories and shares of
// missing values must follow from sums over sites, to the same bits at each, and travel with the
// model.
package features

import (
	"math"
	"slices"

	"dsbo"
	"dsbo/tables"
)

// A Recipe is the encoding of a table's row as features and a target. It is the same at all sites,
// and kept with the model.
type Recipe struct {
	Inputs []Input `json:"inputs,omitempty"` // columns that become features, in the order of the table
	Sparse *Sparse `json:"sparse,omitempty"` // of sparse tables, which have no inputs; nil: of others
	Target Target  `json:"target"`
	// Missing is NoneMissing where rows without a value are refused, also later; "": they
	// are taken.
	Missing MissingRule `json:"missing,omitempty"`
	// MissingWords are the words for a missing value in files, unless an input has its own; nil: in
	// recipes of earlier versions, which have [tables.MissingWords].
	MissingWords []string `json:"missing_words,omitzero"`
}

// An Input is a column of the table that becomes features.
//
// A number or time v becomes (v − Mean) / Deviation, 0 where it is missing, and with Indicator a
// second feature that is 1 where it is missing, else 0. A word becomes one feature for each of
// Words, 1 for the word itself and else 0; with Rare one more for all other words, and with
// Indicator one for a missing word.
type Input struct {
	Name      string      `json:"name"`                // of the column
	Kind      tables.Kind `json:"kind"`                // of the column
	Unit      string      `json:"unit,omitempty"`      // of a time, or of numbers such as 43 %
	Mean      float64     `json:"mean,omitempty"`      // that is subtracted
	Deviation float64     `json:"deviation,omitempty"` // larger than 0
	Words     []string    `json:"words,omitempty"`     // a feature each
	Rare      bool        `json:"rare,omitempty"`      // whether other words are a feature too
	Indicator bool        `json:"indicator,omitempty"` // whether a missing value is a feature too
	Dropped   string      `json:"dropped,omitempty"`   // why the column becomes no feature; "": it does
	// MissingWords are the words for a missing value of this column in files; nil: the recipe's.
	MissingWords []string `json:"missing_words,omitzero"`
}

// IsWide reports whether the input's numbers are too close together, beside their size, for
// float32, whose rounding would move a feature by 2^-10 deviations: as times in seconds. A
// model.onnx takes them as float64.
func (in Input) IsWide() bool { return math.Abs(in.Mean) > 1<<14*in.Deviation }

// A TargetKind is what a model predicts.
type TargetKind string

// The kinds of targets.
const (
	Class  TargetKind = "class"
	Value  TargetKind = "value" // a real number
	Counts TargetKind = "count" // a whole number from 0
	// a time until an event, or until its row was lost sight of, which is censored
	Survival TargetKind = "survival"
)

// A Target is the column that a model predicts. A value v is learned as (v − Mean) / Deviation; a
// count as it is, by a model that starts at the mean; a time by its order among the times of a
// site.
type Target struct {
	Name string     `json:"name"`
	Kind TargetKind `json:"kind"`
	// names of classes, as in files, in the order of the model's outputs
	Classes   []string `json:"classes,omitempty"`
	Mean      float64  `json:"mean,omitempty"` // of values and counts
	Deviation float64  `json:"deviation,omitempty"`
	Most      float64  `json:"most,omitempty"` // the largest prediction of counts; 0: any, of earlier models
	// Event is the column that marks times that ended with the event, and EventWord its word for
	// that; "": 1, and 0 for none.
	Event     string `json:"event,omitempty"`
	EventWord string `json:"event_word,omitempty"`
}

// isMeasured reports whether the target has a mean.
func (t Target) isMeasured() bool { return t.Kind == Value || t.Kind == Counts }

// A Feature is one number of an example.
type Feature struct {
	Name  string // such as "age", "age missing", "colour=red", "colour (rare)", "colour missing"
	Input int    // number for Recipe.Input: features of one input are a group
}

// Used returns the inputs that become features.
func (r Recipe) Used() []Input {
	return slices.DeleteFunc(slices.Clone(r.Inputs), func(in Input) bool { return in.Dropped != "" })
}

// MissingWordsOf returns the words for a missing value of an input.
func (r Recipe) MissingWordsOf(in Input) []string {
	switch {
	case in.MissingWords != nil:
		return in.MissingWords
	case r.MissingWords != nil:
		return r.MissingWords
	}
	return tables.MissingWords
}

// Input returns the input with a number: Inputs, then for each sparse column that becomes a feature
// a number of mean 0.
func (r Recipe) Input(k int) Input {
	if k < len(r.Inputs) {
		return r.Inputs[k]
	}
	k -= len(r.Inputs)
	return Input{Name: sparseName(r.Sparse.Indices[k]), Kind: tables.Number, Deviation: r.Sparse.Scales[k]}
}

// Features returns the features of an example, in their order.
func (r Recipe) Features() []Feature {
	var list []Feature
	for i, in := range r.Inputs {
		if in.Dropped != "" {
			continue
		}
		add := func(name string) { list = append(list, Feature{name, i}) }
		if in.Kind == tables.Word {
			for _, w := range in.Words {
				add(in.Name + "=" + w)
			}
			if in.Rare {
				add(in.Name + " (rare)")
			}
		} else {
			add(in.Name)
		}
		if in.Indicator {
			add(in.Name + " missing")
		}
	}
	if r.Sparse != nil {
		for k, column := range r.Sparse.Indices {
			list = append(list, Feature{sparseName(column), len(r.Inputs) + k})
		}
	}
	return list
}

// Layout returns the indices of the features for rare words and for missing values among the
// input's features, -1 where there is none, and the number of its features. The words' features, or
// the number, come first.
func (in Input) Layout() (rare, missing, count int) {
	rare, missing, count = -1, -1, len(in.Words)
	if in.Kind != tables.Word {
		count = 1
	}
	if in.Rare {
		rare, count = count, count+1
	}
	if in.Indicator {
		missing, count = count, count+1
	}
	return rare, missing, count
}

// Groups returns the group of each feature: the features of one input are one, and groups count
// from 0 on.
func (r Recipe) Groups() []int {
	list, group, last := []int{}, -1, -1
	for _, f := range r.Features() {
		if f.Input != last {
			group, last = group+1, f.Input
		}
		list = append(list, group)
	}
	return list
}

// checkNames returns an error if two features have the same name, as columns "a=b" with word "c"
// and "a" with word "b=c" do: results list λ and weights by the names.
func (r Recipe) checkNames() error {
	of := map[string]string{}
	for _, f := range r.Features() {
		column := r.Input(f.Input).Name
		if other, twice := of[f.Name]; twice {
			return dsbo.ConfigErrorf("columns %s and %s both make the feature %q: one must have another name, or be "+
				"left out (-drop)", other, column, f.Name)
		}
		of[f.Name] = column
	}
	return nil
}
