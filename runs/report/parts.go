package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Part is a section of a page that sets methods side by side.
type Part struct {
	Title, Sentence string     // of the section; what was found
	Hint            string     // what its numbers are
	Table           [][]string // the header first; nil: there is none
	Answers         []Answer   // to what is asked of it
	Warnings        []string   // what is without a result, and why
	Figures         []drawing  // side by side
	Runs            []*Run     // whose curves are drawn, and whose commands are shown
	Name            string     // with which the names of its files begin

	sheet *sheet // of Runs, nil where there are none
}

// An Answer is yes, no or a dash, to a statement.
type Answer struct{ Word, Text string }

// WriteParts writes a page of parts to dir/name, and every figure of theirs as SVG to the folder
// dir/figures. It makes both folders if need be. A file that is there is replaced, as a whole or
// not at all; the page comes last. The runs of a part must be of one task.
func WriteParts(dir, name, title, lead string, parts []Part) (path string, err error) {
	p := &page{Title: title, Lead: lead, Parts: parts}
	sheets, figures := []*sheet{}, []drawing{}
	for i := range parts {
		part := &parts[i]
		all := part.Figures
		if len(part.Runs) > 0 {
			gs, err := groups(part.Runs)
			if err != nil {
				return "", fmt.Errorf("%s: %w", part.Title, err)
			}
			part.sheet = newSheet(gs, strconv.Itoa(i)+"-")
			sheets, all = append(sheets, part.sheet), append(all, part.sheet.drawings()...)
		}
		for _, d := range all {
			d.Name = part.Name + d.Name
			figures = append(figures, d)
		}
	}
	p.Data = sheets
	return p.write(dir, name, "parts", figures)
}

// Panels are the figures of its runs: Φ beside the test loss, and the rest.
func (p Part) Panels() (all [2][]*panel) {
	for _, one := range p.sheet.Panels {
		rest := 1
		if name := one.Views[0].Name; name == "phi" || name == "test_loss" {
			rest = 0
		}
		all[rest] = append(all[rest], one)
	}
	return all
}

// Commands are of the first run of each method.
func (p Part) Commands() (all []string) {
	for i, r := range p.Runs {
		if i == 0 || r.Label != p.Runs[i-1].Label {
			all = append(all, r.Command())
		}
	}
	return all
}

// Rows returns the table for the page. Columns of numbers are numeric.
func (p Part) Rows() *table {
	if p.Table == nil {
		return nil
	}
	t := &table{Name: p.Title}
	for i, title := range p.Table[0] {
		t.Columns = append(t.Columns, column{Title: title, Numeric: !slices.ContainsFunc(p.Table[1:],
			func(row []string) bool {
				_, err := strconv.ParseFloat(row[i], 64)
				return err != nil && row[i] != none
			})})
	}
	for _, row := range p.Table[1:] {
		t.Add()
		for _, text := range row {
			t.And(cell{Text: text, Sort: strings.TrimSuffix(text, none)})
		}
	}
	return t
}
