package ad

import (
	"slices"

	"dsbo/internal/kernel"
)

// Narrow products with a table of bytes read the bytes where they lie: rows that are made numbers
// first, once for all products, go out to the second-level cache and back, which took longer than
// to convert them anew in each product. Zeros at the ends of a row, as at the edges of pictures,
// are no work then.

// byteTable is [ByteTable] of arguments that fit. It takes 24 bytes a row more.
func byteTable(rows, cols int, data []uint8, scale float64) *Table {
	t := &Table{rows: rows, cols: cols, bytes: data, scale: scale}
	if cols%kernel.BytesBlock == 0 {
		t.byteRows = make([]kernel.ByteRow, rows)
		for i := range t.byteRows {
			t.byteRows[i] = kernel.NewByteRow(data[i*cols:][:cols])
		}
	}
	return t
}

// manyColumns is from how many columns, or rows of a sum, on a product takes longer to convert
// bytes again and again than to read numbers.
const manyColumns = 64

// bytesArg returns the argument that a tiled instruction reads in place as bytes, or −1. Plain Go
// is quicker with rows that are converted once, and so are products that read each byte many times.
// That another plan has all rows as numbers does not count: bits must not depend on what was
// asked before.
func (m *machine[T]) bytesArg(ins *instr[T]) int {
	r, ok := ins.rule.(matmulRule)
	if !ok || r.tA == r.tB || ins.wide || kernel.Active() == kernel.Generic {
		return -1
	}
	arg, other := 0, &m.slots[ins.args[1]]
	across := other.r
	if r.tA {
		arg, across = 1, m.slots[ins.args[0]].c
	}
	s := &m.slots[ins.args[arg]]
	if s.per == 0 || s.table == nil || s.table.byteRows == nil || across == 1 || across >= manyColumns {
		return -1
	}
	return arg
}

// forms says, for each table of a pass over the batch, whether an instruction that runs reads its
// numbers, or its bytes.
type forms struct{ numbers, bytes []bool }

// chooseForms notes what form of each table the instructions that run in a pass over the
// batch read.
func (m *machine[T]) chooseForms(st *stage) {
	f := &m.forms
	n := len(st.tables)
	f.numbers, f.bytes = slices.Grow(f.numbers[:0], n)[:n], slices.Grow(f.bytes[:0], n)[:n]
	clear(f.numbers)
	clear(f.bytes)
	for _, k := range st.tiled {
		ins := &m.instrs[k]
		if !ins.run {
			continue
		}
		ins.bytes = m.bytesArg(ins)
		for i, a := range ins.args {
			if t := slices.Index(st.tables, a); t >= 0 {
				f.bytes[t] = f.bytes[t] || i == ins.bytes
				f.numbers[t] = f.numbers[t] || i != ins.bytes
			}
		}
	}
}

// listRows makes rows from..to of a batch of so many the current ones, as bytes.
func (s *slot[T]) listRows(from, to, rows int) {
	until := min(to+kernel.BytesAhead, rows)
	s.list = slices.Grow(s.list[:0], until-from)[:until-from]
	for k := range s.list {
		s.list[k] = s.table.byteRows[rowIndex(s.idx, from+k)]
	}
}

// rowsBeside returns the current rows for a product with the given numbers. If these are not
// finite, or too large to tell, zeros count.
func (s *slot[T]) rowsBeside(numbers []T) []kernel.ByteRow {
	if d := kernel.Dot(numbers, numbers); d-d == 0 {
		return s.list
	}
	whole := slices.Clone(s.list)
	for k, r := range whole {
		whole[k] = r.Whole()
	}
	return whole
}

// runBytes runs a product on examples from..to of a table of bytes. The scale is that of the table:
// it goes to the fewer numbers, the results or the other factor.
func (m *machine[T]) runBytes(ins *instr[T], from, to int) {
	s, out := &m.slots[ins.args[ins.bytes]], &m.slots[ins.out]
	scale := T(s.table.scale)
	if ins.bytes == 0 {
		w, d := &m.slots[ins.args[1]], m.rowsOf(out, from, to)
		kernel.BytesNT(d.r, d.c, s.c, d.v, d.c, s.rowsBeside(w.buf), w.buf, w.c)
		kernel.Scale(d.v, scale, d.v)
		return
	}
	u := m.rowsOf(&m.slots[ins.args[0]], from, to)
	m.scaled = slices.Grow(m.scaled[:0], len(u.v))[:len(u.v)]
	kernel.Scale(m.scaled, scale, u.v)
	kernel.BytesTN(u.c, s.c, out.buf, s.c, m.scaled, u.c, s.rowsBeside(m.scaled)[:u.r], from > 0)
}
