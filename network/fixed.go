package network

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"dsbo/internal/linalg"
)

// A fixedPoint turns numbers into whole numbers of some bits, whose sums mod 2^bits over all agents
// are exact.
type fixedPoint struct {
	bits       int // of a word
	termBits   int // m: bits of a term, without its sign and the room for the sum
	block      int // numbers that share a scale
	step       int // exponents of scales are multiples of it
	guard      int // how many powers of two a remembered scale may be above the least one
	stochastic bool
	exact      bool // numbers are parts of a whole number, without scales
}

const (
	exponentBits = 12
	exponentBias = 1100 // makes exponents at least 1; 0 is a block of zeros
	notFinite    = 1<<exponentBits - 1

	longBlock = 1024 // numbers that share a scale where a word has bits to spare

	// Guard bits are what numbers may fall and grow by until scales are asked for again. There are
	// more where there are more scales, all of which have to fit.
	longGuard  = 12
	shortGuard = 16
)

// newFixedPoint returns the fixed point of a vector's average over n agents, with guard bits if it
// is guarded.
func newFixedPoint(w Wire, length, n int, guarded bool) fixedPoint {
	carry := bits.Len(uint(n - 1)) // bits that a sum has more than a term
	if length <= shortVector {
		return fixedPoint{bits: Whole, termBits: Whole - 1 - carry, exact: true}
	}
	f := fixedPoint{block: longBlock, step: 1}
	switch w { // beside carry, 1 bit is the sign
	case Float64:
		f.bits = 64
		f.step = max(1, 64-1-carry-52) // the bits that a term has beyond a float64's
	case Float32:
		f.bits, f.guard = max(32, 24+1+carry), longGuard
	case BF16:
		f.bits, f.guard, f.block, f.stochastic = max(16, 8+1+carry), shortGuard, blockLength, true
	case Int8:
		f.bits, f.guard, f.block, f.stochastic = 7+1+carry, shortGuard, blockLength, true
	}
	if guarded {
		f.bits = max(f.bits+f.guard, 3*(carry+1)) // a flag, of three fields, is a word too
	} else {
		f.guard = 0
	}
	f.termBits = f.bits - 1 - carry
	return f
}

// A flag has three counts of agents in the fields of a word: those for which a scale is too small,
// those with numbers for which it is too large, and those that it fits. Each field can count all
// agents. A block of zeros fits each scale, and needs none.

// field returns the bits of a field of a flag, and of a count beside a part of a whole number.
func (f fixedPoint) field() int { return f.bits - f.termBits }

// flag returns the flag of an agent for a block that is tried under a scale, where least is the
// scale that its own numbers ask for.
func (f fixedPoint) flag(least, scale uint64) uint64 {
	switch {
	case least > scale:
		return 1 << (2 * f.field())
	case least == 0:
		return 0
	case least+uint64(f.guard) < scale:
		return 1 << f.field()
	}
	return 1
}

// allFit reports whether the scales fit all blocks, by the flags of all agents.
func (f fixedPoint) allFit(flags []uint64) bool {
	for _, flag := range flags {
		above, large, fit := flag>>(2*f.field()), flag>>f.field()&mask(f.field()), flag&mask(f.field())
		if above > 0 || large > 0 && fit == 0 {
			return false
		}
	}
	return true
}

func (f fixedPoint) blocks(length int) int {
	if f.exact {
		return 0
	}
	return (length + f.block - 1) / f.block
}

func (f fixedPoint) exponents(dst []uint64, v []float64) []uint64 {
	for block := range slices.Chunk(v, f.block) {
		dst = append(dst, f.exponent(maxAbs(block)))
	}
	return dst
}

// exponent returns the least scale 2^e, as e + exponentBias, of a block in which the largest
// number, rounded, is below it.
func (f fixedPoint) exponent(largest float64) uint64 {
	if largest == 0 {
		return 0
	}
	if !isFinite(largest) {
		return notFinite
	}
	fraction, e := math.Frexp(largest)                                  // largest = fraction·2^e < 2^e
	if math.Ldexp(fraction, f.termBits) > math.Ldexp(1, f.termBits)-1 { // it would be rounded up to 2^e
		e++
	}
	e += exponentBias
	return uint64((e + f.step - 1) / f.step * f.step) // up to a multiple of step
}

// encode appends the numbers of v as multiples of their block's unit, in two's complement, and the
// flag of each block where it is asked to. Numbers that a scale does not fit stay in the sum, mod
// 2^bits: if they were left out, the difference to the repeated sum would reveal them.
func (f fixedPoint) encode(dst []uint64, v []float64, scales []uint64, d draws, flagged bool) []uint64 {
	dst = slices.Grow(dst, len(v)+len(scales))[:len(dst)+len(v)] // flags, which are appended, come after the words
	own, bits := dst[len(dst)-len(v):], mask(f.bits)
	for b, scale := range scales {
		lo := b * f.block
		block := v[lo:min(lo+f.block, len(v))]
		words, p, largest := own[lo:][:len(block)], newPower(f.termBits-int(scale)+exponentBias), maxAbs(block)
		if flagged {
			dst = append(dst, f.flag(f.exponent(largest), scale))
		}
		if scale == 0 || scale == notFinite { // there is no unit; decode does not look at these words
			clear(words)
			continue
		}
		near := p.times(largest) < nearWhole // false of NaN
		for i, x := range block {
			x = p.times(x)
			if f.stochastic {
				x = math.Floor(x + d.unit(lo+i)) // whole: the rounding below leaves it
			}
			if near {
				words[i] = nearestWhole(x) & bits
			} else {
				words[i] = whole(math.RoundToEven(x)) & bits
			}
		}
	}
	return dst
}

// hide puts noise in the places of numbers that are not finite in what encode has made of v. The
// sum there is none, but seen all the same: without noise it would be of the others' terms alone.
func (f fixedPoint) hide(words []uint64, v []float64, noise []uint64) {
	for i, x := range v {
		if !isFinite(x) {
			words[i] = noise[i] & mask(f.bits)
		}
	}
}

// keepLost leaves of v what encode takes off it. words and rounded are scratch, which it returns.
func (f fixedPoint) keepLost(v []float64, scales []uint64, d draws, words []uint64,
	rounded []float64) ([]uint64, []float64) {
	if f.exact { // nothing is lost; NaN where v is not finite, as below
		linalg.Sub(v, v, v)
		return words, rounded
	}
	words, rounded = f.encode(words[:0], v, scales, d, false), append(rounded[:0], v...)
	f.decode(rounded, words, scales, 1)
	linalg.Sub(v, v, rounded)
	return words, rounded
}

// nearWhole is above all numbers that [nearestWhole] takes.
const nearWhole = 1 << 50

// nearestWhole returns the whole number nearest to x, |x| < nearWhole, of two the even one, mod
// 2^64, without a call for each number. Near 1.5·2^52 the last bit of a float64 is worth 1: the sum
// rounds x to a whole number, by which its bits differ from the bits of 1.5·2^52.
func nearestWhole(x float64) uint64 {
	const ones = 3 << 51
	return math.Float64bits(x+ones) - math.Float64bits(ones)
}

// whole returns x, a whole number, mod 2^64; 0 if it is not finite.
func whole(x float64) uint64 {
	switch {
	case math.Abs(x) < 1<<63:
		return uint64(int64(x))
	case isFinite(x): // x = ±m·2^(e−53) with m of 53 bits
		fraction, e := math.Frexp(x)
		return uint64(int64(math.Ldexp(fraction, 53))) << (e - 53)
	}
	return 0
}

// MostWords returns a bound on the words that travel together in an average of up to this number
// of numbers.
func MostWords(length int) int {
	return max(shortVector*mostWhole, length+(length+blockLength-1)/blockLength)
}

// decode sets dst to the averages of n agents whose sums mod 2^bits are words.
func (f fixedPoint) decode(dst []float64, words, scales []uint64, n int) {
	unused := 64 - f.bits // a shift there and back fills in the sign
	for lo := 0; lo < len(dst); lo += f.block {
		hi := min(lo+f.block, len(dst))
		block, sums := dst[lo:hi], words[lo:hi]
		switch scale := scales[lo/f.block]; scale {
		case 0:
			clear(block)
		case notFinite:
			for i := range block {
				block[i] = math.NaN()
			}
		default:
			e := int(scale) - exponentBias
			p := newPower(e - f.termBits)
			for i, sum := range sums {
				block[i] = p.times(float64(int64(sum<<unused)>>unused) / float64(n))
			}
			if e >= 1024 { // terms that were rounded up may have an average above the largest number
				for i, x := range block {
					block[i] = min(max(x, -math.MaxFloat64), math.MaxFloat64)
				}
			}
		}
	}
}

// A power is a power of two in two factors, as 2^e may be no float64 where x·2^e is one.
type power [2]float64

func newPower(e int) power { return power{math.Ldexp(1, e/2), math.Ldexp(1, e-e/2)} }

// times returns x·2^e. It is exact, or rounds once where the result is subnormal: of what exponent
// encodes, and the other way for x = 0 and |x| ≥ 2^-10.
func (p power) times(x float64) float64 { return float64(x * p[0] * p[1]) }

// A scaleMemory has the scales under which averages are tried without asking for scales first, and
// what masks are bound to. It follows from the averages so far, and is the same on all agents.
type scaleMemory struct {
	kinds []*scaleKind
	bound digest // of the sums so far and their scales; 0 where no masks are bound to it
}

// A digest is one of SHA-256.
type digest [sha256.Size]byte

// then returns the digest of d followed by words: a chain, which binds all words so far.
func (d digest) then(words []uint64) digest {
	h, chunk := sha256.New(), make([]byte, 0, 4096) // fewer calls of Write than words
	_, _ = h.Write(d[:])                            // which never fails
	for part := range slices.Chunk(words, cap(chunk)/8) {
		chunk = chunk[:0]
		for _, w := range part {
			chunk = binary.LittleEndian.AppendUint64(chunk, w)
		}
		_, _ = h.Write(chunk)
	}
	return digest(h.Sum(nil))
}

// A scaleKind is the averages of a wire and a length.
type scaleKind struct {
	wire   Wire
	length int
	scales []uint64 // of blocks, nil before the first average; of exact sums 1 where they are wide
}

// kind returns what is known of averages of a wire and a length; nil where each asks for scales.
func (m *scaleMemory) kind(wire Wire, length int, f fixedPoint) *scaleKind {
	switch {
	case f.exact:
		wire = Float64 // whole numbers are the same on each wire
	case f.guard == 0:
		return nil
	}
	i := slices.IndexFunc(m.kinds, func(k *scaleKind) bool { return k.wire == wire && k.length == length })
	if i < 0 {
		i = len(m.kinds)
		m.kinds = append(m.kinds, &scaleKind{wire: wire, length: length})
	}
	return m.kinds[i]
}

// remember keeps scales that all agents have asked for, with room above for numbers that grow.
// Blocks of zeros, and of numbers that are not finite, predict nothing and are skipped.
func (k *scaleKind) remember(f fixedPoint, scales []uint64) {
	if len(k.scales) != len(scales) {
		k.scales = make([]uint64, len(scales))
	}
	for b, scale := range scales {
		if scale != 0 && scale != notFinite {
			k.scales[b] = scale + uint64(f.guard/2)
		}
	}
}

// state returns the memory as numbers, all of which a float64 has exactly: the digest, and of each
// kind wire, length, number of scales and scales.
func (m *scaleMemory) state() []float64 {
	var all []float64
	for part := range slices.Chunk(m.bound[:], 4) {
		all = append(all, float64(binary.LittleEndian.Uint32(part)))
	}
	for _, k := range m.kinds {
		all = append(all, float64(k.wire), float64(k.length), float64(len(k.scales)))
		for _, scale := range k.scales {
			all = append(all, float64(scale))
		}
	}
	return all
}

// setState sets what state returned; none is the memory before the first average. Of a file that is
// cut short it takes what there is.
func (m *scaleMemory) setState(all []float64) {
	*m = scaleMemory{}
	if n := len(m.bound) / 4; len(all) >= n {
		for i, v := range all[:n] {
			binary.LittleEndian.PutUint32(m.bound[4*i:], uint32(v))
		}
		all = all[n:]
	}
	for len(all) >= 3 {
		k := scaleKind{wire: Wire(all[0]), length: int(all[1])}
		n := min(int(all[2]), len(all)-3)
		k.scales = make([]uint64, n)
		for b, scale := range all[3:][:n] {
			k.scales[b] = uint64(scale)
		}
		m.kinds, all = append(m.kinds, &k), all[3+n:]
	}
}
