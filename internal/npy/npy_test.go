package npy

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"gorgonia.org/tensor"

	"dsbo/internal/must"
)

// TestWrite: the bytes are those of Gorgonia's own writer, and read back as the same numbers.
func TestWrite(t *testing.T) {
	for _, shape := range [][]int{{1}, {7}, {64}, {123456}, {1, 1}, {2, 3}, {784, 10}, {10, 785}, {1, 40}, {40, 1}, {2, 3, 4}} {
		total := 1
		for _, n := range shape {
			total *= n
		}
		numbers := make([]float64, total)
		for i := range numbers {
			numbers[i] = math.Sin(float64(i)) * math.Pow(10, float64(i%600-300))
		}
		numbers[0] = math.Copysign(0, -1)
		var got, want bytes.Buffer
		must.OK(Write(&got, numbers, shape...))
		must.OK(tensor.New(tensor.WithShape(shape...), tensor.WithBacking(slices.Clone(numbers))).WriteNpy(&want))
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			n := min(200, want.Len(), got.Len())
			t.Errorf("shape %v: file begins\n%q, want\n%q", shape, got.Bytes()[:n], want.Bytes()[:n])
		}
		if len(shape) > 2 {
			continue
		}
		a, err := Read(&got)
		if err != nil || a.Rows != shape[0] || a.Rows*a.Cols != total || !slices.Equal(a.Float64s, numbers) {
			t.Errorf("shape %v: read back as %v, %v", shape, a, err)
		}
	}
}
