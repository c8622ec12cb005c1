package data

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"dsbo"
)

func TestParsePartition(t *testing.T) {
	const form = `partition must be iid, dirichlet:A (as in dirichlet:0.3) or labels:K (as in labels:2); it is `
	for _, c := range []struct {
		text string
		want Partition
		err  string
	}{
		{"iid", Partition{}, ""},
		{"dirichlet:0.3", Partition{Dirichlet: .3}, ""},
		{"dirichlet:1e6", Partition{Dirichlet: 1e6}, ""},
		{"dirichlet:0.001", Partition{Dirichlet: 1e-3}, ""},
		{"labels:1", Partition{Labels: 1}, ""},
		{"labels:2", Partition{Labels: 2}, ""},
		{"labels:256", Partition{Labels: 256}, ""},
		{"", Partition{}, form + `""`},
		{"iid:", Partition{}, form + `"iid:"`},
		{"IID", Partition{}, form + `"IID"`},
		{"dirichlet", Partition{}, form + `"dirichlet"`},
		{"dirichlet:0", Partition{}, form + `"dirichlet:0"`},
		{"dirichlet:x", Partition{}, form + `"dirichlet:x"`},
		{"dirichlet:NaN", Partition{}, "A of the partition dirichlet:A must be from 0.001 to 1e6; it is NaN"},
		{"dirichlet:-1", Partition{}, "A of the partition dirichlet:A must be from 0.001 to 1e6; it is -1"},
		{"dirichlet:0.000999", Partition{}, "A of the partition dirichlet:A must be from 0.001 to 1e6; it is 0.000999"},
		{"dirichlet:1000001", Partition{},
			"A of the partition dirichlet:A must be from 0.001 to 1e6; it is 1.000001e+06"},
		{"labels:0", Partition{}, form + `"labels:0"`},
		{"labels:-3", Partition{}, "K of the partition labels:K must be from 1 to 256; it is -3"},
		{"labels:1.5", Partition{}, form + `"labels:1.5"`},
		{"labels:257", Partition{}, "K of the partition labels:K must be from 1 to 256; it is 257"},
	} {
		got, err := parsePartition(c.text)
		if c.err == "" {
			if err != nil || got != c.want {
				t.Errorf("%q: %v, %v", c.text, got, err)
			}
			continue
		}
		if err == nil || err.Error() != c.err || !errors.Is(err, dsbo.ErrConfig) || got != c.want {
			t.Errorf("%q: %v, error %q, want %q", c.text, got, err, c.err)
		}
	}
	if err := (Partition{Dirichlet: 1, Labels: 2}).Validate(); err == nil {
		t.Error("a partition of two kinds is valid")
	}
}

func FuzzParsePartition(f *testing.F) {
	for _, seed := range []string{"iid", "dirichlet:0.3", "labels:2", "labels:", "dirichlet:1e-9"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePartition(text)
		if err != nil {
			if p != (Partition{}) || !errors.Is(err, dsbo.ErrConfig) {
				t.Fatalf("%q: %v, %v", text, p, err)
			}
			return
		}
		if again, err := parsePartition(p.String()); err != nil || again != p {
			t.Fatalf("%q is %v, and that is read as %v, %v", text, p, again, err)
		}
	})
}

func TestPartitionInJSON(t *testing.T) {
	type config struct{ P Partition }
	text, err := json.Marshal(config{Partition{Dirichlet: .25}})
	if err != nil || string(text) != `{"P":"dirichlet:0.25"}` {
		t.Fatalf("%s, %v", text, err)
	}
	var c config
	if err := json.Unmarshal(text, &c); err != nil || c.P.Dirichlet != .25 {
		t.Errorf("read back: %v, %v", c, err)
	}
	if err := json.Unmarshal([]byte(`{"P":"x"}`), &c); !errors.Is(err, dsbo.ErrConfig) || c.P.Dirichlet != .25 {
		t.Errorf("a bad partition: %v, %v", c, err)
	}
}

// A share of the symmetric Dirichlet distribution with C classes has mean 1/C and variance
// (C-1)/(C²(Ca+1)). With S draws the mean of a share is within six of its standard errors; the
// variance is compared to 10 %, six standard errors of a variance whose kurtosis is below 5.
func TestDirichletMoments(t *testing.T) {
	const classes, draws = 4, 20000
	for _, a := range []float64{.1, 1, 10} {
		r := newRand(3, streamSplit)
		law := make([]float64, classes)
		sum, sum2 := 0.0, 0.0
		for range draws {
			dirichlet(r, a, law)
			total := 0.0
			for _, w := range law {
				total += w
			}
			share := law[1] / total
			sum += share
			sum2 += float64(share * share)
		}
		mean := sum / draws
		variance := sum2/draws - float64(mean*mean)
		want := (classes - 1) / (classes * classes * (classes*a + 1))
		if !(math.Abs(mean-1.0/classes) <= 6*math.Sqrt(want/draws)) {
			t.Errorf("parameter %g: mean share %g, want %g", a, mean, 1.0/classes)
		}
		if !(math.Abs(variance/want-1) <= .1) {
			t.Errorf("parameter %g: variance %g, want %g", a, variance, want)
		}
	}
}

// TestGammaMean: the mean of gamma variables of shape a is a, and so is their variance. The mean of
// S of them is within six of its standard errors √(a/S), and its draws are the same everywhere.
func TestGammaMean(t *testing.T) {
	const draws = 20000
	for a, drawn := range map[float64]float64{.1: 2019.6188039497001, 1: 19901.941071550013,
		10: 199777.11771926709} {
		r, sum := newRand(5, streamSplit), 0.0
		for range draws {
			sum += math.Exp(logGamma(r, a))
		}
		if mean := sum / draws; !(math.Abs(mean-a) <= 6*math.Sqrt(a/draws)) {
			t.Errorf("the mean of gamma variables of shape %g is %g", a, mean)
		}
		if !(math.Abs(sum/drawn-1) <= 1e-12) {
			t.Errorf("of shape %g they sum to %.17g, and did to %.17g", a, sum, drawn)
		}
	}
}

// TestEachLabelHasAWeight: with the least parameter too no weight is 0, so that an agent can have
// any label of which alone examples are left.
func TestEachLabelHasAWeight(t *testing.T) {
	for seed := range uint64(20) {
		for _, law := range (Partition{Dirichlet: 1e-3}).laws(newRand(seed, streamSplit), 3, 10) {
			if slices.Min(law) <= 0 || slices.Max(law) != 1 {
				t.Fatalf("seed %d: weights %v must be positive, and 1 at most", seed, law)
			}
		}
	}
}

// TestLabelsAreSpread: of n agents with K of C labels each, every label is held by ⌊nK/C⌋ or ⌈nK/C⌉
// agents, and no agent holds a label twice.
func TestLabelsAreSpread(t *testing.T) {
	for agents := 1; agents <= 13; agents++ {
		for classes := 2; classes <= 11; classes++ {
			for k := 1; k <= classes; k++ {
				held := make([]int, classes)
				for i, law := range (Partition{Labels: k}).laws(newRand(7, streamSplit), agents, classes) {
					own := 0
					for l, w := range law {
						own, held[l] = own+int(w), held[l]+int(w)
					}
					if own != k {
						t.Fatalf("agent %d of %d has %d of %d labels, want %d", i, agents, own, classes, k)
					}
				}
				if fewest := agents * k / classes; slices.Min(held) < fewest ||
					slices.Max(held) > (agents*k+classes-1)/classes {
					t.Fatalf("%d agents with %d of %d labels each: labels are held by %v agents", agents, k, classes,
						held)
				}
			}
		}
	}
}

// TestLabelsAreDrawn: which agent has which labels, and which labels go together, follows from the
// seed. The three agents of a seed are pinned: a change breaks the resume of every saved run.
func TestLabelsAreDrawn(t *testing.T) {
	first, together := map[int]bool{}, map[int]bool{}
	for seed := range uint64(60) {
		law := Partition{Labels: 2}.laws(newRand(seed, streamSplit), 3, 5)[0]
		l := slices.Index(law, 1)
		first[l], together[l+1+slices.Index(law[l+1:], 1)-l] = true, true
	}
	if len(first) != 4 || len(together) != 4 { // the lower label is any but the last one
		t.Errorf("over 60 seeds agent 0 has first labels %v, which are %v apart", first, together)
	}
	want := "[[0 1 0 0 1] [1 0 1 0 0] [0 0 0 1 1]]"
	if got := fmt.Sprint(Partition{Labels: 2}.laws(newRand(11, streamSplit), 3, 5)); got != want {
		t.Errorf("labels of three agents are %s, want %s", got, want)
	}
}
