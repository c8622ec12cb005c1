package num_test

import (
	"math"
	"testing"

	"dsbo/internal/num"
)

// TestStudent compares with numbers of scipy, which are right to about 1e-11. A tail is half of the
// difference of two sums of up to n/2 terms, each right to 2^-53 of itself.
func TestStudent(t *testing.T) {
	for _, c := range []struct {
		p    float64
		n    int
		want float64
	}{
		{0.5, 7, 0}, {0.75, 1, 1}, {0.75, 2, 0.8164965809277266}, {0.975, 1, 12.706204736432095},
		{0.975, 2, 4.302652729911275}, {0.975, 5, 2.5705818366147395}, {0.975, 19, 2.093024054408263},
		{0.975, 399, 1.965927295920809}, {0.975, 100_000, 1.9599877075346093},
		{0.9958333333333333, 5, 4.219309115888926}, {0.9958333333333333, 59, 2.730131656592265},
	} {
		if got := num.StudentQuantile(c.p, c.n); !(math.Abs(got-c.want) <= 1e-9*max(1, c.want)) {
			t.Errorf("quantile %v of %d degrees: %v, want %v", c.p, c.n, got, c.want)
		}
	}
	for _, c := range []struct {
		t    float64
		n    int
		want float64
	}{
		{0, 4, 0.5}, {0.1, 1, 0.4682744825694464}, {1, 2, 0.21132486540518713}, {1, 37, 0.16190293617770912},
		{3, 4, 0.019970984035859413}, {3, 1000, 0.0013833545221190939}, {8, 37, 6.894543948963381e-10},
		{-1, 2, 1 - 0.21132486540518713}, {3, 1_000_000, 0.0013502304420323597},
	} {
		if got := num.StudentTail(c.t, c.n); !(math.Abs(got-c.want) <= 1e-12) {
			t.Errorf("tail of %v with %d degrees: %v, want %v", c.t, c.n, got, c.want)
		}
	}
	if v := num.StudentQuantile(0.975, 0); v == v {
		t.Errorf("quantile of no degree %v, want NaN", v)
	}
}
