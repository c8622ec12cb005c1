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
func (g *graph) features(r features.Recipe) string {
	if r.Sparse != nil {
		return g.sparseFeatures(r.Sparse)
	}
	var p preparation
	for _, in := range r.Used() {
		if in.Kind == tables.Word {
			p.addWord(g, in, r.MissingWordsOf(in))
		} else {
			p.addNumber(g, in)
		}
	}
	parts, places := p.parts(g)
	all := g.sideBySide("parts", parts)
	var order []int
	for _, f := range p.features {
		order = append(order, places[f.part]+f.place)
	}
	return g.node("features", "Gather", alongColumns, all, g.wholes("order", order...))
}

// sparseInput is the name of the input that has all sparse columns.
const sparseInput = "columns"

// sparseFeatures adds what makes features of sparse columns, which the graph takes with
// their zeros.
func (g *graph) sparseFeatures(s *features.Sparse) string {
	in := g.freeName(sparseInput)
	g.inputs.bytes(11, value(in, onnxFloat, "N", s.Columns))
	var places []int
	for _, column := range s.Indices {
		places = append(places, column-1)
	}
	used := g.node("used", "Gather", alongColumns, g.double("numbers", in), g.wholes("indices", places...))
	return g.node("features", "Div", nil, used, g.doubles("scales", s.Scales, len(s.Scales)))
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
	indicators       []int    // columns of numbers with an indicator
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
func (p *preparation) addNumber(g *graph, in features.Input) {
	p.features = append(p.features, source{numbers, len(p.numbers)})
	if in.Indicator {
		p.features = append(p.features, source{missings, len(p.indicators)})
		p.indicators = append(p.indicators, len(p.numbers))
	}
	p.wide = append(p.wide, in.IsWide())
	p.numbers, p.means, p.deviation = append(p.numbers, g.input(in)), append(p.means, in.Mean),
		append(p.deviation, in.Deviation)
}

// blanks is the space around a word, in RE2: White_Space of Unicode, which the readers of tables
// cut off as well.
const blanks = `[\s\x0b\x{85}\pZ]*`

// addWord adds a matrix that has 1 where the word is the feature's. Each word is an expression that
// it matches with space around it, and so are those for a missing value together; rare is whatever
// matches none.
func (p *preparation) addWord(g *graph, in features.Input, missingWords []string) {
	rare, missing, count := in.Layout()
	from, gone := g.input(in), []string{""}
	for _, word := range missingWords {
		if word = strings.TrimSpace(word); !slices.Contains(in.Words, word) {
			gone = append(gone, regexp.QuoteMeta(word))
		}
	}
	var matches []string
	match := func(expression string) {
		matches = append(matches, g.node(in.Name+" is", "RegexFullMatch",
			oneWord.of("pattern", nil, blanks+expression+blanks), from))
	}
	for _, word := range in.Words {
		match(regexp.QuoteMeta(word))
	}
	match("(" + strings.Join(gone, "|") + ")")
	hot := g.double(in.Name+" hot", g.sideBySide(in.Name+" matches", matches))
	columns := ascending(count) // by feature: its column of hot, the words' own in their order at first
	if rare >= 0 {              // 1 − the sum of all matches
		minus := slices.Repeat([]float64{-1}, len(matches))
		other := g.node(in.Name+" other", "Gemm", transposed, hot, g.doubles("minus", minus, 1, len(minus)),
			g.doubles("one", []float64{1}, 1))
		hot = g.sideBySide(in.Name+" all", []string{hot, other})
		columns[rare] = len(matches)
	}
	if missing >= 0 { // the match behind the words'
		columns[missing] = len(in.Words)
	}
	p.hot = append(p.hot, g.node(in.Name+" features", "Gather", alongColumns, hot,
		g.wholes(in.Name+" columns", columns...)))
	for range count {
		p.features = append(p.features, source{words, p.hotCols})
		p.hotCols++
	}
}

// rawNumbers sets the numbers side by side as float64.
func (p *preparation) rawNumbers(g *graph) string {
	if !slices.Contains(p.wide, true) {
		return g.double("numbers", g.sideBySide("raw", p.numbers))
	}
	all := slices.Clone(p.numbers)
	for k, wide := range p.wide {
		if !wide {
			all[k] = g.double(all[k]+" wide", all[k])
		}
	}
	return g.sideBySide("numbers", all)
}

// parts adds the nodes of each part that has features, and returns them with the place of their
// first columns side by side.
func (p *preparation) parts(g *graph) (parts []string, places [partCount]int) {
	at := 0
	add := func(what part, name string, cols int) {
		parts, places[what] = append(parts, name), at
		at += cols
	}
	if n := len(p.numbers); n > 0 {
		raw := p.rawNumbers(g)
		scaled := g.node("centred", "Sub", nil, raw, g.doubles("means", p.means, n))
		scaled = g.node("scaled", "Div", nil, scaled, g.doubles("deviations", p.deviation, n))
		missing := g.node("is missing", "IsNaN", nil, raw)
		zero := g.doubles("zero", []float64{0}, 1)
		add(numbers, g.node("filled", "Where", nil, missing, zero, scaled), n)
		if m := len(p.indicators); m > 0 {
			of := g.wholes("with indicator", p.indicators...)
			add(missings, g.node("indicators", "Gather", alongColumns, g.double("missing", missing), of), m)
		}
	}
	if len(p.hot) > 0 {
		add(words, g.sideBySide("words", p.hot), p.hotCols)
	}
	return parts, places
}
