package tables

// extend appends values to blocks of BlockRows each. The first block grows as append does, so that
// a short table takes little memory; later ones are allocated in full, which avoids garbage.
func extend[T any](blocks [][]T, values []T) [][]T {
	for len(values) > 0 {
		last := len(blocks) - 1
		if last < 0 || len(blocks[last]) == BlockRows {
			var block []T
			if last >= 0 { // not the first
				block = make([]T, 0, BlockRows)
			}
			blocks, last = append(blocks, block), last+1
		}
		n := min(len(values), BlockRows-len(blocks[last]))
		blocks[last] = append(blocks[last], values[:n]...)
		values = values[n:]
	}
	return blocks
}

// NumberColumn is a column of numbers, NaN where they are missing. It copies values. With Kind and
// Unit set it is one of times.
func NumberColumn[T float32 | float64](name string, values []T) *Column {
	wide := make([]float64, len(values))
	for row, v := range values {
		wide[row] = float64(v)
	}
	return &Column{Name: name, Kind: Number, numbers: extend(nil, wide)}
}

// WordColumn is a column of words, "" where they are missing.
func WordColumn(name string, values []string) *Column {
	c := &Column{Name: name, Kind: Word}
	codes := make([]int32, len(values))
	known := map[string]int32{"": -1}
	for row, word := range values {
		code, ok := known[word]
		if !ok {
			code = int32(len(c.Words))
			known[word] = code
			c.Words = append(c.Words, word)
		}
		codes[row] = code
	}
	c.codes = extend(nil, codes)
	return c
}

// rows returns the number of values.
func (c *Column) rows() (n int) {
	for _, block := range c.codes {
		n += len(block)
	}
	for _, block := range c.numbers {
		n += len(block)
	}
	return n
}

// New is a table of columns, for a [Format] or a test. The columns must have the same length and
// names of their own.
func New(name string, columns ...*Column) (*Table, error) {
	t := &Table{Name: name}
	for i, c := range columns {
		rows, reason := c.rows(), ""
		switch {
		case i > 0 && rows != t.rows:
			reason = "must be as long as the other columns"
		case t.Column(c.Name) != nil:
			reason = "another column has this name"
		}
		if reason != "" {
			return nil, &Error{File: name, Column: c.Name, Reason: reason}
		}
		t.Columns, t.rows = append(t.Columns, c), rows
	}
	return t, nil
}
