package data

import (
	"slices"

	"dsbo"
	"dsbo/ad"
)

// Join returns the examples of a, then the examples of b, with class labels, in memory of their
// own: of X in float32. The IDs are a's, and for the examples of b those from next on. It fails
// with [dsbo.ErrShape] where features or classes differ, and where examples have no labels, or have
// weights or columns, which it would lose.
func Join(a, b Examples, next int) (Examples, error) {
	labelsA, okA := a.labels()
	labelsB, okB := b.labels()
	switch {
	case !okA || !okB:
		return Examples{}, dsbo.Errorf(dsbo.ErrShape, "examples must have class labels to be joined")
	case a.X.Cols() != b.X.Cols() || a.Target.Cols() != b.Target.Cols():
		return Examples{}, dsbo.Errorf(dsbo.ErrShape,
			"examples must have the same features and classes to be joined; they have %d and %d, and %d and %d",
			a.X.Cols(), a.Target.Cols(), b.X.Cols(), b.Target.Cols())
	case a.Weight != nil || b.Weight != nil || a.Columns != nil || b.Columns != nil:
		return Examples{}, dsbo.Errorf(dsbo.ErrShape, "examples must have neither weights nor columns to be joined")
	}
	numbers := make([]float32, 0, (a.Len()+b.Len())*a.X.Cols())
	for _, x := range []*ad.Table{a.X, b.X} {
		for i := range x.Rows() {
			for j := range x.Cols() {
				numbers = append(numbers, float32(x.At(i, j)))
			}
		}
	}
	codes := make([]uint8, 0, a.Len()+b.Len())
	for _, label := range slices.Concat(labelsA, labelsB) {
		codes = append(codes, uint8(label))
	}
	joined, err := Examples{ID: slices.Concat(a.ID, countFrom(next, b.Len()))}, error(nil)
	if joined.X, err = ad.Float32Table(len(codes), a.X.Cols(), numbers); err != nil {
		return Examples{}, err
	}
	joined.Target, err = ad.LabelTable(codes, a.Target.Cols())
	return joined, err
}
