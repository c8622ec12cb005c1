package ad

import (
	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
)

// vectors is a machine of either element type, to callers with vectors of V.
type vectors[V Float] interface {
	setInput(i int, v []V)
	run(p *plan, dst [][]V) error
}

// A port is a machine of T to callers with vectors of V, which it converts as it reads and writes
// them, and copies where V is T.
type port[T, V Float] struct{ *machine[T] }

func (m *machine[T]) float32() vectors[float32] { return port[T, float32]{m} }
func (m *machine[T]) float64() vectors[float64] { return port[T, float64]{m} }

// setInput copies v into point i; what depends on it is recomputed only if it differs in a bit. So
// 0 and -0 differ: results must not depend on what the input was before.
func (m port[T, V]) setInput(i int, v []V) {
	p := m.input(i).shared
	for j := 0; j < len(v); j += len(m.piece) {
		n := min(len(m.piece), len(v)-j)
		piece, same := any(v[j:][:n]).([]T)
		if !same {
			piece = m.piece[:n]
			linalg.Convert(piece, v[j:][:n])
		}
		if !kernel.SameBits(piece, p.v[j:][:n]) {
			linalg.Convert(p.v[j:], v[j:])
			p.version++
			return
		}
	}
}
