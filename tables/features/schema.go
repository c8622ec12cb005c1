package features

import (
	"math"
	"slices"

	"dsbo"
	"dsbo/tables"
)

// A schema is a site's description of its table to the other sites: it has no values.
type schema struct {
	Columns []columnSchema `json:"columns"`
	Sparse  int            `json:"sparse,omitempty"` // number of sparse columns, which may be another one at each site
	Rows    bool           `json:"rows"`             // whether there are any
	// Few is true if the target's column has whole numbers, few distinct ones.
	Few bool `json:"few,omitempty"`
}

// A columnSchema is the name of a column and its kind of values.
type columnSchema struct {
	Name string      `json:"name"`
	Kind tables.Kind `json:"kind,omitempty"` // "": all its values are missing, so that it may be of any kind
	Unit string      `json:"unit,omitempty"`
}

// describe returns a column's kind of values, for errors.
func describe(kind tables.Kind, unit string) string {
	text := string(kind) + "s"
	if unit != "" {
		text += " in " + unit
	}
	return text
}

// newSchema returns the schema of a table. A column whose values are all missing has no kind, since
// the kind in the file is a guess then.
func newSchema(t *tables.Table, target string) schema {
	s := schema{Sparse: t.Sparse.Cols, Rows: t.Rows() > 0}
	for _, c := range t.Columns {
		column := columnSchema{Name: c.Name}
		if !allMissing(c, t.Rows()) {
			column.Kind, column.Unit = c.Kind, c.Unit
		}
		s.Columns = append(s.Columns, column)
		if c.Name == target && c.Kind == tables.Number {
			s.Few = hasFewWholeNumbers(c, t.Rows())
		}
	}
	return s
}

// NamesOf returns what a site that prepares a table would announce to all others: the names of its
// columns, and whether it also announces words of some of them, and classes of the target.
func (o Options) NamesOf(t *tables.Table) (columns []string, words, classes bool) {
	s := newSchema(t, o.Target)
	for _, c := range s.Columns {
		columns = append(columns, c.Name)
		isWord := c.Kind == tables.Word
		switch {
		case c.Name == o.Target:
			classes = o.Kind == Class || o.Kind == "" && (isWord || s.Few)
		case !slices.Contains(o.columnNames(), c.Name):
			words = words || isWord
		}
	}
	if s.Sparse > 0 {
		columns = append(columns, sparseColumns)
	}
	return columns, words, classes
}

// sparseColumns is the name of a sparse table's columns, which have no names.
const sparseColumns = "(sparse)"

// allMissing reports whether all values of a column are missing.
func allMissing(c *tables.Column, rows int) bool {
	for row := range rows {
		if !c.Missing(row) {
			return false
		}
	}
	return true
}

// hasFewWholeNumbers reports whether the numbers of a column are whole and few are distinct, so
// that they are likely classes: at most fewAlone, or at most mostFound if each is there twice on
// average.
func hasFewWholeNumbers(c *tables.Column, rows int) bool {
	seen := map[float64]bool{}
	for row := range rows {
		v := c.Number(row)
		if v != v { // missing
			continue
		}
		if seen[v] = true; len(seen) > mostFound || v != math.Trunc(v) {
			return false
		}
	}
	return len(seen) <= fewAlone || 2*len(seen) <= rows
}

// exchangeSchemas returns the joint schema of all sites. It fails unless they have the same columns
// in the same order. The number of sparse columns is the largest of the sites'; a LIBSVM file ends
// at the last column that differs from 0. The target has few whole numbers only if it has at every
// site.
func (s Sites) exchangeSchemas(target string) (schema, error) {
	all, err := exchange(s, "columns", func(i int) schema { return newSchema(s.Tables[i], target) })
	if err != nil {
		return schema{}, err
	}
	joint := all[0]
	joint.Columns = slices.Clone(joint.Columns)
	for i, one := range all {
		if !one.Rows {
			return schema{}, dsbo.ConfigErrorf("%s: there must be rows; there are none", s.label(i))
		}
		if err := s.mergeSchema(&joint, all, i); err != nil {
			return schema{}, err
		}
		joint.Sparse, joint.Few = max(joint.Sparse, one.Sparse), joint.Few && one.Few
	}
	return joint, nil
}

// mergeSchema checks that the columns of site i agree with joint, the columns of the sites before
// it, in number, names and kinds. A column of unknown kind, because all of its values are missing,
// agrees with any; joint takes the kind from the first site that knows it.
func (s Sites) mergeSchema(joint *schema, all []schema, i int) error {
	const must = "all sites must have the same columns in the same order"
	first, columns := all[0].Columns, all[i].Columns
	if (all[0].Sparse > 0) != (all[i].Sparse > 0) {
		with, without := s.label(0), s.label(i)
		if all[i].Sparse > 0 {
			with, without = without, with
		}
		return dsbo.ConfigErrorf(
			"%s has sparse columns, as of a LIBSVM file, and %s has none: it must be the same at all sites", with,
			without)
	}
	for k := range max(len(first), len(columns)) {
		if k == len(columns) || k == len(first) {
			short, long, names := i, 0, first // the site with fewer columns, the other, and its names
			if k == len(first) {
				short, long, names = 0, i, columns
			}
			return dsbo.ConfigErrorf("%s has %d columns; column %d of %s, %s, is missing there: %s", s.label(short), k,
				k+1, s.label(long), names[k].Name, must)
		}
		known, c := &joint.Columns[k], columns[k]
		switch {
		case first[k].Name != c.Name:
			return dsbo.ConfigErrorf("column %d is %q at %s and %q at %s: %s", k+1, first[k].Name, s.label(0), c.Name,
				s.label(i), must)
		case c.Kind == "":
		case known.Kind == "":
			*known = c
		case *known != c:
			hint := ""
			if known.Kind == tables.Word || c.Kind == tables.Word {
				hint = " (-words " + c.Name + " takes it as words at all sites)"
			}
			has := slices.IndexFunc(all[:i], func(one schema) bool { return one.Columns[k].Kind != "" })
			return dsbo.ConfigErrorf("column %s holds %s at %s and %s at %s: it must be the same at all sites%s",
				c.Name, describe(known.Kind, known.Unit), s.label(has), describe(c.Kind, c.Unit), s.label(i), hint)
		}
	}
	return nil
}
