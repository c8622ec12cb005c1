package ad

import (
	"testing"

	"dsbo/ad/adtest"
)

// TestOnEveryPath: values, gradients and products against closed forms and differences, tile by
// tile and whole, the same bits after any history, and no allocations, whichever kernels do
// the work.
func TestOnEveryPath(t *testing.T) {
	adtest.Everywhere(t,
		"^Test(ExtremeLogits|Ops|TableReads|SameBitsAfterAnyHistory|NegativeZero|NoAllocations)$")
}
