package tables

// Pick returns a table of the given rows of t, in the order of rows, with memory of its own except
// for the columns' words. It keeps the line, or the number, that each row has in the file, for
// errors.
func (t *Table) Pick(rows []int) *Table {
	p := &Table{Name: t.Name, Notes: t.Notes, rows: len(rows)}
	for _, c := range t.Columns {
		picked := &Column{Name: c.Name, Kind: c.Kind, Unit: c.Unit, Words: c.Words}
		if c.Kind == Word {
			picked.codes = extend(nil, pick(rows, c.Code))
		} else {
			picked.numbers = extend(nil, pick(rows, c.Number))
		}
		p.Columns = append(p.Columns, picked)
	}
	for k, row := range rows {
		at, isLine := t.placeOf(row)
		p.lines.add(k, at)
		p.byRow = !isLine
	}
	s := t.Sparse
	if s.Cols == 0 {
		return p
	}
	p.Sparse = Sparse{Cols: s.Cols, Starts: []int{0}}
	for _, row := range rows {
		from, to := s.Starts[row], s.Starts[row+1]
		p.Sparse.Indices = append(p.Sparse.Indices, s.Indices[from:to]...)
		p.Sparse.Values = append(p.Sparse.Values, s.Values[from:to]...)
		p.Sparse.Starts = append(p.Sparse.Starts, len(p.Sparse.Indices))
	}
	return p
}

func pick[T any](rows []int, of func(row int) T) []T {
	list := make([]T, len(rows))
	for k, row := range rows {
		list[k] = of(row)
	}
	return list
}
