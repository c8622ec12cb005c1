package data

import (
	"math"
	"slices"

	"dsbo"
	"dsbo/ad"
)

// Mislabel returns e with a share (0 to 1) of its labels, rounded to whole examples, replaced by
// another class, any with equal probability: the training data of data hyper-cleaning. wrong lists
// the changed rows, ascending; e itself keeps its labels. Different agents have different draws.
//
// It fails with [dsbo.ErrConfig] if the share is not in [0, 1] or e has no classes to confuse.
func Mislabel(e Examples, share float64, seed uint64, agent int) (noisy Examples, wrong []int, err error) {
	if !(share >= 0 && share <= 1) {
		return Examples{}, nil, dsbo.ConfigErrorf("the share of wrong labels must be from 0 to 1; it is %g",
			share)
	}
	labels, ok := e.labels()
	if !ok || e.Target.Cols() < 2 {
		return Examples{}, nil, dsbo.ConfigErrorf("wrong labels need data with class labels")
	}
	classes := e.Target.Cols()
	codes := make([]uint8, len(labels))
	for i, l := range labels {
		codes[i] = uint8(l)
	}
	r := newRand(seed, streamMislabel, uint64(agent))
	wrong = r.Perm(len(labels))[:int(math.Round(share*float64(len(labels))))]
	slices.Sort(wrong)
	for _, i := range wrong {
		codes[i] = uint8((labels[i] + 1 + r.IntN(classes-1)) % classes)
	}
	noisy = e
	noisy.Target, err = ad.LabelTable(codes, classes)
	return noisy, wrong, err
}
