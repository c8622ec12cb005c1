package algo_test

import (
	"testing"

	"dsbo/internal/kernel/kerneltest"
)

// TestOnEveryPath: golden trajectories and the conformance of every method, whichever kernels do the work. What the other
// tests show of the methods, on problems as small, is not of kernels.
func TestOnEveryPath(t *testing.T) { kerneltest.Everywhere(t, "^Test(Golden|Conformance)$") }
