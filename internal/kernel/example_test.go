package kernel_test

import (
	"fmt"

	"dsbo/internal/kernel"
)

// Two rows of data, three features, two classes: the logits of a linear model are X·Wᵀ, and the
// gradient with respect to W of a loss whose derivative by the logits is U is Uᵀ·X.
func Example() {
	x := []float64{
		1, 2, 3,
		4, 5, 6,
	}
	w := []float64{
		1, 0, -1,
		0, 1, 0,
	}
	logits := make([]float64, 4)
	kernel.GemmNT(2, 2, 3, logits, 2, x, 3, w, 3, false)
	fmt.Println(logits)

	u := []float64{
		1, -1,
		2, -2,
	}
	grad := make([]float64, 6)
	kernel.GemmTN(2, 3, 2, grad, 3, u, 2, x, 3, false)
	fmt.Println(grad)

	// A second tile of the batch continues the same sum.
	kernel.GemmTN(2, 3, 1, grad, 3, []float64{1, 0}, 2, []float64{1, 1, 1}, 3, true)
	fmt.Println(grad)
	// Output:
	// [-2 2 -2 5]
	// [9 12 15 -9 -12 -15]
	// [10 13 16 -9 -12 -15]
}
