package network

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

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
