package features

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"dsbo"
	"dsbo/tables"
)

// chooseTarget sets the target's kind and checks that each row has one.
func (p *preparation) chooseTarget() error {
	c := p.schema.Columns[p.columnIndex(p.Target)]
	p.recipe.Target = Target{Name: p.Target, Kind: p.Kind}
	switch {
	case c.Kind == "":
		return dsbo.Errorf(dsbo.ErrConfig, "column %s, the target, must have values; all are missing at all sites",
			c.Name)
	case p.Kind == "":
		p.recipe.Target.Kind = Value
		if c.Kind == tables.Word || p.schema.Few {
			p.recipe.Target.Kind = Class
		}
	case p.Kind != Class && c.Kind == tables.Word:
		return dsbo.Errorf(dsbo.ErrConfig,
			"column %s, the target, must hold numbers to be learned as a %s; it holds words", c.Name, p.Kind)
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
			if v := float64(column.Number(row)); v < 0 || v != math.Trunc(v) {
				return p.failAt(i, row, p.Target, "a count must be a whole number from 0; it is %g", v)
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
	return strconv.FormatFloat(float64(c.Number(row)), 'g', -1, 32)
}

// classNames returns the names of the classes in a column, in no order.
func classNames(c *tables.Column, rows int) (names []string) {
	if c.Kind == tables.Word {
		return c.Words
	}
	seen := map[float32]bool{}
	for row := range rows {
		if v := c.Number(row); !seen[v] {
			seen[v] = true
			names = append(names, className(c, row))
		}
	}
	return names
}

// setClasses sorts the classes of all sites, of which each named its own: words by the alphabet,
// numbers by size.
func (p *preparation) setClasses(ofSites [][]string) error {
	var all []string
	for _, names := range ofSites {
		all = append(all, names...)
	}
	words := p.schema.Columns[p.columnIndex(p.Target)].Kind == tables.Word
	slices.SortFunc(all, func(a, b string) int {
		if words {
			return cmp.Compare(a, b)
		}
		x, _ := strconv.ParseFloat(a, 64) // as className writes them
		y, _ := strconv.ParseFloat(b, 64)
		return cmp.Compare(x, y)
	})
	all = slices.Compact(all)
	switch {
	case len(all) < 2:
		return dsbo.Errorf(dsbo.ErrConfig,
			"column %s, the target, must have two classes at least; all rows of all sites are %q", p.Target, all[0])
	case len(all) > mostClasses:
		return dsbo.Errorf(dsbo.ErrConfig, "column %s, the target, must have %d classes at most; it has %d", p.Target,
			mostClasses, len(all))
	}
	p.recipe.Target.Classes = all
	for _, class := range all {
		var has []int
		for i, names := range ofSites {
			if slices.Contains(names, class) {
				has = append(has, i)
			}
		}
		if len(has) == 1 && len(ofSites) > 1 {
			p.note("class %s is at %s alone", class, p.label(has[0]))
		}
	}
	for i, names := range ofSites {
		if len(names) == 1 {
			p.note("%s has one class alone, %s", p.label(i), names[0])
		}
	}
	return nil
}

// classPlaces returns the place of the class of each row of a column in a list of all classes; an
// error names a row whose class is not among them.
func classPlaces(t *tables.Table, c *tables.Column, classes []string) ([]uint8, error) {
	place := make(map[string]int, len(classes))
	for k, name := range classes {
		place[name] = k
	}
	list := make([]uint8, t.Rows())
	for row := range list {
		k, known := place[className(c, row)]
		if !known {
			return nil, t.Fail(row, c.Name, "class %q was not there in training", className(c, row))
		}
		list[row] = uint8(k)
	}
	return list, nil
}
