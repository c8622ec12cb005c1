package train_test

import (
	"context"
	"math"
	"regexp"
	"sync"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/train"
)

// A faulty method is newtoncg of which one agent computes wrongly: after the fifth iteration its x is off by a unit in the last place.
type faulty struct {
	*algo.NewtonCG
	Once *sync.Once
}

func (f *faulty) Init(p, q, K int) error {
	f.NewtonCG = algo.Clone(f.NewtonCG).(*algo.NewtonCG)
	return f.NewtonCG.Init(p, q, K)
}

func (f *faulty) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	err := f.NewtonCG.Step(ctx, k, o, m)
	if k == 4 {
		f.Once.Do(func() { f.X()[0] = math.Nextafter(f.X()[0], 1e9) })
	}
	return err
}

// TestAgreement: an agent whose x has another bit than that of the others ends the run at the next evaluation, and is named.
func TestAgreement(t *testing.T) {
	c, _ := config(t)
	c.Method = &faulty{method(t, "newtoncg").(*algo.NewtonCG), new(sync.Once)}
	_, err := train.Run(context.Background(), c)
	if want := regexp.MustCompile(`after iteration 8 agents \[[0-9]\] have another x than the others: they must have the same bits`); err == nil || !want.MatchString(err.Error()) {
		t.Errorf("error %v must match %v", err, want)
	}
}
