package models_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"dsbo"
	"dsbo/internal/must"
	"dsbo/models"
)

// TestLeNetByHand computes the outputs of a picture by loops.
func TestLeNetByHand(t *testing.T) {
	const side, classes = 16, 3
	m := models.LeNet{Side: side, Classes: classes, Filters: [2]int{2, 3}, Hidden: 4}
	s := classShard(8, 8, side*side, classes)
	p, q := m.Dims()
	if want := 2*26 + 3*(25*2+1) + 4*(3+1) + 3*(4+1); p != 4 || q != want {
		t.Fatalf("p = %d, q = %d, want 4 and %d", p, q, want)
	}
	y := normal(rand.New(rand.NewPCG(9, 9)), q, .3)
	off := 0
	layer := func(in, out int, h []float64) []float64 {
		w, b := y[off:][:in*out], y[off+in*out:][:out]
		sums := make([]float64, out)
		for k := range sums {
			sums[k] = b[k]
			for j, v := range h {
				sums[k] += w[k*in+j] * v
			}
		}
		return sums
	}
	picture, channels, width := row(s.Val, 0), 1, side
	for _, filters := range []int{2, 3} {
		wide := width - 4
		maps := make([][]float64, wide*wide)
		for i := range wide {
			for j := range wide {
				var patch []float64
				for a := range 5 {
					patch = append(patch, picture[((i+a)*width+j)*channels:][:5*channels]...)
				}
				maps[i*wide+j] = layer(25*channels, filters, patch)
			}
		}
		off += filters * (25*channels + 1)
		width, channels = wide/2, filters
		picture = make([]float64, width*width*channels)
		for i := range width {
			for j := range width {
				for k := range channels {
					largest := 0.0 // of ReLU
					for _, at := range []int{2*i*wide + 2*j, 2*i*wide + 2*j + 1, (2*i+1)*wide + 2*j, (2*i+1)*wide + 2*j + 1} {
						largest = max(largest, maps[at][k])
					}
					picture[(i*width+j)*channels+k] = largest
				}
			}
		}
	}
	hidden := layer(3, 4, picture)
	off += 4 * (3 + 1)
	for k, v := range hidden {
		hidden[k] = max(v, 0)
	}
	logits, sum := layer(4, 3, hidden), 0.0
	for _, v := range logits {
		sum += math.Exp(v)
	}
	label, _ := s.Val.Target.Label(0)
	want := math.Log(sum) - logits[label]
	got, _ := must.Get2(must.Get(models.NewScore(m, s.Val, false)).Examples(make([]float64, p), y))
	if math.Abs(got[0]-want) > 1e-12 {
		t.Errorf("the loss of a picture is %g, by hand %g", got[0], want)
	}
}

func TestLeNetRefuses(t *testing.T) {
	s := classShard(8, 8, 256, 3)
	for _, m := range []models.LeNet{{Side: 15, Classes: 3}, {Side: 16, Classes: 3, Hidden: -1}, {Side: 16, Classes: 3, Filters: [2]int{1, -1}}} {
		if err := m.Check(s); !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("%+v: %v", m, err)
		}
	}
	if err := (models.LeNet{Side: 17, Classes: 3}).Check(s); !errors.Is(err, dsbo.ErrShape) {
		t.Errorf("pictures of another size: %v", err)
	}
}
