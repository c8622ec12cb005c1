package linalg

import (
	"testing"

	"dsbo/internal/kernel"
)

// TestDigest: the plain kernels have one digest, those in assembly another one, on every machine
// and at every level of its architecture. A change of these numbers changes the bits of all runs:
// checkpoints that were written before cannot be resumed after.
func TestDigest(t *testing.T) {
	for path, want := range map[kernel.Path]string{kernel.Generic: "635ead83608e4a82", kernel.AVX2: "1029fb0abb5aba49",
		kernel.AVX512: "1029fb0abb5aba49"} {
		if !kernel.Supported(path) {
			t.Logf("this machine has no kernels %s", path)
			continue
		}
		restore := kernel.Use(path)
		if got := digest(); got != want {
			t.Errorf("kernels %s: the digest is %s; it must be %s", path, got, want)
		}
		if first, again := ArithmeticDigest(), ArithmeticDigest(); first != want || again != want {
			t.Errorf("kernels %s: the digest that is kept is %s and then %s; it must be %s", path, first, again, want)
		}
		restore()
	}
}

func BenchmarkDigest(b *testing.B) {
	for b.Loop() {
		digest()
	}
}
