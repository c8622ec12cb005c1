package features

import (
	"math"
	"strconv"

	"dsbo"
	"dsbo/tables"
)

// largestExact is the largest count below which float32, the type of examples, has all of them.
const largestExact = 1 << 24

// chooseTarget sets the kind of the target, if Options.Kind leaves it open: a class if the column
// has words, or few distinct whole numbers at every site, else a number. It checks that each row of
// the sites of this process has a target, and that counts are whole, not negative and exact in
// float32.
func chooseTarget(p *preparation) error {
	c := p.schema.Columns[p.columnIndex(p.Target)]
	p.recipe.Target = Target{Name: p.Target, Kind: p.Kind}
	switch {
	case c.Kind == "":
		return dsbo.ConfigErrorf("column %s, the target, must have values; all are missing at all sites",
			c.Name)
	case p.Kind == "":
		p.recipe.Target.Kind = Value
		if c.Kind == tables.Word || p.schema.Few {
			p.recipe.Target.Kind = Class
		}
	case p.Kind == Survival:
		return chooseSurvival(p)
	case p.Kind != Class && c.Kind == tables.Word:
		return dsbo.ConfigErrorf(
			"column %s, the target, must hold numbers to be learned as a %s; it holds words (-task classification "+
				"learns words)", c.Name, p.Kind)
	}
	for _, i := range p.localSites() {
		column := p.column(i, p.Target)
		for row := range p.Tables[i].Rows() {
			if column.Missing(row) {
				return p.failAt(i, row, p.Target, "each row must have a target; it is missing")
			}
			if p.recipe.Target.Kind != Counts {
				continue
			}
			if v := column.Number(row); v < 0 || v > largestExact || v != math.Trunc(v) {
				return p.failAt(i, row, p.Target,
					"a count must be a whole number from 0 to %d; it is %s (-task regression takes any number)",
					largestExact, numberText(v))
			}
		}
	}
	return nil
}

// className returns the name of the class in a row of the target's column.
func className(c *tables.Column, row int) string {
	if c.Kind == tables.Word {
		return c.Words[c.Code(row)]
	}
	return numberText(c.Number(row))
}

// numberText writes a number as in a file: without an exponent, unless it is so small or so large
// that people write one too.
func numberText(v float64) string {
	form := byte('f')
	if size := math.Abs(v); v != 0 && size < 1e-4 || size >= 1e21 {
		form = 'g'
	}
	return strconv.FormatFloat(v, form, -1, 64)
}

// classPlaces returns, for each row of a column, the index of its class in a list of all classes. A
// class that is not in the list counts as the merged rare class if the list has one; else it is an
// error that names the row.
func classPlaces(t *tables.Table, c *tables.Column, classes []string) ([]uint8, error) {
	place := make(map[string]int, len(classes))
	for k, name := range classes {
		if v, err := strconv.ParseFloat(name, 64); err == nil && c.Kind == tables.Number {
			name = numberText(v) // earlier models have 1e+06
		}
		place[name] = k
	}
	rare, merged := place[rareClass]
	list := make([]uint8, t.Rows())
	for row := range list {
		k, known := place[className(c, row)]
		if !known && merged {
			k, known = rare, true
		}
		if !known {
			return nil, t.Fail(row, c.Name, "class %q was not there in training", className(c, row))
		}
		list[row] = uint8(k)
	}
	return list, nil
}
