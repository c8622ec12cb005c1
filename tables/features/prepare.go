package features

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/tables"
)

// Prepared are the examples of the sites of this process, with the recipe that all sites
// have found.
type Prepared struct {
	Recipe Recipe    // that all sites have found, or that is followed
	Data   data.Task // shards with test examples of their own; the shards of sites elsewhere are empty
	// Rows are the training, validation and test rows of all sites together: a row of weight k is k
	// of them.
	Rows [3]int
	// Whole is true if weights are whole numbers, which count rows. Other weights are scaled to sum
	// to the number of equally weighted rows with the same information, (Σ w)²/Σ w².
	Whole bool
	Folds int // parts of cross-validation, whose training rows are the validation rows too; 0: there is none
	// Weights are the weights of each site's training rows without folds, where there are folds;
	// nil: all 1.
	Weights []*ad.Table
	// Together are the weights of each site's rows of all kinds: of its training rows, then its
	// validation rows where there are no folds, then its test rows; nil: all 1.
	Together []*ad.Table
	// Missing are the training rows of all sites without a value of each input of the recipe; nil:
	// not known, as a recipe is followed.
	Missing []float64
	Classes []float64  // training rows of all sites of each class
	Words   []float64  // training rows of all sites of each word that is a feature
	Events  [3]float64 // events among Rows, where targets are times
	// Times are the times of the training, validation and test rows of each site, one after the
	// other, negative without an event, −0 too; nil: targets are no times.
	Times [][]float64
	// OfSites are the training, validation and test rows of each site; nil: not known, as Missing.
	OfSites [][sets]int
	OwnRows []float64 // training rows of each class of the only site that is here; nil: there are several
	Notes   []string  // what was dropped or is unusual, a sentence each
	Odd     []string  // those on how values of the files here were read
}

// Prepare compares the columns of all sites, splits the rows of each, finds the recipe by sums over
// all training rows, and encodes the sites that are here. Each row weighs the same, whatever its
// site, or by Options.Weight: a row of weight k is k rows, and one of weight 0 is not there. Where
// sites have different numbers of rows, examples have weights for that.
//
// What a site sends: once the names and kinds of its columns, whether the target's numbers are few
// and whole, the classes and the words of at least five of its rows each; then its terms of sums
// over all sites, of rows, of words, of classes, and of numbers, their magnitudes and squares.
//
// The blocks of the tables' columns are freed as they are encoded: at most a block of each column
// is there twice. The tables cannot be used afterwards. Errors about a site's table match
// dsbo.ErrConfig and name the site and the column.
func Prepare(s Sites, o Options) (*Prepared, error) {
	p := newPreparation(s, o)
	for _, step := range []func(*preparation) error{checkWeights, compareSchemas, scaleWeights, chooseTarget,
		nameClasses, splitAll, dealFolds, refuseEmpty, askRows, countEvents, nameWords, countRows, measureNumbers,
		measureSparse, sumWeights} {
		if err := step(p); err != nil {
			return nil, err
		}
	}
	if len(p.recipe.Features()) == 0 {
		return nil, dsbo.ConfigErrorf("no column is left that could be a feature: %s",
			cmp.Or(strings.Join(p.made.Notes, "; "), "all are the target or for weights, splits or events"))
	}
	if err := p.recipe.checkNames(); err != nil {
		return nil, err
	}
	if err := p.encode(); err != nil {
		return nil, err
	}
	if p.folds > 0 {
		p.rows[validation] = p.rows[training]
	}
	for k, rows := range p.rows {
		p.made.Rows[k] = int(math.Round(rows))
	}
	p.made.Folds = p.folds
	return p.made, nil
}

// A preparation is one call of Prepare.
type preparation struct {
	Sites
	Options
	made   *Prepared   // under way
	recipe *Recipe     // its
	schema schema      // that all sites agree on
	places []int       // columns of the recipe's inputs
	parts  []partition // of the sites that are here
	folds  int         // 0: no cross-validation

	rows    [sets]float64 // of all sites; a row of weight w is w rows
	names   [][]string    // for each input of words, the words that sites have announced
	total   [sets]float64 // sum of the weights of all rows, with balance
	scale   float64       // by which weights in the files are multiplied
	balance []float64     // factor of the weights of each class; nil: 1
	// whether the recipe is known: rows have no weights, and their sets do not follow from
	// their classes
	plain bool
}

// newPreparation returns one of which nothing is made.
func newPreparation(s Sites, o Options) *preparation {
	n := len(s.Tables)
	made := &Prepared{Weights: make([]*ad.Table, n), Together: make([]*ad.Table, n)}
	return &preparation{Sites: s, Options: o, made: made, recipe: &made.Recipe, parts: make([]partition, n)}
}

// note adds a sentence to the notes.
func (p *preparation) note(format string, args ...any) {
	p.made.Notes = append(p.made.Notes, fmt.Sprintf(format, args...))
}

// compareSchemas checks that all sites have the same columns, among them the ones that Options
// name, and makes an input of each other one. A column without values at all sites is dropped.
// Sparse columns and others cannot be learned from together.
func compareSchemas(p *preparation) (err error) {
	if p.schema, err = p.exchangeSchemas(p.Target); err != nil {
		return err
	}
	var names []string
	for _, c := range p.schema.Columns {
		names = append(names, c.Name)
	}
	for _, name := range p.columnNames() {
		if !slices.Contains(names, name) {
			return dsbo.ConfigErrorf("%s has no column %q; %s", p.label(p.localSites()[0]), name,
				tables.ListColumns(names))
		}
	}
	for k, c := range p.schema.Columns {
		if slices.Contains(p.columnNames(), c.Name) {
			continue
		}
		in := Input{Name: c.Name, Kind: c.Kind, Unit: c.Unit, MissingWords: p.MissingOf[c.Name]}
		if c.Kind == "" {
			in.Kind, in.Dropped = tables.Number, "all values are missing"
			p.note("column %s is dropped: all values are missing at all sites", c.Name)
		}
		p.recipe.Inputs, p.places = append(p.recipe.Inputs, in), append(p.places, k)
	}
	var local []*tables.Table
	if p.recipe.MissingWords = p.MissingWords; p.MissingWords == nil {
		p.recipe.MissingWords = tables.MissingWords
	}
	for _, i := range p.localSites() {
		local = append(local, p.Tables[i])
	}
	p.made.Odd = notesOf(local)
	p.made.Notes = append(p.made.Notes, p.made.Odd...)
	if p.schema.Sparse > 0 && len(p.recipe.Inputs) > 0 {
		return dsbo.ConfigErrorf(
			"a table with sparse columns must have no others to learn from; %s has column %s (-drop leaves it out)",
			p.label(p.localSites()[0]), p.recipe.Inputs[0].Name)
	}
	return p.refuseMissing()
}

// notesOf returns the notes of the tables that are here, each once: a file whose rows are
// dealt to several sites has its notes at all of them.
func notesOf(local []*tables.Table) (notes []string) {
	for _, t := range local {
		for _, note := range t.Notes {
			if note = t.Name + ": " + note; !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	return notes
}

// refuseMissing returns an error for the first missing value of an input if Missing is NoneMissing,
// and notes this rule in the recipe, so that predictions follow it too.
func (p *preparation) refuseMissing() error {
	if p.Missing != NoneMissing {
		return nil
	}
	p.recipe.Missing = NoneMissing
	for _, i := range p.localSites() {
		for _, k := range p.places {
			c := p.Tables[i].Columns[k]
			for row := range p.Tables[i].Rows() {
				if c.Missing(row) {
					return p.failAt(i, row, c.Name, "the value is missing, which -missing refuse does not allow")
				}
			}
		}
	}
	return nil
}

// columnIndex returns which column has a name.
func (p *preparation) columnIndex(name string) int {
	return slices.IndexFunc(p.schema.Columns, func(c columnSchema) bool { return c.Name == name })
}

// targetKind returns the kind of the target's column.
func (p *preparation) targetKind() tables.Kind { return p.schema.Columns[p.columnIndex(p.Target)].Kind }

// column returns the column of that name of site i.
func (p *preparation) column(i int, name string) *tables.Column {
	return p.Tables[i].Columns[p.columnIndex(name)]
}

// splitAll splits the rows of the sites that are here.
func splitAll(p *preparation) (err error) {
	for _, i := range p.localSites() {
		if p.parts[i], err = p.partition(i); err != nil {
			return err
		}
	}
	return nil
}

// drop excludes an input from the features, with the reason why.
func (p *preparation) drop(in *Input, why string) {
	in.Dropped = why
	p.note("column %s is dropped: %s", in.Name, why)
}
