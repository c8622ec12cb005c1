package network

import (
	"iter"
	"slices"
)

// A Vector is one of those that are averaged together, on a wire that is the same on all agents.
type Vector struct {
	Name string // what it is, for people: see [Carried]
	Wire Wire
	Dst  []float64 // the average; of an [Averager] at first what it averages
	// Lost, if not nil, feeds errors back, for each agent of the process. It has the length of the
	// agent's vector and is added to it. Afterwards it is the wire's rounding error of that sum,
	// for the next average of a sequence. The sum of a sequence is then off by the last error
	// alone. After an error it is unusable.
	Lost [][]float64
}

// A Trip is what an average took.
type Trip struct {
	Exchanges     int // over the tree, one after the other
	Floats, Bytes int // of an agent's words in all of them
}

// A bundle is the vectors of an average, whose words travel together in one exchange after another
// until each vector has its average.
type bundle struct {
	Trip
	agents   int // of all processes
	memory   *scaleMemory
	vectors  []*bundled
	reducing []Reduction // in the exchange under way
}

// A bundled vector is one of a bundle.
type bundled struct {
	Vector
	f      fixedPoint
	kind   *scaleKind // whose scales it is tried under; nil: it asks for its own, or has none
	scales []uint64   // of its words
	asks   bool       // for scales, before its words are sent
	misfit bool       // the scales that it was tried under do not fit
	done   bool       // it has its average
}

// open begins an average of vectors, in the memory of the one before: scales keep theirs.
func (b *bundle) open(a *Averages, m *scaleMemory, vectors []Vector) {
	b.agents, b.memory, b.Trip = a.w.N(), m, Trip{}
	for len(b.vectors) < len(vectors) {
		b.vectors = append(b.vectors, new(bundled))
	}
	b.vectors = b.vectors[:len(vectors)]
	for i, v := range vectors {
		f := a.fixedPoint(v.Wire, len(v.Dst))
		*b.vectors[i] = bundled{Vector: v, f: f, kind: m.kind(v.Wire, len(v.Dst), f),
			scales: b.vectors[i].scales[:0]}
		b.Floats += len(v.Dst)
	}
}

// begin finds which vectors ask for scales in the next exchanges, and reports whether some have no
// average yet. A vector that follows another one of its kind is tried under the scales which that
// one leaves.
func (b *bundle) begin() (some bool) {
	for _, v := range b.vectors {
		v.asks = false
		if v.done {
			continue
		}
		some = true
		switch {
		case v.f.exact:
		case v.kind == nil: // there are no scales of before
			v.asks = true
		case !b.hasEarlier(v):
			v.asks = v.misfit || len(v.kind.scales) != v.f.blocks(len(v.Dst))
		}
	}
	return some
}

// hasEarlier reports whether an earlier vector of the kind of v has no average yet.
func (b *bundle) hasEarlier(v *bundled) bool {
	for _, o := range b.vectors {
		if o == v {
			break
		}
		if v.kind != nil && o.kind == v.kind && !o.done {
			return true
		}
	}
	return false
}

// takeIn takes the scales or the words of a vector, as all agents have them combined; words are
// overwritten later. Words under scales that an earlier vector of the kind has found too small, or
// too large, do not count: the vector has the bits that it has after that one, and is sent again.
func (b *bundle) takeIn(v *bundled, op Op, words []uint64) {
	n := len(v.Dst)
	switch {
	case op == Max:
		v.scales = append(v.scales[:0], words...)
		if v.kind != nil {
			v.kind.remember(v.f, words)
		}
	case b.hasEarlier(v):
	case v.f.exact:
		w := v.window()
		fit := v.f.separate(words, w, n)
		if v.kind.scales = v.kind.scales[:0]; !fit { // the next sum of the kind is wide at once
			v.kind.scales = append(v.kind.scales, 1)
		}
		if v.done = fit || w == wide; v.done {
			v.f.means(v.Dst, words, w, b.agents)
		}
	case !v.f.allFit(words[n:]):
		v.misfit = true
	default:
		v.f.decode(v.Dst, words[:n], v.scales, b.agents)
		v.done = true
	}
}

// hide puts noise in the places of numbers that are not in the sum, such as what is not finite, in
// an agent's words of some vectors, other noise for each.
func (b *bundle) hide(words []uint64, vectors [][]float64, by Binder) {
	var noise []uint64
	at := 0
	for i, v := range b.vectors {
		if v.done {
			continue
		}
		n := v.words(Sum)
		if v.isOutside(vectors[i]) {
			if noise == nil { // which is rare: finite numbers need none
				noise = make([]uint64, len(words))
				by.Noise(noise)
			}
			if v.f.exact {
				v.f.cover(words[at:][:n], v.window(), vectors[i], noise[at:])
			} else {
				v.f.hide(words[at:], vectors[i], noise[at:])
			}
		}
		at += n
	}
}

// window returns the window of an exact sum: the wide one where the last sum of its kind had a
// number that the narrow one does not take.
func (v *bundled) window() window {
	if len(v.scales) > 0 {
		return wide
	}
	return narrow
}

// isOutside reports whether a vector has a number that is not in the sum.
func (v *bundled) isOutside(numbers []float64) bool {
	if v.f.exact {
		return slices.ContainsFunc(numbers, func(x float64) bool { return !v.window().takes(x) })
	}
	return !isFinite(maxAbs(numbers))
}

// travels reports whether words of the vector are in an exchange.
func (v *bundled) travels(op Op) bool { return !v.done && (op == Sum || v.asks) }

func (b *bundle) travelling(op Op) iter.Seq[*bundled] {
	return func(yield func(*bundled) bool) {
		for _, v := range b.vectors {
			if v.travels(op) && !yield(v) {
				return
			}
		}
	}
}

// bits returns the bits of its words.
func (v *bundled) bits(op Op) int {
	if op == Max {
		return exponentBits
	}
	if v.f.exact && v.window() == wide {
		return Whole + 1 // the kind of whole numbers that is not f.bits
	}
	return v.f.bits
}

// words returns their number, with flags where it is tried under scales of before.
func (v *bundled) words(op Op) int {
	switch blocks := v.f.blocks(len(v.Dst)); {
	case op == Max:
		return blocks
	case v.asks:
		return len(v.Dst)
	case v.f.exact:
		return v.f.wholeWords(v.window(), len(v.Dst))
	default:
		return len(v.Dst) + blocks
	}
}

// words returns the words of all vectors in an exchange.
func (b *bundle) words(op Op) (n int) {
	for v := range b.travelling(op) {
		n += v.words(op)
	}
	return n
}

func (b *bundle) combine(op Op, dst, src []uint64) {
	for v := range b.travelling(op) {
		n := v.words(op)
		op.Combine(v.bits(op), dst[:n], src[:n])
		dst, src = dst[n:], src[n:]
	}
}

// appendTerm appends what an agent with some vectors puts into an exchange: of Max the least scales
// of their blocks, of Sum words and, where they are tried under scales of before, flags. d has the
// draws of each vector.
func (b *bundle) appendTerm(dst []uint64, op Op, vectors [][]float64, d []draws) []uint64 {
	for i, v := range b.vectors {
		switch {
		case !v.travels(op):
		case op == Max:
			dst = v.f.exponents(dst, vectors[i])
		case v.f.exact:
			dst = v.f.appendWhole(dst, v.window(), vectors[i])
		default:
			dst = v.f.encode(dst, vectors[i], v.scales, d[i], !v.asks)
		}
	}
	return dst
}
