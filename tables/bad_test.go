package tables

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
)

// TestBadFiles: what is wrong with a file is said in one line, which names the file, and the line
// and column where there are any.
func TestBadFiles(t *testing.T) {
	many := "a,b\n" + strings.Repeat("1,2\n", 40)
	long := "a,b\n" + strings.Repeat("1,"+strings.Repeat(" ", 1<<10)+"2\n", 1100) // two parts
	ids := "a\n"
	for row := range mostWords + 1 {
		ids += fmt.Sprintf("w%d\n", row)
	}
	bomb := strings.Repeat(zip(strings.Repeat("\""+strings.Repeat("x", 1<<16)+"\",1\n", 14)), 100) // of 92 MB
	npy := npyFile("<f8", "False", "(2, 2)", 1, 2, 3, 4)
	const mustBe = ": a table must be CSV, Parquet, LIBSVM, NPY or IDX; this is "
	for _, c := range []struct {
		name, file string
		options    Options
		want       string
	}{
		{"empty", "", Options{}, ": the file is empty"},
		{"empty, compressed", zip(""), Options{}, ": the file is empty"},
		{"blank", "\n \n", Options{}, ": the file has no values"},
		{"header alone", "a,b\n", Options{}, ": there are no rows below the header"},
		{"ragged: too few", "a,b\n1,2\n1\n", Options{},
			`, line 3: a record must have 2 values separated by ',', as the header has; it has 1`},
		{"ragged: too many", "a,b\n1,2\n1,2,3\n", Options{},
			`, line 3: a record must have 2 values separated by ',', as the header has; it has 3`},
		{"ragged, no header", "1,2\n1,2\n3\n", Options{},
			`, line 3: a record must have 2 values separated by ',', as the first one has; it has 1`},
		{"ragged, late", long + "1,2,3\n", Options{},
			`, line 1102: a record must have 2 values separated by ',', as the header has; it has 3`},
		{"ragged behind a break in quotes", "a,b\n1,\"x\ny\"\n1\n", Options{},
			`, line 4: a record must have 2 values separated by ',', as the header has; it has 1`},
		{"mixed separators", "a,b\n1,2\n3,4\n5;6\n", Options{},
			`, line 4: a record must have 2 values separated by ',', as the header has; it has 1`},
		{"two headers", "a,b\n1,2\na,b\n3,4\n", Options{},
			", line 3: there must be one header; this line repeats it: take it out"},
		{"a line of units", "a,b\nkg,cm\n" + strings.Repeat("1,2\n", 40), Options{},
			`, line 2, column a: a value must be a number, as 40 of this column's 41 are ` +
				`(-missing a=WORD takes WORD as missing, -words a all as words); it is "kg"`},
		{"a column without a name", "a,,c\n1,2,3\n", Options{},
			", line 1, column 2: the header must name each column; this name is empty: give it one, or " +
				"take the column out of the file"},
		{"ragged behind comments", "# 1\n#\na,b\n1,2\n1\n", Options{},
			`, line 5: a record must have 2 values separated by ',', as the header has; it has 1`},
		{"a name twice", "a,b, a\n1,2,3\n", Options{},
			", line 1, column a: the header must give each name once; columns 1 and 3 have this one"},
		{"one bad number", many + "x,3\n", Options{},
			`, line 42, column a: a value must be a number, as 40 of this column's 41 are ` +
				`(-missing a=WORD takes WORD as missing, -words a all as words); it is "x"`},
		{"one bad number, late", long + "1,x\n" + long[4:], Options{},
			`, line 1102, column b: a value must be a number, as 2200 of this column's 2201 are ` +
				`(-missing b=WORD takes WORD as missing, -words b all as words); it is "x"`},
		{"one bad date", "a\n" + strings.Repeat("2020-01-01\n", 40) + "2020-02-30\n", Options{},
			`, line 42, column a: a value must be a time such as 2006-01-02 or 2006-01-02 15:04:05, as 40 of this ` +
				`column's 41 are (-missing a=WORD takes WORD as missing, -words a all as words); it is "2020-02-30"`},
		{"half and more are numbers", "a\n1\n<0.1\n2\n>9\n3\n", Options{},
			`, line 3, column a: a value must be a number, as 3 of this column's 5 are (-missing a=WORD takes WORD ` +
				`as missing, -words a all as words), and not "<0.1", ">9"; it is "<0.1"`},
		{"shares and numbers", "a\n1%\n2%\n5\n", Options{},
			`, line 4, column a: a value must be a number with %, as 2 of this column's 3 are (-missing a=WORD takes ` +
				`WORD as missing, -words a all as words); it is "5"`},
		{"a word among dates of an order", "a\n1/2/2020\n3/4/2020\nx\n", Options{},
			`, line 4, column a: a value must be a time such as 31/12/2006 or 31/12/2006 15:04:05, as 2 of this ` +
				`column's 3 are (-missing a=WORD takes WORD as missing, -words a all as words); it is "x"`},
		{"dates that may have two orders", "a\n1/2/2020\n12/12/2020\n", Options{},
			`, column a: dates must have a day after the twelfth in some row, to show whether the day or the month ` +
				`comes first (-dates dmy or -dates mdy says so, -words a takes them as words)`},
		{"a word where a number is asked for", "a,b\n1,2\nx,3\n", Options{Kinds: map[string]Kind{"a": Number}},
			`, line 3, column a: a value must be a number, as this column's values are to be; it is "x"`},
		{"1e400", "a,b\n1,1e400\n", Options{},
			`, line 2, column b: a number must be finite and at most 3.4e38; it is "1e400"`},
		{"beyond float32", "a,b\n1,2\n1,-1e39\n", Options{},
			`, line 3, column b: a number must be finite and at most 3.4e38; it is "-1e39"`},
		{"infinite", "a,b\n1,2\n1,-Infinity\n", Options{},
			`, line 3, column b: a number must be finite and at most 3.4e38; it is "-Infinity"`},
		{"too many words", ids, Options{},
			`, column a: a column of words must have at most 10000 distinct ones; "w10000" is one more: leave out a ` +
				`column that names single rows`},
		{"a quote that is not closed", "a,b\n1,2\n1,\"x\n2,3\n", Options{},
			", line 3, column b: a quote is not closed: close it, or double it where it is part of the value"},
		{"a quote within a value", "a,b\n1,5\" pipe\n", Options{},
			", line 2, column b: there is a quote within a value: such a value must be in quotes, with its own " +
				"quotes doubled"},
		{"text behind a quote", "a,b\n1,\"x\"y\n", Options{},
			", line 2, column b: a closing quote must be followed by a separator or the end of the line"},
		{"lines of old computers", "a,b\r1,2\r3,4\r", Options{},
			", line 1: lines must end with LF or CR LF; there is a CR alone"},
		{"UTF-16 with a mark", "\xff\xfea\x00,\x00b\x00\n\x00", Options{},
			", line 1: there is a NUL byte: the file must be text in UTF-8, not UTF-16 and no binary format"},
		{"UTF-16 without a mark", "a\x00,\x00b\x00\n\x001\x00,\x002\x00\n\x00", Options{},
			", line 1: there is a NUL byte: the file must be text in UTF-8, not UTF-16 and no binary format"},
		{"Latin-1", "a,b\n1,M\xfcller\n", Options{},
			", line 2: the file must be text in UTF-8; it has the byte 0xfc there, perhaps of Latin-1"},
		{"NUL bytes, late", long + "1,\x00\n", Options{},
			", line 1102: there is a NUL byte: the file must be text in UTF-8, not UTF-16 and no binary format"},
		{"most records decide", "a;b\n1;2\n1;2\n3\n4\n5;6\n", Options{},
			`, line 4: a record must have 2 values separated by ';', as the header has; it has 1`},
		{"a NUL byte at once", "\x00", Options{},
			", line 1: there is a NUL byte: the file must be text in UTF-8, not UTF-16 and no binary format"},
		{"Excel", "PK\x03\x04\x00\x00", Options{}, mustBe +
			"a ZIP archive, as those of Excel (.xlsx) and NumPy (.npz) are"},
		{"JSON lines", "{\"a\": 1}\n{\"a\": 2}\n", Options{}, mustBe + "JSON"},
		{"JSON", "[\n {\"a\": 1}]", Options{}, mustBe + "JSON"},
		{"rows of JSON", "[[\"a\", 1]]", Options{}, mustBe + "JSON"},
		{"a page", "\n<!DOCTYPE html><p>", Options{}, mustBe + "XML or HTML"},
		{"another binary format", "ELF\x00\x00", Options{},
			", line 1: there is a NUL byte: the file must be text in UTF-8, not UTF-16 and no binary format"},
		{"no such column to keep", "a,b\n1,2\n", Options{Keep: []string{"c"}},
			`: there is no column "c"; its columns are a, b`},
		{"no such column to drop", "1,2\n", Options{Drop: []string{"c"}},
			`: there is no column "c"; its columns are 1, 2`},
		{"no column left", "a,b\n1,2\n", Options{Drop: []string{"a", "b"}},
			`: no column is left to read; its columns are a, b`},
		{"cut gzip", zip(long)[:500], Options{}, ": the gzip data are cut short"},
		{"cut gzip header", zip(many)[:5], Options{}, ": damaged gzip header"},
		{"damaged gzip", zip(many)[:len(zip(many))-6] + "xxxxxx", Options{}, ": gzip: invalid checksum"},
		{"gzip bomb", bomb, Options{},
			fmt.Sprintf(": a compressed file of %d bytes may unwrap to %d; it has more (gunzip it first)", len(bomb),
				64<<20+200*len(bomb))},
		{"cut NPY", npy[:len(npy)-3], Options{}, ": cut short: there must be 32 bytes of data; there are 29"},
		{"long NPY", npy + "x", Options{}, ": too long: more than the 32 bytes that its header announces"},
		{"infinite number in NPY", npyFile("<f8", "False", "(2,)", 1, 1e39), Options{},
			": row 2, column 1: a number must be finite and at most 3.4e38; it is 1e+39"},
		{"announced NPY", npyFile("<f8", "False", "(100000000000, 2)", 1), Options{},
			": header announces 1600000000000 bytes (dimensions [100000000000 2]): a file of at most 89 bytes " +
				"cannot hold them"},
		{"NPY of texts", npyFile("<U8", "False", "(1,)", 1), Options{},
			`: numbers must be float32, float64, integers or bool; their type is "<U8"`},
		{"cut IDX", "\x00\x00\x08\x01\x00\x00\x00\x02\x01", Options{},
			": cut short: there must be 2 bytes of data; there are 1"},
		{"LIBSVM: indices", "1 2:1 2:1\n", Options{}, ", line 1: indices must ascend; 2 follows 2"},
		{"LIBSVM: index 0", "1 1:1\n1 0:1\n", Options{},
			`, line 2: an index must be a whole number from 1 to 134217728; it is "0"`},
		{"LIBSVM: infinite", "1 1:1\n1 1:1e400\n", Options{},
			`, line 2: the value of index 1 must be a finite number, at most 3.4e38; it is "1e400"`},
		{"LIBSVM: queries", "1 qid:1 1:1\n", Options{},
			", line 1: qid, a query's number for ranking, cannot be learned from; leave it out"},
		{"LIBSVM: a name", "1 1:1\n", Options{Keep: []string{"a"}},
			`: there is no column "a": a LIBSVM file has the column label alone, and features without names`},
	} {
		_, err := read(c.file, c.options)
		if err == nil || err.Error() != "a.csv"+c.want || !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("%s: %v\nwant a.csv%s", c.name, err, c.want)
		}
	}
}

func TestBadOptions(t *testing.T) {
	_, err := read("a,b\n1,2\n", Options{Dates: "ymd"})
	testkit.WantError(t, "options", err, dsbo.ErrConfig, `the order of dates must be dmy or mdy; it is "ymd"`)
	one := NumberColumn("a", []float32{1})
	for want, other := range map[string]*Column{"a: another column has this name": NumberColumn("a", []float32{2}),
		"b: must be as long as the other columns": WordColumn("b", nil)} {
		if _, err := New("made", one, other); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := Open(t.TempDir(), Options{}); err == nil || !strings.Contains(err.Error(), "must be a regular file") {
		t.Errorf("a folder: %v", err)
	}
}
