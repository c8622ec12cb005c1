package algo_test

import (
	"testing"

	"dsbo/internal/kernel/kerneltest"
)

// TestOnEveryPath: golden trajectories, the conformance of every method and the paper's statements,
// whichever kernels do the work.
func TestOnEveryPath(t *testing.T) { kerneltest.Everywhere(t, "^(Test|Example)") }
