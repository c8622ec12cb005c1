package table_test

import (
	"fmt"
	"strings"

	"dsbo/table"
)

// The separator, the decimal sign, the header and the kinds of the columns are found.
func Example() {
	const file = "age;colour;seen\n41,5;red;2020-01-31\n;blue;2020-02-01\n"
	t, err := table.Read("people.csv", strings.NewReader(file), int64(len(file)), table.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range t.Columns {
		fmt.Println(c.Name, c.Kind, c.Unit, c.Words)
	}
	fmt.Println(t.Rows(), t.Columns[0].Number(0), t.Columns[0].Missing(1), t.Columns[1].Words[t.Columns[1].Code(1)], t.Columns[2].Number(1))
	// Output:
	// age number  []
	// colour word  [red blue]
	// seen time day []
	// 2 41.5 true blue 18293
}
