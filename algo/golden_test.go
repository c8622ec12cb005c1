package algo_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo/ad/adtest"
	"dsbo/algo"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
)

// golden is a file of testdata/golden: a problem, a method's parameters, and what an independent
// program in another language found.
type golden struct {
	Algo     string
	Kind     string
	Agents   int `json:"n"`
	P        int `json:"p"`
	Q        int `json:"q"`
	W        [][]float64
	Steps    any `json:"N"` // beside n, which is another
	K        int
	X0       any   // start of x: a number or a vector
	WarmY    *bool `json:"warm_y"`
	Floats   *int  `json:"floats_per_iteration"`
	Data     goldenData
	Draws    *draws // nil: all data
	Expected map[string]json.RawMessage
	Counts   map[string]int // averages and calls of one agent in the whole run
	Phase0   *struct{ Constants, F []float64 }

	params map[string]json.RawMessage // of the method, by name
}

// method returns the file's method, before Init, and after change has set parameters anew.
func (g golden) method(t *testing.T, change ...string) algo.Method {
	t.Helper()
	m := made(t, g.Algo, "{}")
	for _, name := range algo.Parameters(m) {
		if value := g.params[name]; value != nil {
			set(t, m, name, string(value))
		}
	}
	for _, c := range change {
		name, value, _ := strings.Cut(c, "=")
		set(t, m, name, value)
	}
	return m
}

func set(t *testing.T, m algo.Method, name, value string) {
	t.Helper()
	testkit.OK(algo.Decode(m, fmt.Appendf(nil, "{%q:%s}", name, value)))
}

// startX returns the start of x.
func (g golden) startX(t *testing.T) []float64 {
	t.Helper()
	x := make([]float64, g.P)
	v, _ := flatten(g.X0)
	switch {
	case g.X0 == nil:
	case len(v) == 1:
		linalg.Fill(x, v[0])
	case len(v) == g.P:
		copy(x, v)
	default:
		t.Fatalf("x0 has %d numbers, want 1 or %d", len(v), g.P)
	}
	return x
}

func readGolden(t *testing.T, file string) golden {
	t.Helper()
	text := testkit.Get(os.ReadFile(file))
	var g golden
	testkit.OK(json.Unmarshal(text, &g))
	if g.Algo == "" {
		g.Algo = "madsbo"
	}
	testkit.OK(json.Unmarshal(text, &g.params))
	if g.WarmY != nil && !*g.WarmY {
		g.params["cold_y"] = json.RawMessage("true")
	}
	if g.Algo == "newtoncg" { // as the files' program has it
		g.params["absolute"], g.params["most"] = json.RawMessage("true"), json.RawMessage("1")
	}
	if l := g.params["Lg"]; l != nil { // as one file has it
		g.params["lg"] = l
	}
	g.Data.P, g.Data.Q = g.P, g.Q
	if g.Draws != nil {
		g.params["batches"] = testkit.Get(json.Marshal(
			[]int{g.Data.batches(0, "train_batches"), g.Data.batches(0, "val_batches")}))
	}
	return g
}

// TestGolden compares whole trajectories. Both sides work in float64 and differ in the order of
// sums only, so that what is compared agrees to about 1e-14 times the growth of errors along a
// stable trajectory; 1e-9 leaves room for that and for none of the mistakes that matter.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			if testing.Short() && !strings.Contains(file, "softmax") {
				t.Skip("methods with one loop, two and one agent on matrix products are enough")
			}
			g := readGolden(t, file)
			if !slices.Contains(algo.Names(), g.Algo) {
				t.Skipf("algorithm %q is not here", g.Algo)
			}
			if len(g.Expected) == 0 {
				t.Fatal("nothing is expected")
			}
			compareGolden(t, g, runGolden(t, g))
		})
	}
}

// TestOnEveryPath: golden trajectories of losses that are made of matrix products, whichever
// kernels do the work. What the other tests show of the methods, on problems as small or of a
// method against itself, is not of kernels.
func TestOnEveryPath(t *testing.T) { adtest.Everywhere(t, "^TestGolden$/softmax") }
