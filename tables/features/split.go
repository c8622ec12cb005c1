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
// which sum to 100, and ratios of whole numbers below 10, such as 2:1:1.
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
	folds []int // of the training rows, in their order, where they validate too
}

func newPartition(of []set) partition {
	p := partition{of: of}
	for _, k := range of {
		p.sizes[k]++
	}
	return p
}

// splitRows divides n rows by shares: the rows of each class in proportion, as far as whole rows
// go, by a seed. classes has the class of each row; nil: there are none; rows is the number of rows
// that each represents, which stay together. Each set with a share gets a row, which takes as many
// rows as there are such sets.
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
	for _, row := range order { // to the set that lacks most
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
	for k, share := range shares { // a small share of few rows may have none
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

// partition splits the rows of site i.
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

// refuseEmpty names the first site here of which the split's column leaves out a kind of rows that
// it must have: with folds either kind both trains and validates.
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

// askRows asks whether rows of the sites here may be used.
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

// stratum returns the number of the class of each row of site i, or whether it has an event, as of
// times; nil where there are neither.
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

// classCodes numbers the values of a column of classes, one after the other as they appear.
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
