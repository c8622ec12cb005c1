package experiment

import (
	"testing"

	"dsbo/models"
)

// Few validation examples for many hyperparameters are fitted alone, unless some of them are held
// out, or a prior holds the hyperparameters together.
func TestDefaultHoldout(t *testing.T) {
	pixels := models.Softmax{Features: 784, Classes: 10}
	held := models.MLP{Features: 784, Outputs: 10, Prior: models.Prior{Deviation: 0.5, Rows: 2000}}
	for _, c := range []struct {
		name                        string
		validation, training, least float64
		model                       models.Model
		want                        float64
	}{
		{"many", 30000, 30000, 3750, pixels, 0.1},
		{"many of one agent, few of another", 30000, 30000, 19, pixels, 0},
		{"far more than training examples", 30000, 2000, 3750, pixels, 0},
		{"fewer than five for each hyperparameter", 2000, 2000, 250, pixels, 0.2},
		{"the same with few training examples", 2000, 200, 250, pixels, 0.2},
		{"too few to judge by", 160, 2000, 20, pixels, 0},
		{"enough for each hyperparameter", 2000, 2000, 250, models.Softmax{Features: 200, Classes: 10}, 0},
		{"a prior", 2000, 2000, 250, held, 0},
		{"a network without prior", 2000, 2000, 250, models.MLP{Features: 784, Outputs: 10}, 0.2},
	} {
		if got := defaultHoldoutOf(c.validation, c.training, c.least, c.model); got != c.want {
			t.Errorf("%s: %g is held out, want %g", c.name, got, c.want)
		}
	}
}
