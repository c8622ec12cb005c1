package exact

// Rules that tests see as functions of values.
var (
	FallsEnough = fallsEnough
	SecondOrder = secondOrder
)
