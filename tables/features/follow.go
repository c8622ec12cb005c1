package features

import (
	"cmp"

	"dsbo"
)

// PrepareBy makes the examples of the sites of this process by a known recipe, such as the one of
// an earlier run over other rows. Means, words and classes come from the recipe, so that sites
// exchange nothing about their rows. A row's set follows from its index, or from
// Options.SplitColumn; rows have no weights, whose scale would need sums over all sites.
// Prepared.Rows are not known.
func PrepareBy(s Sites, r Recipe, o Options) (*Prepared, error) {
	if o.Weight != "" || o.Balance {
		return nil, dsbo.ConfigErrorf(
			"rows must have no weights, and classes none of their own, where a recipe is followed")
	}
	p := newPreparation(s, o)
	p.made.Recipe, p.plain = r, true
	for _, i := range p.localSites() {
		p.schema = newSchema(s.Tables[i], o.Target) // each site's own: they are not compared
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
