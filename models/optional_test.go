package models_test

import (
	"errors"
	"strings"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/models"
)

// Models with a method that is almost an optional one.
type (
	formerScore   struct{ Ridge }
	pointerScore  struct{ Ridge }
	formerModulus struct{ Ridge }
	otherName     struct{ Ridge }
)

func (formerScore) Score(y *ad.Node, b models.Batch) (losses, hits *ad.Node) { return b.T, nil }

func (*pointerScore) Score(_, _ *ad.Node, b models.Batch) (losses, hits *ad.Node) { return b.T, nil }

func (formerModulus) Modulus() float64 { return 1 }

func (otherName) Rate(y *ad.Node) *ad.Node { return y }

// TestAlmostOptional: a method that nobody would call is an error that names it.
func TestAlmostOptional(t *testing.T) {
	for _, c := range []struct {
		model models.Model
		want  string // "": it is a model
	}{
		{formerScore{Ridge{1}}, "method Score of model models_test.formerScore must be func(*gorgonia.Node, " +
			"*gorgonia.Node, models.Batch) (*gorgonia.Node, *gorgonia.Node), as models.Scorer says"},
		{&formerScore{Ridge{1}}, "it is func(*gorgonia.Node, models.Batch) (*gorgonia.Node, *gorgonia.Node)"},
		{pointerScore{Ridge{1}}, "belongs to *models_test.pointerScore: pass the model as a pointer"},
		{&pointerScore{Ridge{1}}, ""},
		{formerModulus{Ridge{1}}, "method Modulus of model models_test.formerModulus must be func([]float64) float64"},
		{otherName{Ridge{1}}, ""},
	} {
		x, _ := ad.FloatTable(2, 1, []float64{1, 2})
		seen := data.Examples{X: x, Target: x}
		_, err := models.NewOracle(c.model, data.Shard{Train: seen, Val: seen}, models.Config{})
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%T: %v", c.model, err)
		case c.want != "" && (!errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%T: error %v, want one that matches ErrConfig and says %q", c.model, err, c.want)
		}
	}
}
