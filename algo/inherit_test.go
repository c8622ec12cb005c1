package algo

import "testing"

// TestInherit: a method takes over what another one has set and it has too, but schedules where its
// steps have bounds of their own, of which alpha is taken where it is a plain step.
func TestInherit(t *testing.T) {
	from := &SUNDSBO{Alpha: "0.3", Beta: "0.2", Mu: 0.7, Plain: true}
	to := &SUNDSBO{Beta: "0.9", Gamma: "0.8"}
	Inherit(to, from)
	if to.Mu != .7 || !to.Plain || to.Env != 0 || to.Beta != "0.9" || to.Gamma != "0.8" || to.Alpha != "0.3" {
		t.Errorf("with bounds of its own it has %+v", to)
	}
	plain := &DSOBA{Beta: "0.9", Gamma: "0.8"}
	Inherit(plain, from)
	if plain.Beta != "0.2" || plain.Gamma != "0.8" || plain.Alpha != "0.3" {
		t.Errorf("without bounds of its own it has %+v", plain)
	}
}

// TestLists: what lists of numbers must be.
func TestLists(t *testing.T) {
	const box, three = "two numbers, the lower one first", "three positive numbers"
	for _, c := range []struct {
		must string
		v    []float64
		want bool
	}{
		{box, []float64{-1, 2}, true}, {box, []float64{2, 2}, false}, {box, []float64{-1, 2, 3}, false},
		{three, []float64{1, 2, .1}, true}, {three, []float64{1, 2}, false}, {three, []float64{1, 2, 0}, false},
		{three, []float64{1, 2, 3, 4}, false},
	} {
		if got := meets(c.must, c.v...); got != c.want {
			t.Errorf("%v is %s: %t", c.v, c.must, got)
		}
	}
}
