package tasks_test

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"testing"

	"dsbo/experiment"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestEngines: agents that ask Gorgonia's TapeMachine find λ of compiled programs to 1e-9, of the
// logistic and the softmax model, by the paper's method and the default.
func TestEngines(t *testing.T) {
	for _, task := range all() {
		for _, method := range []string{"newtoncg", "madsbo_tuned"} {
			var found [2][]float64
			for i, engine := range []string{"ad", "gorgonia"} {
				out := runs.Folder(filepath.Join(t.TempDir(), engine))
				args := arguments(out, fmt.Sprintf("-agents=2 -train=20 -val=20 -K=3 -evaluate=off -wire=float64 "+
					"-dtype=float64 -batch=0 -rivals=false -algorithm=%s -engine=%s", method, engine))
				testkit.OK(experiment.Run(t.Context(), task, args, io.Discard, io.Discard))
				found[i] = testkit.Get(out.ReadLambda())
			}
			for j, want := range found[0] {
				if got := found[1][j]; !(math.Abs(got-want) <= 1e-9) {
					t.Errorf("%s, %s: λ[%d] is %v, by ad %v", task.Name, method, j, got, want)
				}
			}
		}
	}
}
