package algo_test

import (
	"testing"

	"dsbo/ad/adtest"
)

// TestOnEveryPath: golden trajectories of losses that are made of matrix products, whichever
// kernels do the work. What the other tests show of the methods, on problems as small or of a
// method against itself, is not of kernels.
func TestOnEveryPath(t *testing.T) { adtest.Everywhere(t, "^TestGolden$/softmax") }
