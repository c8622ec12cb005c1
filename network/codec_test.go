package network_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
)

var wires = []network.Wire{network.Float64, network.Float32, network.BF16, network.Int8}

// sameNumbers reports the first entry in which vectors differ; all NaN are the same.
func sameNumbers(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) && !(math.IsNaN(got[i]) && math.IsNaN(want[i])) {
			t.Errorf("%s: entry %d is %v; it must be %v", what, i, got[i], want[i])
			return
		}
	}
}

// TestCodec: what a wire can carry it gives back to the last bit, after one rounding.
func TestCodec(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	wide := make([]float64, 300)
	for i := range wide {
		wide[i] = math.Ldexp(r.NormFloat64(), r.IntN(600)-300)
	}
	near := make([]float64, 130)
	for i := range near {
		near[i] = r.NormFloat64()
	}
	for name, v := range map[string][]float64{
		"none": {}, "one": {-3.7}, "zeros": {0, math.Copysign(0, -1), 0}, "tiny": {1e-300, -0x1p-149, 3e-44, 0x1p-126},
		"huge": {math.MaxFloat64, 1}, "large": {3e38, 4e39, -1},
		"not finite": {1, math.NaN(), math.Inf(1), math.Inf(-1)},
		"wide":       wide, "near": near,
	} {
		for _, w := range wires {
			code := w.Encode([]byte{42}, v)
			if len(code) != 1+w.Bytes(len(v)) || code[0] != 42 {
				t.Errorf("%v, %s: %d bytes after one other; they must be %d", w, name, len(code)-1, w.Bytes(len(v)))
			}
			carried := make([]float64, len(v))
			testkit.OK(w.Decode(carried, code[1:]))
			if w == network.Float64 {
				sameNumbers(t, name, carried, v)
			}
			again := make([]float64, len(v))
			testkit.OK(w.Decode(again, w.Encode(nil, carried)))
			sameNumbers(t, w.String()+", "+name, again, carried)
		}
	}
}

// TestCodecIsNear: Encode rounds to the nearest number of the wire.
func TestCodecIsNear(t *testing.T) {
	v := []float64{1, -0.3, 0.51, 1.0 / 3, 0, 127.0 / 256}
	for w, unit := range map[network.Wire]float64{network.Float32: 0x1p-24, network.BF16: 0x1p-8,
		network.Int8: 1. / 127} {
		got := make([]float64, len(v))
		testkit.OK(w.Decode(got, w.Encode(nil, v)))
		for i := range v {
			if d := math.Abs(got[i] - v[i]); d > unit/2 {
				t.Errorf("%v: %g has become %g, %g off; it must be at most %g", w, v[i], got[i], d, unit/2)
			}
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	scale := func(s float32) []byte { return network.Float32.Encode(nil, []float64{float64(s)}) }
	for name, c := range map[string]struct {
		w network.Wire
		b []byte
	}{
		"short": {network.BF16, []byte{1, 2, 3}}, "long": {network.Float64, make([]byte, 17)},
		"a scale below 0":      {network.Int8, append(scale(-1), 127, 0)},
		"an infinite scale":    {network.Int8, append(scale(float32(math.Inf(1))), 127, 0)},
		"a scale that is 0":    {network.Int8, append(scale(0), 127, 0)},
		"numbers beside NaN":   {network.Int8, append(scale(float32(math.NaN())), 127, 0)},
		"-128":                 {network.Int8, append(scale(1), 0x80, 127)},
		"a scale too large":    {network.Int8, append(scale(1), 126, 0)},
		"-128 of least scale":  {network.Int8, append(scale(0x1p-126), 0x80, 1)},
		"a scale that is tiny": {network.Int8, append(scale(0x1p-127), 127, 1)},
	} {
		if err := c.w.Decode(make([]float64, 2), c.b); !errors.Is(err, dsbo.ErrShape) {
			t.Errorf("%s: %v; it must match %q", name, err, dsbo.ErrShape)
		}
	}
}

// FuzzDecode: bytes of anyone do no harm, and those that are accepted are the code of what
// they say.
func FuzzDecode(f *testing.F) {
	for w := range wires {
		f.Add(uint8(w), uint16(70), wires[w].Encode(nil, make([]float64, 70)))
		f.Add(uint8(w), uint16(2), wires[w].Encode(nil, []float64{1, -3}))
	}
	f.Fuzz(func(t *testing.T, wire uint8, n uint16, b []byte) {
		w := wires[int(wire)%len(wires)]
		v := make([]float64, int(n)%1000)
		if err := w.Decode(v, b); err != nil {
			if !errors.Is(err, dsbo.ErrShape) {
				t.Fatal(err)
			}
			return
		}
		again := make([]float64, len(v))
		testkit.OK(w.Decode(again, w.Encode(nil, v)))
		sameNumbers(t, w.String(), again, v)
	})
}

// TestPackWords: words of any number of bits come back, and take no more bytes than their
// bits need.
func TestPackWords(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for bits := 1; bits <= 64; bits++ {
		for _, n := range []int{0, 1, 2, 7, 8, 9, 64, 101} {
			words, got := make([]uint64, n), make([]uint64, n)
			for i := range words {
				words[i] = r.Uint64() >> (64 - bits)
			}
			b := network.PackWords([]byte{42}, bits, words)
			if len(b) != 1+(bits*n+7)/8 || b[0] != 42 {
				t.Fatalf("%d words of %d bits: %d bytes", n, bits, len(b)-1)
			}
			testkit.OK(network.UnpackWords(got, bits, b[1:]))
			for i := range words {
				if got[i] != words[i] {
					t.Fatalf("word %d of %d with %d bits is %x; it must be %x", i, n, bits, got[i], words[i])
				}
			}
			if network.UnpackWords(got, bits, append(b, 0)[1:]) == nil {
				t.Errorf("%d words of %d bits: a byte more must be an error", n, bits)
			}
		}
	}
	if err := network.UnpackWords(make([]uint64, 1), 7, []byte{0x80}); !errors.Is(err, dsbo.ErrShape) {
		t.Errorf("a bit too many: %v; it must match %q", err, dsbo.ErrShape)
	}
}
