package algo

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// compressions are of each kind, whole and partial words included.
var compressions = []compression{{Kind: "top", Keep: 1}, {Kind: "top", Keep: 2}, {Kind: "top", Keep: 5},
	{Kind: "round", Bits: 2}, {Kind: "round", Bits: 4}, {Kind: "round", Bits: 13}, {Kind: "round", Bits: 32}}

// TestCodes: what a code brings back, and that what is left of a vector is left as it is.
func TestCodes(t *testing.T) {
	v := []float64{0.25, -3, 3, 0, math.Copysign(0, -1), 1}
	for _, c := range []struct {
		of   compression
		want []float64
	}{
		{compressions[0], []float64{0, -3, 0, 0, 0, 0}},
		{compressions[1], []float64{0, -3, 3, 0, 0, 0}},
		{compression{Kind: "round", Bits: 3}, []float64{0, -3, 3, 0, 0, 1}},
		{compression{Kind: "round", Bits: 2}, []float64{0, -3, 3, 0, 0, 0}},
	} {
		x := c.of.compressor()
		got := slices.Clone(v)
		for range 2 {
			if err := x.Decode(got, x.Encode(nil, got)); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%+v of %v: %v (%v), want %v", c.of, v, got, err, c.want)
			}
		}
	}
	for _, of := range compressions[3:] { // whose levels times these are beyond float64
		x, got := of.compressor(), []float64{math.MaxFloat64, -6.8e299, 0}
		if err := x.Decode(got, x.Encode(nil, got)); err != nil || got[0] != math.MaxFloat64 || got[1] > 0 {
			t.Errorf("%+v of huge numbers: %v (%v)", of, got, err)
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		for _, of := range compressions[3:] {
			x, got := of.compressor(), []float64{bad, 1}
			if err := x.Decode(got, x.Encode(nil, got)); err != nil || !math.IsNaN(got[0]) {
				t.Errorf("%+v of %v is %v (%v); it must not look finite", of, bad, got, err)
			}
		}
	}
}

// FuzzDecode: any code is decoded or refused, and a code of Encode is decoded to what encodes
// the same.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0, 240, 63, 0, 0, 0, 0, 0, 0, 0, 64}, uint8(2))
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\xc0\xff\xff\xff\xff\xff\xff\xff\x7f"), uint8(3))
	f.Fuzz(func(t *testing.T, text []byte, length uint8) {
		var code []float64
		for ; len(text) >= 8; text = text[8:] {
			code = append(code, math.Float64frombits(binary.LittleEndian.Uint64(text)))
		}
		for _, of := range compressions {
			x, v := of.compressor(), make([]float64, length%9+1)
			_ = x.Decode(v, code) // must come back
			copy(v, code)
			if slices.ContainsFunc(v, func(e float64) bool { return !(math.Abs(e) < 1e300) }) {
				continue
			}
			encoded := x.Encode(nil, v)
			if err := x.Decode(v, encoded); err != nil {
				t.Errorf("%+v: the code %v of %v is refused: %v", of, encoded, v, err)
			}
		}
	})
}
