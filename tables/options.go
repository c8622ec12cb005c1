package tables

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dsbo"
)

// A Header is whether the first line of a text file names the columns.
type Header string

// Whether there is a header. The zero value finds out: a first line none of whose values is a
// number is a header.
const (
	HeaderAuto Header = ""
	HeaderYes  Header = "yes"
	HeaderNo   Header = "no" // columns are named "1", "2", ...
)

// MissingWords are the words for a missing value in a text file, beside an empty field, unless
// [Options.Missing] is set.
var MissingWords = []string{"NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "null", "NULL", "#NULL!", "None",
	"?", "-", "--", "."}

// mostWords is the zero value of [Options.MaxWords].
const mostWords = 10000

// Options say how to read what cannot be told from a file alone. The zero value finds out all
// of it.
type Options struct {
	Header    Header // whether there is one
	Separator byte   // of CSV: ',', ';', '\t', '|' or ' '; 0: found
	Decimal   byte   // of CSV: '.' or ','; 0: found
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
	// MaxWords is the most distinct words in a column; 0: 10,000. More are an error: the column has
	// names or numbers of single rows, and nothing can be learned from it.
	MaxWords int
	// Spare has a value that cannot be read, and a line with too few or too many values, be missing
	// and stand in [Table.Bad]. Without it the first one is an error.
	Spare bool
	// Limit is the most bytes that a compressed file may hold when it is unwrapped; 0: 64 MiB and
	// 200 times its length.
	Limit int64
}

// check returns an error for options that no file can be read with.
func (o Options) check() error {
	if !slices.Contains([]Header{HeaderAuto, HeaderYes, HeaderNo}, o.Header) {
		return dsbo.ConfigErrorf("the header must be yes, no or \"\"; it is %q", o.Header)
	}
	if o.Separator != 0 && strings.IndexByte(separators, o.Separator) < 0 {
		return dsbo.ConfigErrorf("the separator must be one of %q; it is %q", separators, o.Separator)
	}
	if o.Decimal != 0 && o.Decimal != '.' && o.Decimal != ',' {
		return dsbo.ConfigErrorf("the decimal sign must be '.' or ','; it is %q", o.Decimal)
	}
	if o.Decimal == ',' && o.Separator == ',' {
		return dsbo.ConfigErrorf("the separator must not be a comma where the decimal sign is one")
	}
	if o.Dates != "" && o.Dates != "dmy" && o.Dates != "mdy" {
		return dsbo.ConfigErrorf("the order of dates must be dmy or mdy; it is %q", o.Dates)
	}
	for name, kind := range o.Kinds {
		if kind != Number && kind != Word && kind != Time {
			return dsbo.ConfigErrorf("the kind of column %s must be number, word or time; it is %q", name,
				kind)
		}
	}
	return nil
}

func (o Options) maxWords() int {
	if o.MaxWords > 0 {
		return min(o.MaxWords, math.MaxInt32)
	}
	return mostWords
}

// missingWords is the set of words that stand for a missing value of a column.
func (o Options) missingWords(column string) map[string]bool {
	list, own := o.MissingOf[column]
	switch {
	case own:
	case o.Missing == nil:
		list = MissingWords
	default:
		list = o.Missing
	}
	set := map[string]bool{"": true}
	for _, word := range list {
		set[strings.TrimSpace(word)] = true
	}
	return set
}

// keptColumns reports which columns of a file are to be read. The reason of an error is "" if the
// options fit the names.
func (o Options) keptColumns(names []string) (keep []bool, reason string) {
	for _, name := range slices.Concat(o.Keep, o.Drop) {
		if !slices.Contains(names, name) {
			return nil, fmt.Sprintf("there is no column %q; %s", name, columnList(names))
		}
	}
	keep = make([]bool, len(names))
	for i, name := range names {
		keep[i] = (o.Keep == nil || slices.Contains(o.Keep, name)) && !slices.Contains(o.Drop, name)
	}
	if !slices.Contains(keep, true) {
		return nil, "no column is left to read; " + columnList(names)
	}
	return keep, ""
}

// columnList names the columns of a file in an error, not all if there are many.
func columnList(names []string) string {
	const most = 20
	text := "its columns are " + strings.Join(names[:min(most, len(names))], ", ")
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}
