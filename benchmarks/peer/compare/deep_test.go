package main

import "testing"

// TestDeepModel counts parameters and products by hand.
func TestDeepModel(t *testing.T) {
	mlp := newDeep("784-256-128-10")
	if q := mlp.params.Len(); q != 785*256+257*128+129*10 {
		t.Errorf("the network of dense layers has %d parameters", q)
	}
	first, rest := 2.*784*256, 2.*(256*128+128*10)
	if c, want := mlp.count, (productCount{2*first + 3*rest, 3*first + 8*rest}); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
	lenet := newDeep("lenet")
	if q := lenet.params.Len(); q != 26*8+201*16+257*10 {
		t.Errorf("the network with convolutions has %d parameters", q)
	}
	first, rest = 2.*12*12*25*8, 2.*(4*4*200*16+256*10)
	if c := lenet.count; c.gradient != 2*first+3*rest {
		t.Errorf("a gradient has %g multiplications and additions, want %g", c.gradient, 2*first+3*rest)
	}
}

func TestMeasureDeep(t *testing.T) {
	for _, kind := range []dtype{f32, f64} {
		if times := measureDeep("784-3-10", 5, kind, 0); !(min(times["Gradient"], times["Cold"], times["Warm"]) > 0) {
			t.Errorf("%v: want positive times", times)
		}
	}
}
