package engine

import (
	"slices"

	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
)

// A Machine has the numbers of one program.
type Machine interface {
	Float32() Vectors[float32]
	Float64() Vectors[float64]
	// Bind makes rows idx of a table (all if nil) the value of an input.
	Bind(input int, t *Rows, idx []int) error
	// Changes returns a number that grows when an input changes, except for a direction.
	Changes() uint64
	// EachVector runs p for n vectors in the place of an input: the numbers of v one after another,
	// or unit vectors if v is nil. It runs many at a time, and calls each with the number of the
	// first of them and how many there are. Where the products of unit vectors are a symmetric
	// matrix, only rows from the diagonal on are wanted.
	EachVector(p *Plan, input, n int, v []float64, symmetric bool, each func(from, lanes int)) error
	// ReadLanes copies p's first output of n numbers for these vectors to dst, one a row.
	ReadLanes(dst []float64, n int, p *Plan)
}

// Vectors is a machine to callers with vectors of V.
type Vectors[V Float] interface {
	// SetInput sets a point.
	SetInput(input int, v []V)
	// Numbers returns a copy of an input's numbers, of the type that the machine computes in.
	Numbers(input int) any
	// Run computes the outputs of p and writes them to dst.
	Run(p *Plan, dst [][]V) error
}

// NewMachine returns a machine of t with memory of a workspace.
func NewMachine(t *Template, w *Workspace) Machine {
	if t.single {
		return &machine[float32]{template: t, memory: memoryOf[float32](w)}
	}
	return &machine[float64]{template: t, memory: memoryOf[float64](w)}
}

func (m *machine[T]) Float32() Vectors[float32] { return port[T, float32]{m} }
func (m *machine[T]) Float64() Vectors[float64] { return port[T, float64]{m} }

// EachVector runs p for n vectors in the place of an input, as many at a time as there are lanes.
//
// What depends on the input has a value in each lane, beside the ordinary buffers, which stay as
// they are; the rest is computed once for all lanes. The lanes of a value lie one below the other,
// so that a step on rows runs once for all of them; passes have so few rows at a time that they
// stay in cache. Steps run for what is wanted alone: from the diagonal of a Hessian on, columns of
// a layer's weights need neither gradients of the layers before it nor directions there, which are
// zeros.
func (m *machine[T]) EachVector(p *Plan, input, n int, v []float64, symmetric bool, each func(from, lanes int)) error {
	m.unit, m.vectors = input, v
	m.bindSlots(p)
	defer m.releaseSlots()
	s := &m.slots[input]
	if size := Lanes * (m.current.size + s.r); len(m.laneMemory) < size {
		m.laneMemory = kernel.MakePages[T](size)
	}
	defer func() { m.lanes, m.least, m.vectors = 0, 0, nil }()
	for m.from = 0; m.from < n; m.from += m.lanes {
		if m.lanes = min(Lanes, n-m.from); symmetric {
			m.least = m.from
		}
		m.allotLanes(p)
		wide := s.lanes.wide[:m.lanes*s.r]
		clear(wide)
		for l := range m.lanes {
			if v == nil {
				wide[l*s.r+m.from+l] = 1
			} else {
				linalg.Convert(wide[l*s.r:][:s.r], v[(m.from+l)*s.r:][:s.r])
			}
		}
		if err := (port[T, T]{m}).Run(p, nil); err != nil {
			return err
		}
		each(m.from, m.lanes)
	}
	return nil
}

// ReadLanes copies what is wanted of p's first output, n numbers in each lane, to dst, one a row.
func (m *machine[T]) ReadLanes(dst []float64, n int, p *Plan) {
	for m.lane = range m.lanes {
		to := dst[m.lane*n:][:n]
		if tl := m.current.tail; tl != nil {
			port[T, float64]{m}.tailAlone(tl, m.least, [][]float64{to})
		} else {
			linalg.Convert(to[m.least:], inLane(m, p.outs[0])[m.least:])
		}
	}
}

// inLane returns a whole value, in the lane that is read.
func inLane[T Float](m *machine[T], i int) []T {
	s := &m.slots[i]
	if !m.hasLanes(s) {
		return s.whole()
	}
	return s.lanes.wide[m.lane*m.stride(s, 0, 0):][:s.numbers()]
}

// allotLanes gives lanes to the values that depend on the vectors. Values that are not kept share
// memory by the layout.
func (m *machine[T]) allotLanes(p *Plan) {
	lanesOf := func(s *slot[T]) *laneValues[T] {
		if s.lanes == nil {
			s.lanes = new(laneValues[T])
		}
		return s.lanes
	}
	n := Lanes * m.slots[m.unit].r
	lanesOf(&m.slots[m.unit]).wide = m.laneMemory[:n]
	for _, to := range m.current.places {
		lanesOf(&m.slots[to.value]).wide = m.laneMemory[n+Lanes*to.off:][:Lanes*to.n]
	}
	for _, k := range p.order {
		ins := &m.instrs[k]
		s := &m.slots[ins.out]
		if !m.hasLanes(s) {
			continue
		}
		of := lanesOf(s)
		if s.base >= 0 {
			of.wide = m.slots[s.base].lanes.wide[s.off:]
		} else if s.retained {
			of.own = slices.Grow(of.own, Lanes*s.numbers())
			of.wide = of.own[:Lanes*s.numbers()]
		}
		of.same = m.isSame(ins)
	}
}
