package train

import "dsbo"

// BlurBeside blurs a diagonal in an epoch as a run does.
func BlurBeside(seed, epoch uint64, o dsbo.Oracle, diagonal, x []float64) error {
	return apartness{seed, epoch}.blurBeside(o, diagonal, x)
}

// Rules that tests see as functions of values.
var (
	Earliest       = earliest
	TrackedBound   = trackedBound
	StableSettings = Config.stableSettings
)
