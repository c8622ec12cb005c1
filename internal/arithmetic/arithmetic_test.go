package arithmetic

import (
	"testing"

	"dsbo/internal/kernel"
)

// TestDigest: the plain kernels have one digest, those in assembly another one, on every machine and at every level of its architecture.
// A change of these numbers changes the bits of all runs: checkpoints that were written before cannot be resumed after.
func TestDigest(t *testing.T) {
	for path, want := range map[kernel.Path]string{kernel.Generic: "40982b20dfd7d095", kernel.AVX2: "e1de9773a83e3f2a", kernel.AVX512: "e1de9773a83e3f2a"} {
		if !kernel.Supported(path) {
			t.Logf("this machine has no kernels %s", path)
			continue
		}
		restore := kernel.Use(path)
		if got := digest(); got != want {
			t.Errorf("kernels %s: the digest is %s; it must be %s", path, got, want)
		}
		restore()
	}
	if Digest() != digest() {
		t.Errorf("the digest is %s and then %s; it must be the same", Digest(), digest())
	}
}

func BenchmarkDigest(b *testing.B) {
	for b.Loop() {
		digest()
	}
}
