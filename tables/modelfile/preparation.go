package modelfile

import (
	"slices"

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
			missing := in.MissingWords
			if missing == nil {
				missing = r.MissingWords
			}
			p.addWord(d, in, missing)
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
	hot              []string // matrices of words, 1 column a feature
	hotCols          int
}

// A source is where a feature stands.
type source struct {
	part  part
	place int
}

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

// addWord adds a matrix that has true where the word is the feature's. The code of a word is the
// place of its feature; the words for a missing value have one code.
func (p *preparation) addWord(d *drawing, in features.Input, missingWords []string) {
	rare, missing, count := in.Layout()
	keys, codes := slices.Clone(in.Words), ascending(len(in.Words))
	for _, word := range append([]string{""}, missingWords...) {
		if !slices.Contains(keys, word) {
			keys, codes = append(keys, word), append(codes, int64(missing))
		}
	}
	code := d.node(in.Name+" code", "LabelEncoder", []string{d.input(in)},
		onnxWords("keys_strings", keys), onnxInts("values_int64s", codes), onnxInt("default_int64", int64(rare)))
	of := d.wholes(in.Name+" codes", ascending(count))
	p.hot = append(p.hot, d.node(in.Name+" is", "Equal", []string{code, of}))
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
		add(words, d.double("words", d.sideBySide("all words", p.hot)), p.hotCols)
	}
	return parts, places
}
