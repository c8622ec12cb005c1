package features

import (
	"cmp"

	"dsbo"
)

// PrepareBy makes the examples of the sites of this process by a recipe that is known, such as the
// recipe of an earlier run over other rows. Nothing is found together, so that what a site sends
// has nothing of its rows: means, words and classes are the recipe's. A row's set follows from its
// place or from Options.SplitColumn, and rows have no weights. Prepared.Rows are not known.
func PrepareBy(s Sites, r Recipe, o Options) (*Prepared, error) {
	if o.Weight != "" || o.Balance {
		return nil, dsbo.ConfigErrorf(
			"rows must have no weights, and classes none of their own, where a recipe is followed")
	}
	p := newPreparation(s, o)
	p.made.Recipe, p.plain = r, true
	for _, i := range p.localSites() {
		p.schema = newSchema(s.Tables[i], o.Target)
		for _, name := range o.columnNames() {
			if p.columnIndex(name) < 0 {
				return nil, dsbo.ConfigErrorf("%s has no column %q", p.label(i), name)
			}
		}
		var err error
		if p.parts[i], err = p.partition(i); err != nil {
			return nil, err
		}
	}
	if err := cmp.Or(refuseEmpty(p), askRows(p)); err != nil {
		return nil, err
	}
	err := p.encode()
	return &Prepared{Recipe: r, Data: p.made.Data}, err
}
