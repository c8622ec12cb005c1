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
	testkit.OK(m.Write(folder))
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

// runtimeProgram runs a graph by ONNX Runtime for Node.
const runtimeProgram = `const ort = require('onnxruntime-node'), [path, raw] = JSON.parse(require('fs').readFileSync(0))
const feeds = {}
for (const [name, {words, numbers}] of Object.entries(raw)) feeds[name] = words ?
  new ort.Tensor('string', words, [words.length, 1]) :
  new ort.Tensor('float32', Float32Array.from(numbers, v => v === null ? NaN : v), [numbers.length, 1])
ort.InferenceSession.create(path).then(s => s.run(feeds)).then(o => console.log(JSON.stringify({
  Labels: o.prediction.data, Probabilities: Array.from(o.probabilities.data)})))`

// runtimePredictions returns the predictions of ONNX Runtime.
func runtimePredictions(t *testing.T, path string, raw map[string]matrix) (made modelfile.Predictions) {
	if exec.Command("node", "-e", "require('onnxruntime-node')").Run() != nil {
		t.Skip("LEFT OUT: node cannot load onnxruntime-node (NODE_PATH is where it stands)")
	}
	type column struct {
		Words   []string   `json:"words,omitempty"`
		Numbers []*float64 `json:"numbers"`
	}
	columns := map[string]column{}
	for name, of := range raw {
		next := column{Words: of.words}
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
