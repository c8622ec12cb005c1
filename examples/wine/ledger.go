package main

import (
	"bufio"
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"dsbo/tables"
)

// ledger is the table format of one of the cellars: a line that says so, then for each wine a line
// such as "acidity 0.10; ph -0.94", with the same measurements in the same order.
type ledger struct{}

const ledgerHead = "# a ledger of wines"

func (ledger) Match(start []byte) bool { return bytes.HasPrefix(start, []byte(ledgerHead+"\n")) }

func (ledger) Read(in *tables.Input, _ tables.Options) (*tables.Table, error) {
	r, err := in.Reader()
	if err != nil {
		return nil, err
	}
	var names []string
	var values [][]float64 // by column
	lines := bufio.NewScanner(r)
	lines.Scan() // the head
	for number := 2; lines.Scan(); number++ {
		fields := strings.Split(lines.Text(), ";")
		for j, field := range fields {
			name, text, _ := strings.Cut(strings.TrimSpace(field), " ")
			if number == 2 {
				names, values = append(names, name), append(values, nil)
			}
			v, err := strconv.ParseFloat(text, 64)
			if err != nil || j >= len(names) || names[j] != name || number > 2 && len(fields) != len(names) {
				reason := fmt.Sprintf(
					"a wine must have the same measurements as the first one, each with its number; it has %q",
					lines.Text())
				return nil, &tables.Error{File: in.Name(), Line: number, Column: name, Reason: reason}
			}
			values[j] = append(values[j], v)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, in.Error(err)
	}
	var columns []*tables.Column
	for j, name := range names {
		columns = append(columns, tables.NumberColumn(name, values[j]))
	}
	return tables.New(in.Name(), columns...)
}
