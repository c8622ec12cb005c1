package plan

// A Range is a number that is not known before the run.
type Range struct{ Least, Usual, Most float64 }

// exactly returns the range of a number that is known.
func exactly[T int | int64 | float64](n T) Range {
	return Range{float64(n), float64(n), float64(n)}
}

// Times returns the range of c times the number.
func (r Range) Times(c float64) Range { return r.times(exactly(c)) }

// times returns the range of n things with another number each.
func (r Range) times(s Range) Range {
	return Range{float64(r.Least * s.Least), float64(r.Usual * s.Usual), float64(r.Most * s.Most)}
}

// plus returns the range of the sum with another number.
func (r Range) plus(s Range) Range {
	return Range{r.Least + s.Least, r.Usual + s.Usual, r.Most + s.Most}
}

// atLeast returns the range of the larger of two numbers.
func (r Range) atLeast(s Range) Range {
	return Range{max(r.Least, s.Least), max(r.Usual, s.Usual), max(r.Most, s.Most)}
}

// shareOf returns the number as a share of what is usual by a range; 0 where nothing is.
func (r Range) shareOf(s Range) float64 {
	if s.Usual == 0 {
		return 0
	}
	return r.Usual / s.Usual
}
