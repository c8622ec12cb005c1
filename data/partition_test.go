package data

import (
	"encoding/json"
	"errors"
	"math"
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
		{"labels:2", Partition{Labels: 2}, ""},
		{"", Partition{}, form + `""`},
		{"iid:", Partition{}, form + `"iid:"`},
		{"IID", Partition{}, form + `"IID"`},
		{"dirichlet", Partition{}, form + `"dirichlet"`},
		{"dirichlet:0", Partition{}, form + `"dirichlet:0"`},
		{"dirichlet:x", Partition{}, form + `"dirichlet:x"`},
		{"dirichlet:NaN", Partition{}, "A of the partition dirichlet:A must be from 0.001 to 1e6; it is NaN"},
		{"dirichlet:-1", Partition{}, "A of the partition dirichlet:A must be from 0.001 to 1e6; it is -1"},
		{"labels:0", Partition{}, form + `"labels:0"`},
		{"labels:-3", Partition{}, "K of the partition labels:K must be from 1 to 256; it is -3"},
		{"labels:1.5", Partition{}, form + `"labels:1.5"`},
		{"labels:257", Partition{}, "K of the partition labels:K must be from 1 to 256; it is 257"},
	} {
		got, err := ParsePartition(c.text)
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
		p, err := ParsePartition(text)
		if err != nil {
			if p != (Partition{}) || !errors.Is(err, dsbo.ErrConfig) {
				t.Fatalf("%q: %v, %v", text, p, err)
			}
			return
		}
		if again, err := ParsePartition(p.String()); err != nil || again != p {
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
		if math.Abs(mean-1.0/classes) > 6*math.Sqrt(want/draws) {
			t.Errorf("parameter %g: mean share %g, want %g", a, mean, 1.0/classes)
		}
		if math.Abs(variance/want-1) > .1 {
			t.Errorf("parameter %g: variance %g, want %g", a, variance, want)
		}
	}
}
