package tables

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/files"
	"dsbo/internal/testkit"
)

// read reads a file of some content.
func read(content string, o Options) (*Table, error) {
	return Read("a.csv", strings.NewReader(content), int64(len(content)), o)
}

// zip compresses with gzip.
func zip(content string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	testkit.Get(w.Write([]byte(content)))
	testkit.OK(w.Close())
	return b.String()
}

// shown is a table as one text: for each column its name, kind and unit, and its values; "." is a
// missing one.
func shown(t *Table) string {
	var lines []string
	for _, c := range t.Columns {
		head := c.Name + " " + string(c.Kind)
		if c.Unit != "" {
			head += "(" + c.Unit + ")"
		}
		values := []string{head + ":"}
		for row := range t.Rows() {
			switch {
			case c.Missing(row):
				values = append(values, ".")
			case c.Kind == Word:
				values = append(values, c.Words[c.Code(row)])
			default:
				values = append(values, fmt.Sprint(c.Number(row)))
			}
		}
		lines = append(lines, strings.Join(values, " "))
	}
	if s := t.Sparse; s.Cols > 0 {
		lines = append(lines, fmt.Sprint(s.Cols, s.Starts, s.Indices, s.Values))
	}
	return strings.Join(lines, "; ")
}

// checkTable fails unless a table is as long and as wide as it says.
func checkTable(t *testing.T, table *Table) {
	t.Helper()
	for _, c := range table.Columns {
		if c.rows() != table.Rows() {
			t.Fatalf("column %q has %d values, the table %d rows", c.Name, c.rows(), table.Rows())
		}
		for row := range table.Rows() {
			if c.Kind == Word {
				if code := c.Code(row); code < -1 || int(code) >= len(c.Words) {
					t.Fatalf("column %q: code %d of %d words", c.Name, code, len(c.Words))
				}
			} else if math.IsInf(float64(c.Number(row)), 0) {
				t.Fatalf("column %q: an infinite number", c.Name)
			}
		}
	}
	s := table.Sparse
	if s.Starts == nil {
		return
	}
	if len(s.Starts) != table.Rows()+1 || s.Starts[table.Rows()] != len(s.Values) || len(s.Values) != len(s.Indices) {
		t.Fatalf("starts %v, %d indices, %d values", s.Starts, len(s.Indices), len(s.Values))
	}
	for _, i := range s.Indices {
		if i < 0 || int(i) >= s.Cols {
			t.Fatalf("index %d of %d", i, s.Cols)
		}
	}
}

// fuzzFile fails unless content is a table, or an error of one line that names the file.
func fuzzFile(t *testing.T, name, content string, o Options) {
	t.Helper()
	table, err := Read(name, strings.NewReader(content), int64(len(content)), o)
	if err == nil {
		checkTable(t, table)
		return
	}
	var file *files.Error
	if !errors.As(err, &file) || !errors.Is(err, dsbo.ErrConfig) || file.File != name ||
		strings.ContainsRune(err.Error(), '\n') {
		t.Fatalf("error %q", err)
	}
}

// TestRead: what files of all formats hold.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, file string
		options    Options
		want       string
	}{
		{"kinds", "a,b,c\n1,x,2020-01-01\n2.5,y,1969-12-31\n", Options{},
			"a number: 1 2.5; b word: x y; c time(day): 18262 -1"},
		{"semicolons, decimal comma", "a;b\n1,5;2\n-3;,5\n", Options{}, "a number: 1.5 -3; b number: 2 0.5"},
		{"tabs", "a\tb c\n1\tx y\n", Options{}, "a number: 1; b c word: x y"},
		{"pipes", "a|b\n1|2\n", Options{}, "a number: 1; b number: 2"},
		{"runs of spaces", "  a   b\n  1   2  \n 10  20\n", Options{}, "a number: 1 10; b number: 2 20"},
		{"commas in texts with spaces", "a,b\nx y,1\nz w,2\n", Options{}, "a word: x y z w; b number: 1 2"},
		{"quotes", "a,\"b,\nc\"\n1,\"x,\"\"y\"\"\n z\"\n", Options{}, "a number: 1; b,\nc word: x,\"y\"\n z"},
		{"quoted numbers, space around", "a , b\n \"1\" , 2 \n", Options{}, "a number: 1; b number: 2"},
		{"byte order mark, CR LF, no end of line", "\xef\xbb\xbfa,b\r\n1,2\r\n3,4", Options{},
			"a number: 1 3; b number: 2 4"},
		{"blank lines", "\n a,b\n\n1,2\n  \n3,4\n\n", Options{}, "a number: 1 3; b number: 2 4"},
		{"no header", "1,x\n2,y\n", Options{}, "1 number: 1 2; 2 word: x y"},
		{"one column", "a\n1\n2\n", Options{}, "a number: 1 2"},
		{"one column of texts", "town\nNew York\nBoston\n", Options{}, "town word: New York Boston"},
		{"compressed", zip("a,b\n1,2\n"), Options{}, "a number: 1; b number: 2"},
		{"missing values", "a,b\nNA,x\n?,-\n,\n1,null\nNaN,None\n", Options{},
			"a number: . . . 1 .; b word: x . . . ."},
		{"all missing", "a,b\n1,\n2,\n", Options{}, "a number: 1 2; b number: . ."},
		{"other missing values", "a,b\n-999,NA\n2,x\n", Options{Missing: []string{"-999"}},
			"a number: . 2; b word: NA x"},
		{"truth values are words", "a,b\n1,true\n2,false\n", Options{}, "a number: 1 2; b word: true false"},
		{"numbers and words", "a\n1\nx\n2\ny\n", Options{}, "a word: 1 x 2 y"},
		{"groups of digits", "a;b;c\n1,234.56;1 000;1'234'567\n-12.5;2;.5\n", Options{},
			"a number: 1234.56 -12.5; b number: 1000 2; c number: 1.234567e+06 0.5"},
		{"groups and decimal comma", "a;b\n1.234,56;1\u00a0000\n-12,5;20\u202f000,5\n", Options{},
			"a number: 1234.56 -12.5; b number: 1000 20000.5"},
		{"no groups", "a,b\n\"1,23\",\"12,34,567\"\n\"1234,567\",\"1,234.5.6\"\n", Options{},
			"a number: 1.23 1234.567; b word: 12,34,567 1,234.5.6"},
		{"shares", "a,b\n43 %,-1.5%\n7%,+20%\n", Options{}, "a number(%): 43 7; b number(%): -1.5 20"},
		{"amounts", "a,b\n\"$1,234.56\",12 €\n-$3,€ -4\n($5),-7€\n", Options{},
			"a number($): 1234.56 -3 -5; b number(€): 12 -4 -7"},
		{"dates of other orders", "a,b,c\n31.12.2021,2001/01/02,12/31/2021\n1.1.1970,1970/1/1,1/1/1970\n", Options{},
			"a time(day): 18992 0; b time(day): 11324 0; c time(day): 18992 0"},
		{"dates, the day first", "a,b,c\n1/2/1970,13-01-1970,1 Jan 1970\n13/1/1970,2-1-1970,\"Feb 1, 1970\"\n",
			Options{},
			"a time(day): 31 12; b time(day): 12 1; c time(day): 0 31"},
		{"dates whose order is said", "a\n1/2/1970\n", Options{Dates: "mdy"}, "a time(day): 1"},
		{"clocks", "a,b\n01.01.1970 00:01,1/13/1970 1:00 PM\n02.01.1970 00:00:30,1/1/1970 12:00 AM\n", Options{},
			"a time(s): 60 86430; b time(s): 1.0836e+06 0"},
		{"missing values of other programs", "a,b\n#N/A,x\n.,--\n3,y\n<NA>,n/a\n", Options{},
			"a number: . . 3 .; b word: x . y ."},
		{"missing values of a column", "a,b\nNA,NA\n-9,-9\n", Options{MissingOf: map[string][]string{"b": {"-9"}}},
			"a number: . -9; b word: NA ."},
		{"other numbers are words", "a,b,c\n0x10,1_000,1e\n0x10,1_000,1e\n", Options{},
			"a word: 0x10 0x10; b word: 1_000 1_000; c word: 1e 1e"},
		{"exponents and signs", "a\n+1e3\n-.5E-1\n5.\n1e-60\n", Options{}, "a number: 1000 -0.05 5 1e-60"},
		{"milliseconds", "t,y\n1700000000001,1\n1700000000002,2\n", Options{},
			"t number: 1.700000000001e+12 1.700000000002e+12; y number: 1 2"},
		{"nanoseconds", "t\n1700000000000000001\n1700000000000000002\n", Options{},
			"t word: 1700000000000000001 1700000000000000002"},
		{"codes of 17 digits", "c\n12345678901234567\n12345678901234568\n", Options{},
			"c word: 12345678901234567 12345678901234568"},
		{"near 1e8", "y\n100000001\n100000002\n100000003\n", Options{},
			"y number: 1.00000001e+08 1.00000002e+08 1.00000003e+08"},
		{"leading zeros", "zip\n02139\n10001\n", Options{}, "zip number: 2139 10001"},
		{"-999 is a number", "a\n1\n-999\n", Options{}, "a number: 1 -999"},
		{"rupees", "p\n\"₹1,234.50\"\n₹2\n", Options{}, "p number(₹): 1234.5 2"},
		{"Swiss francs", "p\nCHF 1'234.50\nCHF 2.00\n", Options{}, "p number(CHF): 1234.5 2"},
		{"złoty", "a;p\n1;1 234,56 zł\n2;2,00 zł\n", Options{}, "a number: 1 2; p number(zł): 1234.56 2"},
		{"reais", "a;p\n1;R$ 1.234,56\n2;R$ 2,00\n", Options{}, "a number: 1 2; p number(R$): 1234.56 2"},
		{"euros behind", "a;p\n1;1.234,56 €\n2;-2,50 €\n", Options{},
			"a number: 1 2; p number(€): 1234.56 -2.5"},
		{"commas in per cent alone", "a;b\n12,5 %;1\n7,25 %;2\n", Options{},
			"a number(%): 12.5 7.25; b number: 1 2"},
		{"per mille", "a\n5 ‰\n7 ‰\n", Options{}, "a number(‰): 5 7"},
		{"points between parts", "d\n2021.03.04\n2021.12.31\n", Options{}, "d time(day): 18690 18992"},
		{"days of one digit", "d\n2021-3-4\n2021-12-31\n", Options{}, "d time(day): 18690 18992"},
		{"an offset without a colon", "d\n2021-03-04T10:00:00+0100\n2021-03-04T10:00:01+0100\n", Options{},
			"d time(s): 1.6148484e+09 1.614848401e+09"},
		{"names of other cases", "a,A\n1,2\n", Options{}, "a number: 1; A number: 2"},
		{"a quote in a name", "\"the \"\"size\"\"\",b\n1,2\n", Options{}, `the "size" number: 1; b number: 2`},
		{"booleans", "a,b,c\ntrue,T,1\nfalse,F,0\n", Options{},
			"a word: true false; b word: T F; c number: 1 0"},
		{"a minus sign", "a\n−5\n3\n−2.5\n", Options{}, "a number: -5 3 -2.5"},
		{"dates and times of day", "a\n2020-01-01\n2020-01-01 10:00\n2020-01-01T10:00:00.5+01:00\n", Options{},
			fmt.Sprint("a time(s): ", float64(1577836800), " ", float64(1577872800), " ", float64(1577869200.5))},
		{"a sign in a name", "a,b (x|y),c\n1,\"p, q\",2\n3,\"r\",4\n", Options{},
			"a number: 1 3; b (x|y) word: p, q r; c number: 2 4"},
		{"a separator that is named", "sep=;\r\na;b\r\n1,5;2\r\n", Options{}, "a number: 1.5; b number: 2"},
		{"lines of comments", "# made by hand, today\n# x\na,b,c\n1,2,3\n", Options{},
			"a number: 1; b number: 2; c number: 3"},
		{"a header with a sign of comments", "#a,b\n1,2\n", Options{}, "#a number: 1; b number: 2"},
		{"row numbers", ",a\n0,5\n1,6\n", Options{}, "a number: 5 6"},
		{"a kind that is not to be found", "zip\n01234\n56789\n", Options{Kinds: map[string]Kind{"zip": Word}},
			"zip word: 01234 56789"},
		{"keep", "a,b,c\n1,2,3\n", Options{Keep: []string{"c", "a"}}, "a number: 1; c number: 3"},
		{"drop", "a,b,c\n1,2,3\n", Options{Drop: []string{"b"}}, "a number: 1; c number: 3"},
		{"a dropped column may have anything", "a,b\n1,1e999\n2,inf\n", Options{Drop: []string{"b"}}, "a number: 1 2"},
		{"a decimal sign of a column's own", "a;b;c\n1,5;.5;\"$2,5\"\n1,25;1.100;$3\n", Options{},
			"a number: 1.5 1.25; b number: 0.5 1.1; c number($): 2.5 3"},
		{"groups beside a decimal comma", "a;b\n1.100;0,5\n12.345;1\n", Options{},
			"a number: 1100 12345; b number: 0.5 1"},
		{"points in words", "a;b\nv.1;1.250\nw,2;2.500\n", Options{}, "a word: v.1 w,2; b number: 1.25 2.5"},
		{"late days with a 0 and a 9", "a,b\n1/20/1970,1/19/1970\n1/1/1970,1/1/1970\n", Options{},
			"a time(day): 19 0; b time(day): 18 0"},
		{"no groups behind 0", "a,b\n\"0,125\",x\n\"1,500\",y\n", Options{}, "a number: 0.125 1.5; b word: x y"},
		{"LIBSVM", "+1 1:0.5 3:2 # a remark\n\n-1\n1 2:-1e-1 4:0\n", Options{},
			"label number: 1 -1 1; 4 [0 2 2 3] [0 2 1] [0.5 2 -0.1]"},
		{"the largest index of LIBSVM", "1 134217728:1\n", Options{},
			"label number: 1; 134217728 [0 1] [134217727] [1]"},
		{"LIBSVM without labels", "1 1:0.5\n", Options{Drop: []string{"label"}}, "1 [0 1] [0] [0.5]"},
		{"NPY", npyFile("<f8", "False", "(2, 2)", 1, 2, 3, math.NaN()), Options{}, "1 number: 1 3; 2 number: 2 ."},
		{"NPY in Fortran order", npyFile("<f8", "True", "(2, 2)", 1, 2, 3, 4), Options{Drop: []string{"1"}},
			"2 number: 3 4"},
		{"NPY of codes", npyFile("<f8", "False", "(2,)", 94110, 7), Options{Kinds: map[string]Kind{"1": Word}},
			"1 word: 94110 7"},
		{"IDX", "\x00\x00\x08\x03\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x02\x01\x02\x03\xff", Options{},
			"1 number: 1 3; 2 number: 2 255"},
	} {
		table, err := read(c.file, c.options)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := shown(table); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
		checkTable(t, table)
	}
}

// npyFile is an NPY file of float64s.
func npyFile(descr, fortran, shape string, numbers ...float64) string {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", descr, fortran, shape)
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), 0)
	b = append(b, header...)
	for _, v := range numbers {
		b = fmt.Append(b, string(le64(v)))
	}
	return string(b)
}

func le64(v float64) []byte {
	bits := math.Float64bits(v)
	var b []byte
	for range 8 {
		b, bits = append(b, byte(bits)), bits>>8
	}
	return b
}
