package algo

import (
	"math"
	"slices"

	"dsbo"
	"dsbo/internal/linalg"
)

// A compression selects the part of a vector that is sent: "none" (the default) sends all, "top"
// the Keep numbers of largest absolute value (of equal ones the first), with their places, "round"
// all of them in Bits bits, as s·round(v L/s)/L with s = max |v| and L = 2^(Bits−1) − 1, half to
// even.
//
// A code is numbers of 8 bytes that every exchange carries: with top the numbers, and two places in
// each; with round s, and as many entries in each as fit into 52 bits.
type compression struct {
	Kind string `json:"kind,omitempty"`
	Keep int    `json:"keep,omitempty"`
	Bits int    `json:"bits,omitempty"`
}

// check requires a compression that exists.
func (s *compression) check(c *checker, name string) {
	c.choice(name, &s.Kind, "none", "top", "round")
	c.require(s.Kind != "top" || s.Keep >= 1, name, "with keep at least 1", s.Keep)
	c.require(s.Kind != "round" || s.Bits >= 2 && s.Bits <= 32, name, "with bits from 2 to 32", s.Bits)
}

// compressor returns the compressor, nil for none. It belongs to one goroutine at a time.
func (s compression) compressor() dsbo.Compressor {
	switch s.Kind {
	case "top":
		return &top{keep: s.Keep}
	case "round":
		return rounded{s.Bits}
	}
	return nil
}

// A reference is the neighbours' copy of an agent's v. They are sent compressed differences to it.
type reference struct {
	sent, heard []float64 // v̂, 0 at the start, and mix v̂
	rest, mixed []float64 // scratch
}

// newReference makes the reference of a variable, whose memory is part of the state. It is sent
// anew when members change.
func (s *state) newReference(name string, n int) reference {
	r := reference{s.carried(name+"_sent", n), s.carried(name+"_heard", n), s.newVec(n), s.newVec(n)}
	s.restarts(r.sent, r.heard)
	return r
}

// exchange sends Q(v − v̂), which all add to v̂.
func (r *reference) exchange(w *Turn, v []float64, q dsbo.Compressor) {
	linalg.Sub(r.rest, v, r.sent)
	mixCompressed(w, r.mixed, r.rest, q)
	linalg.Add(r.sent, r.sent, r.rest)
	linalg.Add(r.heard, r.heard, r.mixed)
}

// codeBits are the bits that a whole number in a code may have: a float64 has them all.
const codeBits = 52

// A digits packs whole numbers of some bits into numbers of a code.
type digits struct {
	bits int // of each
	each int // in one number
}

func digitsOf(bits int) digits { return digits{bits, codeBits / bits} }

// length returns the numbers of a code of n digits.
func (d digits) length(n int) int { return (n + d.each - 1) / d.each }

// pack appends the n digits that at returns.
func (d digits) pack(dst []float64, n int, at func(i int) uint64) []float64 {
	for from := 0; from < n; from += d.each {
		word := uint64(0)
		for i := from; i < min(from+d.each, n); i++ {
			word |= at(i) << (d.bits * (i - from))
		}
		dst = append(dst, float64(word))
	}
	return dst
}

// unpack takes the n digits of a code, and returns the first that is none or is not taken; n if all
// are.
func (d digits) unpack(code []float64, n int, take func(i int, digit uint64) bool) int {
	for from := 0; from < n; from += d.each {
		v := code[from/d.each]
		if !(v >= 0 && v < 1<<codeBits) || v != math.Trunc(v) {
			return from
		}
		word := uint64(v)
		for i := from; i < min(from+d.each, n); i++ {
			if !take(i, word&(1<<d.bits-1)) {
				return i
			}
			word >>= d.bits
		}
	}
	return n
}

// top keeps the largest entries.
type top struct {
	keep  int
	sizes []uint64 // scratch: bits of absolute values, which have the order of these, NaN the largest
	kept  []uint64 // scratch: places
}

// places are the digits of the places of entries.
var places = digitsOf(codeBits / 2)

// Encode writes the Keep numbers of largest size, then their places, two in each number.
func (t *top) Encode(dst, v []float64) []float64 {
	t.sizes, t.kept = t.sizes[:0], t.kept[:0]
	for _, e := range v {
		t.sizes = append(t.sizes, math.Float64bits(math.Abs(e)))
	}
	slices.Sort(t.sizes)
	largest := t.sizes[len(v)-min(t.keep, len(v)):]
	least := largest[0]
	equal, _ := slices.BinarySearch(largest, least+1) // how many entries of the least kept size are kept
	for i, e := range v {
		size := math.Float64bits(math.Abs(e))
		if size == least && equal > 0 {
			equal-- // of equal ones the first
		} else if size <= least {
			continue
		}
		dst, t.kept = append(dst, e), append(t.kept, uint64(i))
	}
	return places.pack(dst, len(t.kept), func(i int) uint64 { return t.kept[i] })
}

// Decode sets v to the numbers at their places, and 0 elsewhere. A place outside of v is an error.
func (t *top) Decode(v, code []float64) error {
	m := min(t.keep, len(v))
	if want := m + places.length(m); len(code) != want {
		return dsbo.ShapeErrorf("the code of the top %d of %d numbers must have %d; it has %d", m, len(v),
			want, len(code))
	}
	clear(v)
	if i := places.unpack(code[m:], m, func(i int, at uint64) bool {
		if at >= uint64(len(v)) {
			return false
		}
		v[at] = code[i]
		return true
	}); i < m {
		return dsbo.ShapeErrorf("place %d of a code must be 0 to %d", i, len(v)-1)
	}
	return nil
}

// Floats counts numbers and places.
func (t *top) Floats(n int) int { return 2 * min(t.keep, n) }

// rounded rounds all entries to levels, and sends their scale beside.
type rounded struct{ bits int }

func (r rounded) levels() float64 { return math.Ldexp(1, r.bits-1) - 1 }

// Encode writes the scale s = max |v|, then the levels of the entries, from −levels to levels, as
// digits that begin at 0, as many in each number as fit. A level that is NaN, as of a scale that is
// 0, infinite or NaN, is sent as 0: the scale alone then decides what is decoded.
func (r rounded) Encode(dst, v []float64) []float64 {
	scale, levels := 0.0, r.levels()
	for _, e := range v {
		scale = max(scale, math.Abs(e)) // NaN if one is
	}
	overflows := scale > math.MaxFloat64/levels // a product of an entry and levels may
	return digitsOf(r.bits).pack(append(dst, scale), len(v), func(i int) uint64 {
		level := v[i] * levels / scale
		if overflows {
			level = v[i] / scale * levels
		}
		if math.IsNaN(level) {
			level = 0
		}
		return uint64(math.RoundToEven(level) + levels)
	})
}

// Decode sets v to the rounded entries times the scale.
func (r rounded) Decode(v, code []float64) error {
	d, levels := digitsOf(r.bits), r.levels()
	if want := 1 + d.length(len(v)); len(code) != want {
		return dsbo.ShapeErrorf("the code of %d numbers in %d bits must have %d; it has %d", len(v), r.bits,
			want, len(code))
	}
	scale := code[0]
	overflows := math.Abs(scale) > math.MaxFloat64/levels // as in Encode
	if i := d.unpack(code[1:], len(v), func(i int, digit uint64) bool {
		level := float64(digit) - levels
		if v[i] = scale * level / levels; overflows {
			v[i] = scale * (level / levels)
		}
		return level <= levels
	}); i < len(v) {
		return dsbo.ShapeErrorf("level %d of a code must be 0 to %g", i, 2*levels)
	}
	return nil
}

// Floats counts entries and the scale.
func (r rounded) Floats(n int) int { return n + 1 }
