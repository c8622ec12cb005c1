package train

import (
	"context"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/network"
)

// Metered returns an oracle with a meter.
func Metered(o dsbo.Oracle) dsbo.Oracle {
	return testkit.Get(newMeteredOracle(o, &meter{products: linalg.NewMatrix(dsbo.Hessian), ctx: context.Background()}))
}

// Shared returns the oracle that stands for agents of which the first one has o.
func Shared(o dsbo.Oracle) dsbo.Oracle {
	s := new(shared)
	s.add(&agent{oracle: Metered(o).(*meteredOracle)})
	return &s.oracle
}

// MeteredMixer returns an end with a meter.
func MeteredMixer(of *network.Averager) dsbo.Mixer { return newMeteredMixer(of) }

// BlurBeside blurs a diagonal in an epoch as a run does.
func BlurBeside(seed, epoch uint64, penalty func(dst, x []float64) error, diagonal, x []float64) error {
	return apartness{seed, epoch}.blurBeside(penalty, diagonal, x)
}

// Rules that tests see as functions of values.
var (
	Earliest       = earliest
	TrackedBound   = trackedBound
	StableSettings = Config.stableSettings
)
