package grpc_test

import (
	"testing"

	"dsbo/internal/kernel/kerneltest"
)

// TestOnEveryPath: faults change no bit, whichever kernels do the work. The exchange itself uses them
// where it weighs long vectors, and the methods in all that they compute.
func TestOnEveryPath(t *testing.T) {
	kerneltest.Everywhere(t, "^Test(KilledAgents|SameBitsAsLocal)$")
}
