package tables

import (
	"fmt"
	"slices"
	"strings"

	"dsbo/internal/wording"
)

// MissingWords are the words for a missing value in a text file, beside an empty field, unless
// [Options.Missing] is set.
var MissingWords = strings.Fields("NA N/A n/a #N/A #NA <NA> NaN nan null NULL #NULL! None ? - -- .")

// Options are what cannot be found from a file alone. The zero value finds out all of it.
type Options struct {
	// Dates is the order of dates such as 1/2/2006 and 1-2-2006: "dmy" or "mdy"; "": found, by days
	// after the twelfth. A column without such a day is an error.
	Dates   string
	Missing []string // words for a missing value, beside an empty field; nil: [MissingWords]
	// MissingOf are the words of columns that have others than Missing.
	MissingOf map[string][]string

	// Kinds are the kinds of columns that are not to be found from their values: codes such as
	// postcodes are words though they look like numbers. A value that is none of its kind is an
	// error. Names that the file does not have are no errors.
	Kinds map[string]Kind
	// Keep are the names of the columns to read; nil: all. Drop are columns of those that are not
	// to be read. The others take no memory. A name that the file does not have is an error.
	Keep, Drop []string
	// Spare has a value that cannot be read, and a line with too few or too many values, be missing
	// and stand in [Table.Bad]. Without it the first one is an error.
	Spare bool
}

// missingWords is the set of words that stand for a missing value of a column.
func (o Options) missingWords(column string) map[string]bool {
	list := o.MissingOf[column]
	if list == nil {
		list = o.Missing
	}
	if list == nil {
		list = MissingWords
	}
	set := map[string]bool{"": true}
	for _, word := range list {
		set[strings.TrimSpace(word)] = true
	}
	return set
}

// ListColumns returns a part of an error, with the names of the first columns of a table.
func ListColumns(names []string) string {
	return "its columns are " + wording.First(20, names)
}

// keptColumns reports which columns of a file are to be read. The reason of an error is "" if the
// options fit the names.
func (o Options) keptColumns(names []string) (keep []bool, reason string) {
	list := ListColumns(names)
	for _, name := range slices.Concat(o.Keep, o.Drop) {
		if !slices.Contains(names, name) {
			return nil, fmt.Sprintf("there is no column %q; %s", name, list)
		}
	}
	for _, name := range names {
		keep = append(keep, (o.Keep == nil || slices.Contains(o.Keep, name)) && !slices.Contains(o.Drop, name))
	}
	if !slices.Contains(keep, true) {
		return nil, "no column is left to read; " + list
	}
	return keep, ""
}
