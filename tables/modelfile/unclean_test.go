package modelfile_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/runs"
	"dsbo/tables"
	"dsbo/tables/assess"
	"dsbo/tables/features"
	"dsbo/tables/modelfile"
)

// uncleanRecipe has words that an expression could take for signs of its own.
var uncleanRecipe = features.Recipe{Target: classes, MissingWords: []string{"NA", "None", "?", "n/a "},
	Inputs: []features.Input{
		{Name: "rare", Kind: tables.Word, Words: []string{"a.b", "(c|d)*", "A B", "a b"}, Rare: true, Indicator: true},
		{Name: "own", Kind: tables.Word, Words: []string{"nö", "NA", `\pZ^$`}, Rare: true, MissingWords: []string{"-"}},
		{Name: "bare", Kind: tables.Word, Words: []string{"x"}},
		{Name: "size", Kind: tables.Number, Mean: 3, Deviation: 2, Indicator: true},
	}}

// uncleanCells draws the cells of a column: words known and not, words for missing values, in other
// cases, and blanks around.
func uncleanCells(r *rand.Rand, in features.Input, n int) []string {
	pick := func(words []string) string { return words[r.IntN(len(words))] }
	space := []string{"", "", "", " ", "  ", "\t", "\u00a0", "\u2003", "\u3000", "\u0085", "\v \f"}
	cells := make([]string, n)
	for row := range cells {
		word := pick(slices.Concat(in.Words, in.Words, uncleanRecipe.MissingWords,
			[]string{"", "", "-", "nan", "none", "axb", "c", "X", "a  b", "x\ny"}))
		if in.Kind == tables.Number {
			word = pick([]string{"", "NA", "None", "?", "1.5", "-7", "3e2"})
		}
		cells[row] = pick(space) + word + pick(space)
	}
	return cells
}

// TestUnclean: the graph makes of cells as they stand in a file what dsbo makes of the file: by the
// evaluator of these tests, and by ONNX Runtime where Node can load it.
func TestUnclean(t *testing.T) {
	const rows = 400
	r := rand.New(rand.NewPCG(5, 6))
	m := modelOf(r, uncleanRecipe, []int{4}, false)
	folder := runs.Folder(t.TempDir())
	testkit.OK(m.Write(folder, ""))
	records, raw := make([][]string, rows+1), map[string]matrix{}
	for _, in := range uncleanRecipe.Inputs {
		cells := uncleanCells(r, in, rows)
		of := matrix{kind: texts, rows: rows, cols: 1, words: cells}
		if in.Kind == tables.Number {
			of = matrix{kind: float32s, rows: rows, cols: 1}
			for _, cell := range cells {
				v, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
				if err != nil {
					v = math.NaN()
				}
				of.numbers = append(of.numbers, v)
			}
		}
		raw[in.Name] = of
		for row, cell := range append([]string{in.Name}, cells...) {
			records[row] = append(records[row], cell)
		}
	}
	var text bytes.Buffer
	testkit.OK(csv.NewWriter(&text).WriteAll(records))
	data := testkit.Get(tables.Read("new.csv", bytes.NewReader(text.Bytes()), int64(text.Len()), m.Recipe().Options()))
	want := predictions(testkit.Get(modelfile.Open(string(folder))), data)
	path := folder.Path(runs.ONNXFile)
	compare(t, runGraph(path, func(in message) matrix { return raw[in.text(1)] }), want)
	t.Run("ONNX Runtime", func(t *testing.T) { compare(t, runtimePredictions(t, path, raw), want) })
}

// TestSurvivalGraph: the graph has the probabilities of the baseline hazard at the times that it is
// given, and none beyond its horizon. A column may be called as its input.
func TestSurvivalGraph(t *testing.T) {
	rec := features.Recipe{Target: features.Target{Name: "months", Kind: features.Survival, Event: "dead"},
		Inputs: []features.Input{{Name: "at", Kind: tables.Number, Mean: 3, Deviation: 2}}}
	m := modelOf(rand.New(rand.NewPCG(7, 8)), rec, nil, false)
	b := assess.Baseline{Edges: []float64{0, 2, 5, 9}, Cumulative: []float64{0, .1, .4, .4}}
	m.Baseline = &b
	folder := runs.Folder(t.TempDir())
	testkit.OK(m.Write(folder, ""))
	want := predictions(m, testkit.Get(tables.New("new.csv", tables.NumberColumn("at", []float32{-1, 3, 4.5}))))
	times := []float64{0, .5, 2, 4, 9}
	for _, hazard := range want.Values {
		for _, at := range times {
			want.Probabilities = append(want.Probabilities, b.Survival(at, hazard))
		}
	}
	path, raw := folder.Path(runs.ONNXFile), map[string]matrix{
		"at":  {kind: float32s, rows: 3, cols: 1, numbers: []float64{-1, 3, 4.5}},
		"at_": {kind: float64s, rows: len(times), cols: 1, numbers: times},
	}
	compare(t, runGraph(path, func(in message) matrix { return raw[in.text(1)] }), want)
	t.Run("ONNX Runtime", func(t *testing.T) { compare(t, runtimePredictions(t, path, raw), want) })
	raw["at_"] = matrix{kind: float64s, rows: 1, cols: 1, numbers: []float64{9.1}}
	for _, p := range runGraph(path, func(in message) matrix { return raw[in.text(1)] }).Probabilities {
		if !math.IsNaN(p) {
			t.Errorf("beyond the horizon: %v", p)
		}
	}
}

// runtimeProgram runs a graph by ONNX Runtime for Node.
const runtimeProgram = `const ort = require('onnxruntime-node'), [path, raw] = JSON.parse(require('fs').readFileSync(0))
const feeds = {}
for (const [name, {words, wide, numbers}] of Object.entries(raw)) feeds[name] = words ?
  new ort.Tensor('string', words, [words.length, 1]) : wide ?
  new ort.Tensor('float64', Float64Array.from(numbers), [numbers.length, 1]) :
  new ort.Tensor('float32', Float32Array.from(numbers, v => v === null ? NaN : v), [numbers.length, 1])
ort.InferenceSession.create(path).then(s => s.run(feeds)).then(o => console.log(JSON.stringify({
  [o.prediction.type === 'string' ? 'Labels' : 'Values']: Array.from(o.prediction.data),
  Probabilities: Array.from((o.probabilities ?? o.survival).data)})))`

// runtimePredictions returns the predictions of ONNX Runtime.
func runtimePredictions(t *testing.T, path string, raw map[string]matrix) (made modelfile.Predictions) {
	if exec.Command("node", "-e", "require('onnxruntime-node')").Run() != nil {
		t.Skip("LEFT OUT: node cannot load onnxruntime-node (NODE_PATH is where it stands)")
	}
	type column struct {
		Words   []string   `json:"words,omitempty"`
		Wide    bool       `json:"wide"`
		Numbers []*float64 `json:"numbers"`
	}
	columns := map[string]column{}
	for name, of := range raw {
		next := column{Words: of.words, Wide: of.kind == float64s}
		for _, v := range of.numbers {
			number := &v
			if math.IsNaN(v) {
				number = nil
			}
			next.Numbers = append(next.Numbers, number)
		}
		columns[name] = next
	}
	c := exec.Command("node", "-e", runtimeProgram)
	c.Stdin = bytes.NewReader(testkit.Get(json.Marshal([]any{path, columns})))
	out, err := c.Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	testkit.OK(json.Unmarshal(out, &made))
	return made
}
