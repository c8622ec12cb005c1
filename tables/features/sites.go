package features

import (
	"encoding/json"
	"fmt"
	"slices"

	"dsbo"
	"dsbo/network"
	"dsbo/tables"
)

// Sites are the tables of the sites of a run, as one process sees them.
type Sites struct {
	Tables []*tables.Table // one for each site; nil for the sites of other processes
	// number of sites in Collective's sums, fewer than tables if a site joined later; 0: as many
	Start      int
	Collective network.Collective // way to what all sites find together
	Seed       uint64             // of the split
	// Rows is asked before anything is made of the rows of each kind or fold of site i, which is
	// here; nil: nobody is.
	Rows func(i int, rows []int) error
}

// localSites returns the numbers of the sites of this process.
func (s Sites) localSites() (list []int) {
	for i, t := range s.Tables {
		if t != nil {
			list = append(list, i)
		}
	}
	return list
}

// label is what errors call site i: of a site elsewhere the label of the file is not known.
func (s Sites) label(i int) string {
	if t := s.Tables[i]; t != nil && t.Name != "" {
		return fmt.Sprintf("site %d (%s)", i, t.Name)
	}
	return fmt.Sprintf("site %d", i)
}

// failAt returns an error about a row, from 0, and a column of site i, which is here. It
// matches dsbo.ErrConfig.
func (s Sites) failAt(i, row int, column, format string, args ...any) error {
	return fmt.Errorf("site %d: %w", i, s.Tables[i].Fail(row, column, format, args...))
}

// failf returns an error about a column of site i, which matches dsbo.ErrConfig.
func (s Sites) failf(i int, column, format string, args ...any) error {
	return dsbo.ConfigErrorf("%s, column %s: %s", s.label(i), column, fmt.Sprintf(format, args...))
}

// sum returns n sums over all sites of what fill writes for the sites of this process.
func (s Sites) sum(name string, n int, fill func(i int, part []float64)) ([]float64, error) {
	all := make([]float64, n)
	return all, s.Collective.Sum(name, all, func(i int, part []float64) error {
		fill(i, part)
		return nil
	})
}

// exchange returns the values of all sites, the same at each; of returns a value for a site of this
// process. Values travel as JSON. A value that cannot be decoded is a fault of the site that sent
// it, perhaps of another version.
func exchange[T any](s Sites, what string, of func(i int) T) ([]T, error) {
	texts, err := s.Collective.Texts(what, func(i int) (string, error) {
		text, err := json.Marshal(of(i))
		return string(text), err
	})
	if err != nil {
		return nil, err
	}
	all := make([]T, len(texts))
	for i, text := range texts {
		if err := json.Unmarshal([]byte(text), &all[i]); err != nil {
			return nil, dsbo.ConfigErrorf("%s: the list of its %s cannot be read: %w; it is %.100q",
				s.label(i), what, err, text)
		}
	}
	return all, nil
}

// A MissingRule is the treatment of missing values of features.
type MissingRule string

// The rules for missing values.
const (
	// the mean takes their place, with an indicator if training rows have some
	MeanOfOthers MissingRule = "mean"
	NoneMissing  MissingRule = "refuse" // they are an error
)

// Options are the roles and kinds of the sites' columns. All sites have the same.
type Options struct {
	Target      string     // column to predict
	Kind        TargetKind // "": found from the target's values
	Event       string     // column of events, see [Target]; "": times are no targets
	EventWord   string     // the word of an event; "": 1
	Weight      string     // column of the weights of rows; "": all 1
	SplitColumn string     // column of words train, validation and test; "": Split decides
	Split       Shares     // shares of a site's rows
	// cross-validate with a number of parts of the rows but the test rows, see [models.Folds]; 0:
	// do not
	Folds    int
	FoldRows int         // cross-validate where all sites together have at most this number of these rows; 0: always
	Rare     int         // a word that fewer rows of all sites together have, by training rows, is no feature
	Missing  MissingRule // what becomes of missing values
	// MissingWords are the words for missing values with which the tables were read; nil:
	// [tables.MissingWords].
	MissingWords []string
	MissingOf    map[string][]string // the words of columns that have others
	// RareClasses is the treatment of rows whose class has fewer than 5 rows at every site.
	RareClasses RareRule
	Balance     bool // weigh rows so that each class has the same weight
}

// columnNames returns the columns that Options name.
func (o Options) columnNames() []string {
	return slices.DeleteFunc([]string{o.Target, o.Event, o.Weight, o.SplitColumn},
		func(name string) bool { return name == "" })
}

// leastNamed is the number of rows of a site, test rows included, that a word must be in for the
// site to name it to the others. Rarer words count as rare.
const leastNamed = 5

// mostClasses is the largest number of classes.
const mostClasses = 256

// mostFound is the largest number of distinct whole numbers that are taken as classes if no flag
// names the target's kind; of more than fewAlone, each must have two rows on average.
const (
	mostFound = 20
	fewAlone  = 10
)
