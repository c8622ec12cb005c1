package runs

import (
	"fmt"
	"strings"
	"time"

	"dsbo/internal/wording"
)

// A Card describes how a run's tables were read, and the training rows of all sites together. It
// has sums over sites; of one site alone it has the number of rows, Own and Odd.
type Card struct {
	// Rows are the training, validation and test rows; with folds training rows validate too.
	Rows    [3]int       `json:"rows"`
	Target  CardColumn   `json:"target"`  // what is predicted
	Columns []CardColumn `json:"columns"` // all others, in the order of the tables
	// Sites are the training, validation and test rows of each site, with folds as Rows.
	Sites [][3]int `json:"sites,omitempty"`
	// Own are the training rows of each class of the site that wrote the folder, which others do
	// not know; none where it is of all sites.
	Own []Number `json:"own,omitempty"`
	Odd []string `json:"odd,omitempty"` // what is unusual of values of the files of that site, a sentence each
}

// A CardColumn is a column of a [Card].
type CardColumn struct {
	Name      string   `json:"name"`
	Read      string   `json:"read"`              // how: "number", "number, %", DateColumn, TimeColumn, "words"
	Missing   Number   `json:"missing"`           // training rows without a value
	Mean      Number   `json:"mean"`              // of numbers, and of days or seconds since 1970
	Deviation Number   `json:"deviation"`         // see Mean
	Levels    []string `json:"levels,omitempty"`  // words with a feature of their own, or the target's classes
	Counts    []Number `json:"counts,omitempty"`  // training rows of each class
	Dropped   string   `json:"dropped,omitempty"` // why nothing is learned from it; "": something is
}

// How times are read: as days or as seconds since 1970.
const (
	DateColumn = "date"
	TimeColumn = "date and time"
)

// mostLevels is of how many levels the text of a column has the names.
const mostLevels = 6

// Values returns, for people, the levels of a column or the mean and deviation of its numbers;
// times as a date ± days. It is "" for a dropped column, or an unknown mean.
func (c CardColumn) Values() string {
	mean, deviation := float64(c.Mean), float64(c.Deviation)
	since := func(seconds float64) string { return time.Unix(int64(seconds), 0).UTC().Format(time.DateOnly) }
	switch {
	case len(c.Levels) > 0:
		return c.levels()
	case c.Dropped != "" || !c.Mean.Known():
		return ""
	case c.Read == DateColumn:
		return fmt.Sprintf("%s ± %.3g days", since(86400*mean), deviation)
	case c.Read == TimeColumn:
		return fmt.Sprintf("%s ± %.3g days", since(mean), deviation/86400)
	}
	if !c.Deviation.Known() {
		return fmt.Sprintf("%.4g", mean)
	}
	return fmt.Sprintf("%.*g ± %.4g", wording.Digits(4, mean, deviation), mean, deviation)
}

// levels lists the levels, of many the first, with their shares where these are known.
func (c CardColumn) levels() string {
	total, shown := 0.0, make([]string, min(len(c.Levels), mostLevels))
	for _, n := range c.Counts {
		total += float64(n)
	}
	for k := range shown {
		if shown[k] = c.Levels[k]; total > 0 {
			shown[k] += fmt.Sprintf(" %.1f %%", 100*float64(c.Counts[k])/total)
		}
	}
	text := strings.Join(shown, ", ")
	if more := len(c.Levels) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Twins names the levels that differ in capitals alone, which may be one word of people who wrote
// it in two ways; "" where there are none.
func (c CardColumn) Twins() string {
	twins := wording.Twins(c.Levels)
	if twins == nil {
		return ""
	}
	return wording.Some(twins) + " differ in capitals alone"
}

// Table returns the card as rows of text under a header, the target first: how each column was
// read, its missing values and values, and how it is used.
func (c Card) Table() [][]string {
	rows := [][]string{{"column", "read as", "missing", "values", "use"}}
	for k, one := range append([]CardColumn{c.Target}, c.Columns...) {
		missing, remark := "", one.Dropped
		if one.Missing.Known() && c.Rows[0] > 0 {
			missing = fmt.Sprintf("%.0f (%.1f %%)", float64(one.Missing), 100*float64(one.Missing)/float64(c.Rows[0]))
		}
		switch {
		case k == 0:
			remark = "predicted"
		case remark != "":
			remark = "dropped: " + remark
		}
		if twins := one.Twins(); twins != "" {
			remark = strings.TrimPrefix(remark+"; "+twins, "; ")
		}
		rows = append(rows, []string{one.Name, one.Read, missing, one.Values(), remark})
	}
	return rows
}

// About returns sentences on the numbers of rows of all sites, and on the classes of this site's
// own training rows if it is known.
func (c Card) About() string {
	text := wording.Count(c.Rows[0], "training row") + " of all sites together"
	if validation := c.Rows[1]; validation > 0 && validation != c.Rows[0] {
		text += ", " + wording.Count(validation, "validation row")
	}
	if c.Rows[2] > 0 {
		text += ", " + wording.Count(c.Rows[2], "test row")
	}
	text += "."
	if len(c.Own) > 0 {
		own := c.Target
		own.Counts = c.Own
		text += " Of the training rows of this site alone: " + own.levels() + "."
	}
	return text
}

// SiteRows returns the rows of each site as rows of text under a header; nil: there is one site, or
// they are not known.
func (c Card) SiteRows() [][]string {
	if len(c.Sites) < 2 {
		return nil
	}
	rows := [][]string{{"site", "training rows", "validation rows", "test rows"}}
	for i, of := range c.Sites {
		// With folds all rows both train and validate; older versions recorded 0 validation rows
		// for sites.
		if of[1] == 0 && c.Rows[1] == c.Rows[0] {
			of[1] = of[0]
		}
		row := []string{fmt.Sprintf("site %d", i)}
		for _, n := range of {
			row = append(row, fmt.Sprint(n))
		}
		rows = append(rows, row)
	}
	return rows
}
