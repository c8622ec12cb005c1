package features

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dsbo"
	"dsbo/tables"
)

// A set is one of the three parts of a site's rows.
type set uint8

const (
	training set = iota
	validation
	testing
	sets = 3
)

// setNames are the words of a column that splits rows.
var setNames = [sets]string{"train", "validation", "test"}

// Shares are the shares of a site's rows for training, validation and test, which sum to 1. As a
// flag they are such as 0.5:0.25:0.25.
type Shares [sets]float64

// DefaultShares are half for training, and a quarter each for validation and test.
var DefaultShares = Shares{0.5, 0.25, 0.25}

// UnmarshalText implements encoding.TextUnmarshaler. It takes shares, which sum to 1, percentages,
// which sum to 100, and ratios of whole numbers below 10, such as 2:1:1. Other sums are likely
// mistakes, and an error. Two numbers leave no test rows.
func (s *Shares) UnmarshalText(text []byte) error {
	parts := strings.Split(string(text), ":")
	sum, ratio := 0.0, true
	for k, part := range parts {
		v, err := strconv.ParseFloat(part, 64)
		if err != nil || !(v >= 0 && v <= 1e6) || k >= sets {
			return fmt.Errorf(
				"shares must be two or three numbers that are not negative, such as 0.5:0.25:0.25; they are %q", text)
		}
		s[k] = v
		sum += v
		ratio = ratio && v == math.Trunc(v) && v < 10
	}
	if len(parts) < 2 || s[training] == 0 || s[validation] == 0 {
		return fmt.Errorf("shares of training and validation rows must be positive; they are %q", text)
	}
	if !ratio && math.Abs(sum-1) > 1e-3 && math.Abs(sum-100) > 0.1 {
		return fmt.Errorf("shares must sum to 1, or to 100 as percentages; %s sum to %g", text, sum)
	}
	if len(parts) == 2 {
		s[testing] = 0
	}
	for k := range s {
		s[k] /= sum
	}
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (s Shares) MarshalText() ([]byte, error) {
	var parts []string
	for _, v := range s {
		parts = append(parts, strconv.FormatFloat(v, 'g', 6, 64))
	}
	return []byte(strings.Join(parts, ":")), nil
}

// A partition is the set of each row of a site.
type partition struct {
	of    []set
	sizes [sets]int
	folds []int // for cross-validation, the fold of each training row, in the order of rows
}

func newPartition(of []set) partition {
	p := partition{of: of}
	for _, k := range of {
		p.sizes[k]++
	}
	return p
}

// splitRows divides n rows into sets by their shares. Rows come in a random order of the seed,
// class by class, so that the classes are divided in proportion too. Each row goes to the set that
// is farthest below its share; all rows that it represents (rows) stay together. classes is nil
// where there are none. Every set with a positive share gets at least one row, so there must be as
// many rows as such sets.
func splitRows(n int, classes []int32, rows func(row int) float64, shares Shares, seed uint64,
	site int) (partition, error) {
	least := 0
	for _, v := range shares {
		if v > 0 {
			least++
		}
	}
	if n < least {
		return partition{}, fmt.Errorf("a split in %d sets needs as many rows at least; there are %d", least, n)
	}
	order := shuffledRows(n, classes, seed, streamSplit, site)
	of := make([]set, n)
	var have [sets]float64
	dealt := 0.0
	for _, row := range order {
		dealt += rows(row)
		best, lack := training, math.Inf(-1)
		for k, share := range shares {
			if d := float64(share*dealt) - have[k]; share > 0 && d > lack {
				best, lack = set(k), d
			}
		}
		of[row] = best
		have[best] += rows(row)
	}
	part := newPartition(of)
	for k, share := range shares { // an empty set takes a row from the largest one
		for share > 0 && part.sizes[k] == 0 {
			most := set(slices.Index(part.sizes[:], slices.Max(part.sizes[:])))
			row := order[slices.IndexFunc(order, func(row int) bool { return of[row] == most })]
			of[row] = set(k)
			part.sizes[k], part.sizes[most] = part.sizes[k]+1, part.sizes[most]-1
		}
	}
	return part, nil
}

// streamSplit separates the draws of splits from all other draws.
const streamSplit = 0x73706c6974

// partition returns the set of each row of site i, by the words in SplitColumn if it is set, else
// by the shares. An error names the row whose word is none of setNames.
func (p *preparation) partition(i int) (partition, error) {
	t := p.Tables[i]
	if p.SplitColumn == "" {
		part, err := splitRows(t.Rows(), p.stratum(i), p.countOf(i), p.Split, p.Seed, i)
		if err != nil {
			return part, dsbo.ConfigErrorf("%s: %w", p.label(i), err)
		}
		return part, nil
	}
	c := p.column(i, p.SplitColumn)
	of := make([]set, t.Rows())
	for row := range of {
		word := ""
		if c.Kind == tables.Word && !c.Missing(row) {
			word = c.Words[c.Code(row)]
		}
		k := slices.Index(setNames[:], word)
		if k < 0 {
			return partition{}, p.failAt(i, row, c.Name, "the word must be %s; it is %q",
				strings.Join(setNames[:], " or "), word)
		}
		of[row] = set(k)
	}
	return newPartition(of), nil
}

// refuseEmpty returns an error if SplitColumn gives a site of this process no training or no
// validation rows. With folds the two sets were joined, and one row of either is enough. Shares
// cannot leave a set empty.
func refuseEmpty(p *preparation) error {
	if p.SplitColumn == "" {
		return nil
	}
	for _, i := range p.localSites() {
		for k, size := range p.parts[i].sizes[:testing] {
			switch {
			case size > 0:
			case p.folds == 0:
				return p.failf(i, p.SplitColumn, "there must be a row with %s; there is none", setNames[k])
			case set(k) == training:
				return p.failf(i, p.SplitColumn, "there must be a row with %s or %s; there is none",
					setNames[training], setNames[validation])
			}
		}
	}
	return nil
}

// askRows calls Sites.Rows, which may refuse the run, with the number of rows in each set and fold
// of the sites of this process: a site may have a rule on the fewest rows that it lets others sum
// over.
func askRows(p *preparation) error {
	if p.Rows == nil {
		return nil
	}
	for _, i := range p.localSites() {
		rows := slices.Clone(p.parts[i].sizes[:])
		ofFolds := make([]int, p.folds)
		for _, fold := range p.parts[i].folds {
			ofFolds[fold]++
		}
		if err := p.Rows(i, append(rows, ofFolds...)); err != nil {
			return err
		}
	}
	return nil
}

// stratum returns, for each row of site i, the number of its class, or for survival times whether
// it has an event; sets and folds get equal shares of each. It is nil for other targets, and where
// a recipe is followed.
func (p *preparation) stratum(i int) []int32 {
	switch {
	case p.plain:
		return nil
	case p.recipe.Target.Kind == Survival:
		return eventCodes(p, i)
	case p.recipe.Target.Kind != Class:
		return nil
	}
	return classCodes(p.column(i, p.Target), p.Tables[i].Rows())
}

// classCodes returns a number for the class of each row: the code of a word, or, for classes that
// are numbers, the order of their first appearance.
func classCodes(c *tables.Column, rows int) []int32 {
	codes, seen := make([]int32, rows), map[float64]int32{}
	for row := range codes {
		if c.Kind == tables.Word {
			codes[row] = c.Code(row)
			continue
		}
		v := c.Number(row)
		if _, known := seen[v]; !known {
			seen[v] = int32(len(seen))
		}
		codes[row] = seen[v]
	}
	return codes
}
