package experiment

import (
	"flag"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs"
)

// pair is a network of two units whose lower loss has a penalty on what is nothing: whatever x is,
// the lower problem is one and the same, and has several solutions.
type pair struct{ models.Logistic }

func (pair) Dims() (p, q int) { return 1, 8 }

func (pair) Start(y []float64) {
	for j := range y {
		y[j] = 0.6 * math.Sin(float64(3*j+1))
	}
}

func (pair) Score(_, y *ad.Node, b models.Batch) (losses, hits *ad.Node) {
	hidden := ad.Tanh(ad.MatMul(b.X, ad.Part(y, 0, 2, 3), false, true))
	s := ad.MatVec(hidden, ad.PartVec(y, 6, 2), false)
	return ad.Softplus(ad.Neg(ad.Mul(ad.Flatten(b.T), s))), nil
}

func (m pair) Upper(x, y *ad.Node, b models.Batch) *ad.Node {
	losses, _ := m.Score(x, y, b)
	return ad.Mean(losses)
}

func (m pair) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Add(m.Upper(x, y, b), ad.Add(ad.Scale(.005, ad.SumAll(ad.Square(y))), ad.Scale(0, ad.SumAll(x))))
}

// TestSpread: constants of one and the same lower problem that may have several solutions have one
// and the same Φ, to the bit, whatever was solved before; the summary says how far the solutions
// of two starts are apart; and the verdict finds no difference. Nothing says that the lower problem
// is not convex, which is not known, and what would say that it is has its name.
func TestSpread(t *testing.T) {
	task := Task{Name: "pair", About: "has two units", Flags: func(*flag.FlagSet) {}}
	task.Load = func(a Agents) (data.Task, models.Model, error) {
		set, err := data.Synthetic{Agents: a.N, Features: 3, Train: 30, Val: 30, Test: 90, Rate: 1, Seed: a.Seed}.Task()
		return set, struct {
			models.Model
			models.Scorer
			models.Starter
		}{pair{}, pair{}, pair{}}, err
	}
	folder := runs.Folder(filepath.Join(t.TempDir(), "run"))
	args := []string{"-agents=3", "-K=3", "-x0=-1", "-quiet", "-report=false", "-dtype=float64",
		"-out=" + string(folder)}
	var shown strings.Builder
	testkit.OK(Run(t.Context(), task, args, &shown, io.Discard))
	s := testkit.Get(folder.ReadSummary())
	if len(s.Constants) < 3 {
		t.Fatalf("constants %v, want three at least", s.Constants)
	}
	for _, m := range s.Models {
		if m.Phi != s.Models[0].Phi || !(m.Spread >= 0) {
			t.Errorf("%s: Φ %v with a spread of %v; %s has %v", m.Name, m.Phi, m.Spread, s.Models[0].Name,
				s.Models[0].Phi)
		}
	}
	for _, c := range s.Constants {
		if c.Phi != s.Constants[0].Phi {
			t.Errorf("constant %g: Φ %v, constant %g: %v", c.Lambda, c.Phi, s.Constants[0].Lambda, s.Constants[0].Phi)
		}
	}
	if s.Verdict.Outcome != runs.Same {
		t.Errorf("verdict %q: %s", s.Verdict.Outcome, s.Verdict.Sentence)
	}
	notes := strings.Join(s.Verdict.Notes, " ")
	if !strings.Contains(notes, "the better of two") {
		t.Errorf("notes %q must say from where the solutions were found", notes)
	}
	for where, text := range map[string]string{"verdict": notes, "terminal": shown.String()} {
		if !strings.Contains(text, "Modulus") || strings.Contains(text, "is not convex") {
			t.Errorf("the %s must name Modulus, and not say that the problem is not convex:\n%s", where, text)
		}
	}
}
