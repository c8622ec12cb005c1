package algo_test

import (
	"errors"
	"testing"

	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
)

// TestStepEndsAtAnError, however many inner steps are still to come: who interrupts a run does not
// wait for them.
func TestStepEndsAtAnError(t *testing.T) {
	const endless = `1000000000000`
	broken := errors.New("broken")
	for _, tt := range []struct{ method, parameters string }{
		{"madsbo", `{"T":` + endless + `}`},
		{"madsbo", `{"T":1,"N":` + endless + `}`},
		{"madsbo_tuned", `{"T":` + endless + `}`},
		{"madsbo_tuned", `{"T":1,"N":` + endless + `}`},
		{"jhip", `{"T":` + endless + `}`},
		{"jhip", `{"T":1,"N":` + endless + `}`},
		{"fednest", `{"lg":5,"T":` + endless + `}`},
		{"aidcg", `{"T":` + endless + `}`},
		{"adamcg", `{"T":` + endless + `}`},
	} {
		m := testkit.Get(algo.New(tt.method))
		testkit.OK(algo.Decode(m, []byte(tt.parameters)))
		testkit.OK(m.Init(3, 4, 2))
		o := &algotest.Recorder{Oracle: algotest.NewQuadratics(1, 3, 4, 7)[0], FailAt: 7, Err: broken}
		if err := m.Step(t.Context(), 0, o, algotest.NewMixers(algotest.Ring(1, .5))[0]); !errors.Is(err, broken) {
			t.Errorf("%s with %s: error %v; it must be that of the oracle", tt.method, tt.parameters, err)
		}
	}
}
