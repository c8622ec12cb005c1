package train_test

import (
	"context"
	"errors"
	"math"
	"regexp"
	"sync"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/train"
)

// A faulty method is newtoncg of which one agent computes wrongly: after the fifth iteration its x
// is off by a unit in the last place, or is no number.
type faulty struct {
	*algo.NewtonCG
	Once *sync.Once
	NaN  bool
}

func (f *faulty) Init(p, q, K int) error {
	f.NewtonCG = algo.Clone(f.NewtonCG).(*algo.NewtonCG)
	return f.NewtonCG.Init(p, q, K)
}

// Traits says that it serves one agent alone, as on machines that are apart.
func (f *faulty) Traits() algo.Traits {
	t := f.NewtonCG.Traits()
	t.Terms = false
	return t
}

func (f *faulty) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	err := f.NewtonCG.Step(ctx, k, o, m)
	if k == 4 {
		f.Once.Do(func() {
			x := f.X()
			if x[0] += float64(math.Abs(x[0]) * 0x1p-40); f.NaN { // more than steps of x round off
				x[0] = math.NaN()
			}
		})
	}
	return err
}

// TestAgreement: an agent whose x has another bit than the others' x ends the run at the next
// evaluation, and is named.
func TestAgreement(t *testing.T) {
	c, _ := config(t)
	c.Method = &faulty{method(t, "newtoncg").(*algo.NewtonCG), new(sync.Once), false}
	_, err := train.Run(context.Background(), c)
	if want := regexp.MustCompile(
		`after iteration 8 agents \[[0-9]\] have another x than the others: they must have the same ` +
			`bits`); err == nil || !want.MatchString(err.Error()) {
		t.Errorf("error %v must match %v", err, want)
	}
}

// TestNaNIsDivergence: an iterate that is no number ends the run after its iteration, as one that
// is too large does.
func TestNaNIsDivergence(t *testing.T) {
	c, _ := config(t)
	c.Method = &faulty{method(t, "newtoncg").(*algo.NewtonCG), new(sync.Once), true}
	_, err := train.Run(context.Background(), c)
	if d := (*dsbo.DivergedError)(nil); !errors.As(err, &d) || d.Iteration != 4 || d.Quantity != "norm of x" {
		t.Errorf("error %v; x must have diverged in iteration 4", err)
	}
}
