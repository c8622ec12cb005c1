package tables_test

import (
	"bufio"
	"fmt"
	"strings"

	"dsbo/tables"
)

// The separator, the decimal sign, the header and the kinds of the columns are found.
func Example() {
	const file = "age;colour;seen\n41,5;red;2020-01-31\n;blue;2020-02-01\n"
	t, err := tables.Read("people.csv", strings.NewReader(file), int64(len(file)), tables.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range t.Columns {
		fmt.Println(c.Name, c.Kind, c.Unit, c.Words)
	}
	fmt.Println(t.Rows(), t.Columns[0].Number(0), t.Columns[0].Missing(1), t.Columns[1].Words[t.Columns[1].Code(1)],
		t.Columns[2].Number(1))
	// Output:
	// age number  []
	// colour word  [red blue]
	// seen time day []
	// 2 41.5 true blue 18293
}

// tally is a format of a program's own: a line "TALLY", then lines of a word and a number.
type tally struct{}

func (tally) Match(start []byte) bool { return strings.HasPrefix(string(start), "TALLY\n") }

func (tally) Read(in *tables.Input, o tables.Options) (*tables.Table, error) {
	r, err := in.Reader()
	if err != nil {
		return nil, err
	}
	var words []string
	var counts []float32
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		var word string
		var count float32
		if n, _ := fmt.Sscan(lines.Text(), &word, &count); n == 2 {
			words, counts = append(words, word), append(counts, count)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, in.Error(err)
	}
	return tables.New(in.Name(), tables.WordColumn("word", words), tables.NumberColumn("count", counts))
}

func ExampleRegister() {
	tables.Register(tally{})
	const file = "TALLY\nred 3\nblue 4\n"
	t, err := tables.Read("colours", strings.NewReader(file), int64(len(file)), tables.Options{})
	fmt.Println(t.Rows(), t.Columns[0].Words, t.Columns[1].Number(1), err)
	// Output: 2 [red blue] 4 <nil>
}
