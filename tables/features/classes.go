package features

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"dsbo"
	"dsbo/internal/wording"
	"dsbo/tables"
)

// A RareRule is the treatment of rows of rare classes, classes with fewer than 5 rows at every
// site.
type RareRule string

// The rules for rare classes.
const (
	RefuseRare RareRule = ""      // they are an error
	MergeRare  RareRule = "merge" // they are one class together
	DropRare   RareRule = "drop"  // their rows are left out
)

// rareClass is the name of the class that rare classes become.
const rareClass = "(rare)"

// nameClasses finds the classes of the target. A site announces a class only if at least 5 of its
// rows have it, since the name of a rarer one might identify a person. Of the remaining rows only
// the number over all sites is known; RareClasses decides about them.
func nameClasses(p *preparation) error {
	if p.recipe.Target.Kind != Class {
		return nil
	}
	ofSites, err := exchange(p.Sites, "classes", func(i int) []string {
		return commonClasses(p.column(i, p.Target), p.Tables[i].Rows(),
			func(row int) float64 { return p.namedBy(i, row) })
	})
	if err != nil {
		return err
	}
	all := slices.Concat(ofSites...)
	sortClasses(p, all) // so that Compact finds equal names
	all = slices.Compact(all)
	rare, err := countRare(p, all)
	if err != nil {
		return err
	}
	if all, err = settleRare(p, all, rare); err != nil {
		return err
	}
	switch {
	case len(all) < 2:
		return dsbo.ConfigErrorf("column %s, the target, must have two classes at least; all rows of all "+
			"sites are %q", p.Target, strings.Join(all, ""))
	case len(all) > mostClasses:
		return dsbo.ConfigErrorf("column %s, the target, must have %d classes at most; it has %d", p.Target,
			mostClasses, len(all))
	}
	p.recipe.Target.Classes = all
	noteClasses(p, ofSites, rare)
	p.noteCapitals("classes", all)
	return nil
}

// noteCapitals notes which names differ in capitals alone.
func (p *preparation) noteCapitals(what string, names []string) {
	for _, pair := range wording.Twins(names) {
		p.note("%s %s, which differ in capitals alone, are two", what, pair)
	}
}

// commonClasses returns the sorted names of the classes that at least leastNamed rows of a column
// have, where count is the number of rows that a row counts as. The list is empty, not nil: JSON
// tells the two apart.
func commonClasses(c *tables.Column, rows int, count func(row int) float64) []string {
	counts := map[string]float64{}
	for row := range rows {
		counts[className(c, row)] += count(row)
	}
	names := []string{}
	for name, n := range counts {
		if n >= leastNamed {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// sortClasses sorts classes, words by the alphabet and numbers by size.
func sortClasses(p *preparation, all []string) {
	words := p.targetKind() == tables.Word
	slices.SortFunc(all, func(a, b string) int {
		if words {
			return cmp.Compare(a, b)
		}
		x, _ := strconv.ParseFloat(a, 64) // as className writes them
		y, _ := strconv.ParseFloat(b, 64)
		return cmp.Compare(x, y)
	})
}

// countRare returns how many rows of all sites are of classes that no site has named, and how many
// rows there are.
func countRare(p *preparation, named []string) (n [2]int, err error) {
	sum, err := p.sum("rows of rare classes", len(n), func(i int, part []float64) {
		for _, row := range having(p, i, named, false) {
			part[0] += p.rowsOf(i, row)
		}
		for row := range p.Tables[i].Rows() {
			part[1] += p.rowsOf(i, row)
		}
	})
	return [2]int{int(math.Ceil(sum[0])), int(math.Ceil(sum[1]))}, err
}

// having returns the rows of site i whose class is in a list, or, with among false, is not.
func having(p *preparation, i int, classes []string, among bool) (rows []int) {
	c, known := p.column(i, p.Target), map[string]bool{}
	for _, name := range classes {
		known[name] = true
	}
	for row := range p.Tables[i].Rows() {
		if known[className(c, row)] == among {
			rows = append(rows, row)
		}
	}
	return rows
}

// settleRare applies RareClasses to the rows of rare classes and returns all classes. named are the
// classes that sites have announced; rare has countRare's numbers.
func settleRare(p *preparation, named []string, rare [2]int) ([]string, error) {
	switch {
	case p.RareClasses == DropRare: // even if rare is 0, which does not count sites that joined later
		for _, i := range p.localSites() {
			rows := having(p, i, named, true)
			if len(rows) == 0 {
				return nil, dsbo.ConfigErrorf("%s: no row has a class that some site has %d times at least",
					p.label(i), leastNamed)
			}
			if len(rows) < p.Tables[i].Rows() {
				p.Tables[i] = p.Tables[i].Pick(rows)
			}
		}
		return named, nil
	case rare[0] == 0:
		return named, nil
	case p.RareClasses == MergeRare:
		return append(named, rareClass), nil
	}
	hint := ""
	if p.targetKind() != tables.Word {
		hint = "; -task regression or count takes it as a number"
	}
	return nil, dsbo.ConfigErrorf("column %s, the target, must have each class in %d rows of some site "+
		"at least; it has not in %d of %s of all sites, as of names or numbers of persons, which do not leave a site"+
		" (-rare-classes merge makes one class of the rare ones, drop leaves their rows out%s)",
		p.Target, leastNamed, rare[0], wording.Count(rare[1], "row"), hint)
}

// noteClasses adds notes on rare classes, on classes that a single site has announced, and on sites
// that have announced a single one; ofSites has each site's announced classes.
func noteClasses(p *preparation, ofSites [][]string, rare [2]int) {
	switch {
	case rare[0] == 0:
	case p.RareClasses == MergeRare:
		p.note("%s of classes that no site has %d times are the class %s", wording.Count(rare[0], "row"), leastNamed,
			rareClass)
	default:
		p.note("%s of classes that no site has %d times are left out", wording.Count(rare[0], "row"), leastNamed)
	}
	for _, class := range p.recipe.Target.Classes {
		var has []int
		for i, names := range ofSites {
			if slices.Contains(names, class) {
				has = append(has, i)
			}
		}
		if len(has) == 1 && len(ofSites) > 1 {
			p.note("class %s is common at %s alone", class, p.label(has[0]))
		}
	}
	for i, names := range ofSites {
		if len(names) == 1 {
			p.note("%s has one class alone, %s, in %d rows or more", p.label(i), names[0], leastNamed)
		}
	}
	noteDoubt(p)
}

// fewestDoubted is the number of classes from which whole numbers may as well be a score or
// a count.
const fewestDoubted = 3

// noteDoubt notes that numbers are taken as classes, where they may be something else.
func noteDoubt(p *preparation) {
	n := len(p.recipe.Target.Classes)
	if p.Kind == "" && n >= fewestDoubted && p.targetKind() == tables.Number {
		p.note("column %s, the target, holds whole numbers, which are taken for %d classes: -task regression takes "+
			"them as a score, -task count as a count, and -task classification settles it", p.Target, n)
	}
}
