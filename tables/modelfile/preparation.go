package modelfile

import (
	"regexp"
	"slices"
	"strings"

	"dsbo/tables"
	"dsbo/tables/features"
)

// features adds what makes features of raw values. Numbers go through it together, and so do words
// at the end; then features are put in the order of the recipe.
func (d *drawing) features(r features.Recipe) string {
	if r.Sparse != nil {
		return d.sparseFeatures(r.Sparse)
	}
	var p preparation
	for _, in := range r.Used() {
		if in.Kind == tables.Word {
			p.addWord(d, in, r.MissingWordsOf(in))
		} else {
			p.addNumber(d, in)
		}
	}
	parts, places := p.parts(d)
	all := d.sideBySide("parts", parts)
	order := make([]int64, len(p.features))
	for i, f := range p.features {
		order[i] = int64(places[f.part] + f.place)
	}
	return d.node("features", "Gather", []string{all, d.wholes("order", order)}, onnxInt("axis", 1))
}

// sparseInput is the name of the input that has all sparse columns.
const sparseInput = "columns"

// sparseFeatures adds what makes features of sparse columns, which the graph takes with
// their zeros.
func (d *drawing) sparseFeatures(s *features.Sparse) string {
	in := d.freeName(sparseInput)
	d.Inputs = append(d.Inputs, onnxValue{Name: in, Type: onnxFloat, Cols: s.Columns})
	places := make([]int64, len(s.Indices))
	for k, column := range s.Indices {
		places[k] = int64(column - 1)
	}
	used := d.node("used", "Gather", []string{d.double("numbers", in), d.wholes("indices", places)}, onnxInt("axis", 1))
	return d.node("features", "Div", []string{used, d.doubles("scales", s.Scales, len(s.Scales))})
}

// A part is a matrix of features of one sort.
type part int

const (
	numbers part = iota
	missings
	words
	partCount
)

// A preparation collects inputs, and where the recipe's features come from.
type preparation struct {
	features         []source
	numbers          []string // inputs
	wide             []bool   // whether each of these is float64
	means, deviation []float64
	indicators       []int64  // columns of numbers with an indicator
	hot              []string // matrices of float64 of words, 1 column a feature
	hotCols          int
}

// A source is the place of a feature.
type source struct {
	part  part
	place int
}

// addNumber adds a column of numbers as a feature, and its indicator of missing values if the
// recipe has one.
func (p *preparation) addNumber(d *drawing, in features.Input) {
	p.features = append(p.features, source{numbers, len(p.numbers)})
	if in.Indicator {
		p.features = append(p.features, source{missings, len(p.indicators)})
		p.indicators = append(p.indicators, int64(len(p.numbers)))
	}
	p.wide = append(p.wide, in.IsWide())
	p.numbers, p.means, p.deviation = append(p.numbers, d.input(in)), append(p.means, in.Mean),
		append(p.deviation, in.Deviation)
}

// blanks is the space around a word, in RE2: White_Space of Unicode, which the readers of tables
// cut off as well.
const blanks = `[\s\x0b\x{85}\pZ]*`

// addWord adds a matrix that has 1 where the word is the feature's. Each word is an expression that
// it matches with space around it, and so are those for a missing value together; rare is whatever
// matches none.
func (p *preparation) addWord(d *drawing, in features.Input, missingWords []string) {
	rare, missing, count := in.Layout()
	from, gone := d.input(in), []string{""}
	for _, word := range missingWords {
		if word = strings.TrimSpace(word); !slices.Contains(in.Words, word) {
			gone = append(gone, regexp.QuoteMeta(word))
		}
	}
	var matches []string
	match := func(expression string) {
		matches = append(matches, d.node(in.Name+" is", "RegexFullMatch", []string{from},
			onnxWord("pattern", blanks+expression+blanks)))
	}
	for _, word := range in.Words {
		match(regexp.QuoteMeta(word))
	}
	match("(" + strings.Join(gone, "|") + ")")
	hot := d.double(in.Name+" hot", d.sideBySide(in.Name+" matches", matches))
	columns := ascending(count)
	if rare >= 0 {
		minus := slices.Repeat([]float64{-1}, len(matches))
		other := d.node(in.Name+" other", "Gemm", []string{hot, d.doubles("minus", minus, 1, len(minus)),
			d.doubles("one", []float64{1}, 1)}, onnxInt("transB", 1))
		hot = d.sideBySide(in.Name+" all", []string{hot, other})
		columns[rare] = int64(len(matches))
	}
	if missing >= 0 {
		columns[missing] = int64(len(in.Words))
	}
	p.hot = append(p.hot, d.node(in.Name+" features", "Gather", []string{hot, d.wholes(in.Name+" columns", columns)},
		onnxInt("axis", 1)))
	for range count {
		p.features = append(p.features, source{words, p.hotCols})
		p.hotCols++
	}
}

// rawNumbers sets the numbers side by side as float64.
func (p *preparation) rawNumbers(d *drawing) string {
	if !slices.Contains(p.wide, true) {
		return d.double("numbers", d.sideBySide("raw", p.numbers))
	}
	all := slices.Clone(p.numbers)
	for k, wide := range p.wide {
		if !wide {
			all[k] = d.double(all[k]+" wide", all[k])
		}
	}
	return d.sideBySide("numbers", all)
}

// parts adds the nodes of each part that has features, and returns them with the place of their
// first columns side by side.
func (p *preparation) parts(d *drawing) (parts []string, places [partCount]int) {
	at := 0
	add := func(what part, name string, cols int) {
		parts, places[what] = append(parts, name), at
		at += cols
	}
	if n := len(p.numbers); n > 0 {
		raw := p.rawNumbers(d)
		scaled := d.node("centred", "Sub", []string{raw, d.doubles("means", p.means, n)})
		scaled = d.node("scaled", "Div", []string{scaled, d.doubles("deviations", p.deviation, n)})
		missing := d.node("is missing", "IsNaN", []string{raw})
		zero := d.doubles("zero", []float64{0}, 1)
		add(numbers, d.node("filled", "Where", []string{missing, zero, scaled}), n)
		if m := len(p.indicators); m > 0 {
			of := d.wholes("with indicator", p.indicators)
			add(missings, d.node("indicators", "Gather", []string{d.double("missing", missing), of},
				onnxInt("axis", 1)), m)
		}
	}
	if len(p.hot) > 0 {
		add(words, d.sideBySide("words", p.hot), p.hotCols)
	}
	return parts, places
}
