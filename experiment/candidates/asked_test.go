package candidates

import (
	"fmt"
	"strings"
	"testing"

	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
)

// TestLevelsOf: a level weighs as strength rows of all that train, over which a loss is a mean of
// sites; slopes come with it, where they have a strength.
func TestLevelsOf(t *testing.T) {
	for _, c := range []struct {
		strength, slopes, share float64
		want                    string
	}{
		{0, 0, 1, "0 [] 0"}, {.1, 0, 1, "0.005 [] 0"}, {.1, .2, 1, "0.005 [1 4] 0.01"}, {10, 0, .5, "1 [] 0"},
		{10, 1, 2, "0.25 [1 4] 0.025"},
	} {
		if none := (Levels{}).Of(models.Linear{}, c.share).Level; none.Ridge != 0 {
			t.Errorf("no levels are shrunk by %g", none.Ridge)
		}
		l := Levels{Rows: 60, Sites: 3, Strength: c.strength, Slopes: []int{1, 4}, SlopeStrength: c.slopes}
		of := l.Of(models.Linear{Features: 5, Outputs: 1}, c.share).Level
		if got := fmt.Sprintf("%.9g %v %.9g", of.Ridge, of.Slopes, of.SlopeRidge); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestLassoNote: the note appears where the loss still falls: λ is the weakest tried or below, and
// only there; and where classes separate.
func TestLassoNote(t *testing.T) {
	for _, c := range []struct {
		lambda   float64
		separate bool
		falls    bool
	}{{.5, false, false}, {.1, false, true}, {.09, true, true}, {.11, true, false}} {
		best := &Structure{}
		best.Name, best.Separate = "lasso", c.separate
		best.Lasso = &runs.Lasso{Lambda: c.lambda, Nonzero: 2, Of: 5,
			Path: []runs.LassoPoint{{Lambda: 1}, {Lambda: .3}, {Lambda: .1}}}
		s := &Structures{List: []*Structure{{}, best}, Best: best}
		note := s.Note("")
		if strings.Contains(note, "falls still") != c.falls || strings.Contains(note, "separate") != c.separate ||
			!strings.Contains(note, "weights to 2 of 5 features") {
			t.Errorf("%+v: %s", c, note)
		}
	}
}

// TestPhiErrors: Φ of a convex lower problem has the error of its solution, by which contenders
// are compared, and a slope; where it may have several, Φ is of the one that is reached.
func TestPhiErrors(t *testing.T) {
	task := testkit.Get(data.Synthetic{Agents: 3, Features: 4, Train: 40, Val: 40, Test: 20, Rate: 1, Seed: 1}.Task())
	for _, nonconvex := range []bool{false, true} {
		p := testkit.Get(train.NewProblem(task, models.Logistic{Features: 4}, models.Config{Seed: 1}))
		p.Nonconvex = nonconvex
		m := NewModel("", 0, make([]float64, 4))
		testkit.OK(New(p, "λ", 4, p.Solver(), nil, nil).Solve(t.Context(), m, nil, nil))
		if m.Reached != nonconvex || (m.phiError > 0) == nonconvex || (m.slope != 0) == nonconvex {
			t.Errorf("nonconvex %t: %+v", nonconvex, m)
		}
	}
}
