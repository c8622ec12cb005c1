package exact

// Rules that tests see as functions of values.
var (
	FallsEnough   = fallsEnough
	SecondOrder   = secondOrder
	ResidualShare = residualShare
	GainShare     = gainShare
	Multiple      = multiple
	Sharper       = sharper
	SizeOf        = sizeOf
	Settled       = settled
)
