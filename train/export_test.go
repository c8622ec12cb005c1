package train

// Rules that tests see as functions of values.
var (
	Earliest       = earliest
	TrackedBound   = trackedBound
	StableSettings = Config.stableSettings
)
