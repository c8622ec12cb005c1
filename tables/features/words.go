package features

import (
	"fmt"
	"math"
	"slices"

	"dsbo"
	"dsbo/tables"
)

// A naming is the words that a site announces to the other sites, without counts.
type naming struct {
	Words [][]string `json:"words,omitempty"` // of each input of words, those in enough training rows
}

// words returns the inputs of words.
func (p *preparation) words() (list []int) {
	for k, in := range p.recipe.Inputs {
		if in.Kind == tables.Word && in.Dropped == "" {
			list = append(list, k)
		}
	}
	return list
}

// nameWords collects the words of each input that sites announce. As with classes, a site announces
// only words that at least leastNamed of its rows have, test rows included. Lists of another length
// than the number of inputs come from a site of another version, and are an error.
func nameWords(p *preparation) error {
	all, err := exchange(p.Sites, "words", func(i int) (n naming) {
		for _, k := range p.words() {
			c := p.Tables[i].Columns[p.places[k]]
			var names []string
			for code, count := range p.wordCounts(i, c, p.namedBy, sets) {
				if count >= leastNamed {
					names = append(names, c.Words[code])
				}
			}
			slices.Sort(names)
			n.Words = append(n.Words, names)
		}
		return n
	})
	if err != nil {
		return err
	}
	p.names = make([][]string, len(p.words()))
	for i, n := range all {
		if len(n.Words) != len(p.names) {
			return dsbo.ConfigErrorf("%s: its lists of words must be of %d columns; they are of %d", p.label(i),
				len(p.names), len(n.Words))
		}
		for k, names := range n.Words {
			p.names[k] = append(p.names[k], names...)
		}
	}
	for k := range p.names {
		slices.Sort(p.names[k])
		p.names[k] = slices.Compact(p.names[k])
	}
	return nil
}

// wordCounts returns in how many rows of site i, of the sets below end and counted by rows, each
// word of a column is; none where all values are missing.
func (p *preparation) wordCounts(i int, c *tables.Column, rows func(i, row int) float64, end set) []float64 {
	counts := make([]float64, len(c.Words))
	for row, of := range p.parts[i].of {
		if of < end && !c.Missing(row) {
			counts[c.Code(row)] += rows(i, row)
		}
	}
	return counts
}

// namedWords returns how many counts countSite writes of words.
func namedWords(all [][]string) (n int) {
	for _, names := range all {
		n += 1 + len(names)
	}
	return n
}

// countRows counts the rows of each set, and the training rows of each class and each announced
// word, by one sum over the sites, and chooses the words that become features.
func countRows(p *preparation) error {
	sum := make([]float64, sets+len(p.recipe.Target.Classes)+namedWords(p.names))
	if err := p.Collective.Sum("counts of rows, words, classes, missing values", sum, p.countSite); err != nil {
		return err
	}
	if err := countSites(p); err != nil {
		return err
	}
	copy(p.rows[:], sum)
	p.made.Classes = sum[sets:][:len(p.recipe.Target.Classes)]
	for k, class := range p.recipe.Target.Classes {
		if p.made.Classes[k] == 0 {
			p.note("class %s has no training row", class)
		}
	}
	rest := sum[sets+len(p.made.Classes):] // for each input of words: missing values, then each word
	p.made.Missing = make([]float64, len(p.recipe.Inputs))
	for j, k := range p.words() {
		p.made.Missing[k] = rest[0]
		p.chooseWords(&p.recipe.Inputs[k], p.names[j], rest[0], rest[1:][:len(p.names[j])])
		rest = rest[1+len(p.names[j]):]
	}
	return nil
}

// countSites exchanges the number of rows that each site has in each set. If one of several sites
// is in this process, it also sets OwnRows, its training rows of each class, which stay here.
func countSites(p *preparation) (err error) {
	p.made.OfSites, err = exchange(p.Sites, "numbers of rows", func(i int) (rows [sets]int) {
		var of [sets]float64
		for row, k := range p.parts[i].of {
			of[k] += p.rowsOf(i, row)
		}
		for k, n := range of {
			rows[k] = int(math.Round(n))
		}
		return rows
	})
	classes, here := len(p.recipe.Target.Classes), p.localSites()
	if err != nil || len(here) != 1 || len(p.Tables) == 1 || classes == 0 {
		return err
	}
	own := make([]float64, sets+classes+namedWords(p.names))
	err = p.countSite(here[0], own)
	p.made.OwnRows = own[sets:][:classes]
	return err
}

// countSite writes the counts of site i to part: the rows of each set, the training rows of each
// class, and for each column of words the training rows without a value, then with each announced
// word.
func (p *preparation) countSite(i int, part []float64) error {
	for row, k := range p.parts[i].of {
		part[k] += p.rowsOf(i, row)
	}
	part = part[sets:]
	if classes := p.recipe.Target.Classes; classes != nil {
		of, err := classPlaces(p.Tables[i], p.column(i, p.Target), classes)
		if err != nil {
			return fmt.Errorf("site %d: %w", i, err)
		}
		for row, k := range of {
			if p.parts[i].of[row] == training {
				part[k] += p.rowsOf(i, row)
			}
		}
		part = part[len(classes):]
	}
	for j, k := range p.words() {
		c := p.Tables[i].Columns[p.places[k]]
		for code, count := range p.wordCounts(i, c, p.rowsOf, training+1) {
			if n, named := slices.BinarySearch(p.names[j], c.Words[code]); named {
				part[1+n] = count
			}
		}
		for row, of := range p.parts[i].of {
			if of == training && c.Missing(row) {
				part[0] += p.rowsOf(i, row)
			}
		}
		part = part[1+len(p.names[j]):]
	}
	return nil
}

// chooseWords gives each word of an input a feature of its own that enough training rows of all
// sites have: as many of Options.Rare as is the share of the rows that train, since the model that
// is kept has them all. All other words share a feature. counts has the rows of the announced words
// in names. rare counts the rows left over, also with words that no site announced. An input whose
// only feature would be the same in all rows is dropped.
func (p *preparation) chooseWords(in *Input, names []string, missing float64, counts []float64) {
	rare, rows := p.rows[training]-missing, []float64(nil)
	least := float64(p.Rare) * p.rows[training] / (p.rows[training] + p.rows[validation] + p.rows[testing])
	for k, count := range counts {
		if count >= least {
			in.Words, rows = append(in.Words, names[k]), append(rows, count)
			rare -= count
		}
	}
	in.Rare, in.Indicator = p.unlessRounding(rare) > 0, missing > 0
	_, _, features := in.Layout()
	switch {
	case len(in.Words) == 0 && !in.Rare:
		p.drop(in, "all values of training rows are missing")
	case features == 1 && !in.Indicator && in.Rare:
		p.drop(in, fmt.Sprintf("no word is in %d rows", p.Rare))
	case features == 1 && !in.Indicator:
		p.drop(in, fmt.Sprintf("all training rows have %q", in.Words[0]))
	}
	if in.Dropped != "" {
		in.Words, in.Rare, in.Indicator = nil, false, false
	} else {
		p.made.Words = append(p.made.Words, rows...)
		p.noteCapitals("words of column "+in.Name, names)
	}
}
