package console

import (
	"testing"

	"dsbo/runs"
)

// TestFeaturesText: columns with a coefficient beyond chance are named once, else those in use;
// none where chance alone does as well in more than 5 %.
func TestFeaturesText(t *testing.T) {
	all := []runs.Coefficient{{Feature: "sex=m", Column: "sex", BeyondChance: true},
		{Feature: "sex=x", Column: "sex", BeyondChance: true}, {Feature: "age", Column: "age"}}
	for want, a := range map[string]runs.Assessment{
		"":                                            {},
		"Columns that count beyond chance: sex.":      {Coefficients: all, Effects: &runs.Effects{NoFeature: .05}},
		"Columns that the model uses most: age.":      {Coefficients: all[2:], Effects: new(runs.Effects)},
		"Columns that the model uses most: x.":        {Importances: []runs.Importance{{Feature: "x"}}},
		"No feature counts beyond chance (p = 0.06).": {Coefficients: all, Effects: &runs.Effects{NoFeature: .06}},
	} {
		if got := featuresText(a); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
