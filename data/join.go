package data

import (
	"slices"

	"dsbo"
)

// Join returns the examples of a, then the examples of b, as a copy. If a has IDs, the examples of
// b get the IDs from next on. It fails with [dsbo.ErrShape] if features, classes or number formats
// differ, and if examples have weights, counts or columns, which it would lose.
func Join(a, b Examples, next int) (joined Examples, err error) {
	if a.Weight != nil || b.Weight != nil || a.Count != nil || b.Count != nil || a.Columns != nil || b.Columns != nil {
		return Examples{}, dsbo.ShapeErrorf("examples must have neither weights, counts nor columns to be joined")
	}
	if a.ID != nil {
		joined.ID = slices.Concat(a.ID, countFrom(next, b.Len()))
	}
	if joined.X, err = a.X.Append(b.X); err == nil {
		joined.Target, err = a.Target.Append(b.Target)
	}
	return joined, err
}
