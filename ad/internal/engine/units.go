package engine

import "dsbo/internal/linalg"

// A Machine holds the numbers of one program.
type Machine interface {
	Float32() Vectors[float32]
	Float64() Vectors[float64]
	// Bind makes rows idx of a table (all if nil) the value of an input.
	Bind(input int, t *Rows, idx []int) error
	// Changes returns a number that grows when an input changes, except for a direction.
	Changes() uint64
	// EachUnit runs p for every unit vector of an input, many at a time, and calls each with the
	// number of the first of these and how many there are.
	EachUnit(p *Plan, input int, each func(from, lanes int)) error
	// ReadLanes copies p's first output of n numbers for these vectors to dst, one a row.
	ReadLanes(dst []float64, n int, p *Plan)
}

// Vectors is a machine to callers with vectors of V.
type Vectors[V Float] interface {
	// SetInput sets a point.
	SetInput(input int, v []V)
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

// EachUnit runs p for every unit vector of an input, as many at a time as there are lanes.
//
// What depends on the input has a value in each lane, beside the ordinary buffers, which stay as
// they are; the rest is computed once for all lanes. Products of a matrix without lanes and
// vectors with lanes become products of matrices.
func (m *machine[T]) EachUnit(p *Plan, input int, each func(from, lanes int)) error {
	m.unit = input
	m.bindSlots(p)
	defer m.releaseSlots()
	s := &m.slots[input]
	defer func() { m.lanes = 0 }()
	for m.from = 0; m.from < s.r; m.from += m.lanes {
		m.lanes = min(UnitLanes, s.r-m.from)
		m.allotLanes(p)
		clear(s.lanes.wide)
		for l := range m.lanes {
			s.lanes.wide[l*s.lanes.stride+m.from+l] = 1
		}
		if err := (port[T, T]{m}).Run(p, nil); err != nil {
			return err
		}
		each(m.from, m.lanes)
	}
	return nil
}

// ReadLanes copies p's first output, n numbers in each lane, to dst, one a row.
func (m *machine[T]) ReadLanes(dst []float64, n int, p *Plan) {
	s := &m.slots[p.outs[0]]
	for l := range m.lanes {
		if to := dst[l*n:][:n]; m.hasLanes(s) {
			linalg.Convert(to, s.lanes.wide[l*s.lanes.stride:][:n])
		} else {
			linalg.Convert(to, s.whole())
		}
	}
}

// allotLanes gives lanes to what depends on the unit vectors.
func (m *machine[T]) allotLanes(p *Plan) {
	tile := m.template.tile
	m.slots[m.unit].allotLanes(tile)
	for _, k := range p.order {
		s := &m.slots[m.instrs[k].out]
		switch {
		case !m.hasLanes(s):
		case s.base < 0:
			s.allotLanes(tile)
		default:
			base := m.slots[s.base].lanes
			if s.lanes == nil {
				s.lanes = new(laneValues[T])
			}
			s.lanes.wide, s.lanes.stride = base.wide[s.off:], base.stride
		}
	}
}
