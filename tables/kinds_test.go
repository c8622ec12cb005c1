package tables

import (
	"strings"
	"testing"
)

// TestKindsOfFiles: values as people and programs of many countries write them, each with the one
// right reading, or an error that names what to do.
func TestKindsOfFiles(t *testing.T) {
	for _, c := range []struct{ name, file, want, fault string }{
		{"milliseconds", "t,y\n1700000000001,1\n1700000000002,2\n",
			"t number: 1.700000000001e+12 1.700000000002e+12; y number: 1 2", ""},
		{"nanoseconds", "t\n1700000000000000001\n1700000000000000002\n",
			"t word: 1700000000000000001 1700000000000000002", ""},
		{"codes of 17 digits", "c\n12345678901234567\n12345678901234568\n",
			"c word: 12345678901234567 12345678901234568", ""},
		{"near 1e8", "y\n100000001\n100000002\n100000003\n",
			"y number: 1.00000001e+08 1.00000002e+08 1.00000003e+08", ""},
		{"leading zeros", "zip\n02139\n10001\n", "zip number: 2139 10001", ""},
		{"a word for missing", "a\n1\n2\nunknown\n",
			"", `column a: a value must be a number, as 2 of this column's 3 are`},
		{"two words for missing", "a\n1\n2\n3\nn.d.\n?!\n", "", `and not "n.d.", "?!"`},
		{"-999 is a number", "a\n1\n-999\n", "a number: 1 -999", ""},
		{"rupees", "p\n\"₹1,234.50\"\n₹2\n", "p number(₹): 1234.5 2", ""},
		{"Swiss francs", "p\nCHF 1'234.50\nCHF 2.00\n", "p number(CHF): 1234.5 2", ""},
		{"złoty", "a;p\n1;1 234,56 zł\n2;2,00 zł\n", "a number: 1 2; p number(zł): 1234.56 2", ""},
		{"reais", "a;p\n1;R$ 1.234,56\n2;R$ 2,00\n", "a number: 1 2; p number(R$): 1234.56 2", ""},
		{"euros behind", "a;p\n1;1.234,56 €\n2;-2,50 €\n",
			"a number: 1 2; p number(€): 1234.56 -2.5", ""},
		{"a decimal comma", "a;b\n1,5;x\n2,25;y\n", "a number: 1.5 2.25; b word: x y", ""},
		{"commas in per cent alone", "a;b\n12,5 %;1\n7,25 %;2\n",
			"a number(%): 12.5 7.25; b number: 1 2", ""},
		{"per cent without space", "a\n12.5%\n7%\n", "a number(%): 12.5 7", ""},
		{"per mille", "a\n5 ‰\n7 ‰\n", "a number(‰): 5 7", ""},
		{"points between parts", "d\n2021.03.04\n2021.12.31\n", "d time(day): 18690 18992", ""},
		{"days of one digit", "d\n2021-3-4\n2021-12-31\n", "d time(day): 18690 18992", ""},
		{"an offset without a colon", "d\n2021-03-04T10:00:00+0100\n2021-03-04T10:00:01+0100\n",
			"d time(s): 1.6148484e+09 1.614848401e+09", ""},
		{"names that coincide", "a,b, a\n1,2,3\n",
			"", "column a: the header must give each name once; columns 1 and 3"},
		{"names of other cases", "a,A\n1,2\n", "a number: 1; A number: 2", ""},
		{"a quote in a name", "\"the \"\"size\"\"\",b\n1,2\n", `the "size" number: 1; b number: 2`, ""},
		{"a mark of byte order", "\xef\xbb\xbf\"a\",b\r\n1,2\r\n", "a number: 1; b number: 2", ""},
		{"UTF-16", "\xff\xfea\x00\n\x001\x00", "", "UTF-16"},
		{"empty lines at the end", "a,b\r\n1,2\r\n\r\n  \r\n\r\n", "a number: 1; b number: 2", ""},
		{"a header alone", "a,b\n\n\n", "", "there are no rows below the header"},
		{"blanks alone", "a,b\n1,\n2, \n", "a number: 1 2; b number: . .", ""},
		{"booleans", "a,b,c\ntrue,T,1\nfalse,F,0\n",
			"a word: true false; b word: T F; c number: 1 0", ""},
		{"twice the same row", "a,b\n1,x\n1,x\n", "a number: 1 1; b word: x x", ""},
		{"a minus sign", "a\n−5\n3\n−2.5\n", "a number: -5 3 -2.5", ""},
		{"exponents", "a\n1E+05\n-2e-3\n+.5\n", "a number: 100000 -0.002 0.5", ""},
		{"old line ends", "a,b\r1,2\r3,4\r", "", "lines must end with LF or CR LF"},
	} {
		got, err := read(c.file, Options{})
		switch {
		case c.fault != "":
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s: error %v, want %q", c.name, err, c.fault)
			}
		case err != nil || shown(got) != c.want:
			t.Errorf("%s: error %v, read\n%s, want\n%s", c.name, err, shownOr(got), c.want)
		}
	}
}

// shownOr shows a table if there is one.
func shownOr(t *Table) string {
	if t == nil {
		return "nothing"
	}
	return shown(t)
}
