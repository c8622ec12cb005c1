package algo

// An Experience is what runs of a task took on average, of what depends on what they find.
// Forecasts count with it.
type Experience struct {
	Constants    int     // constants that the search for the start tries
	FurtherShare float64 // the share that is used of the products by which solves may go on, between 0 and 1
}

// A Forecaster is a [Method] whose iterations cost what they find.
type Forecaster interface {
	// Forecast returns what iteration k of a run that has not begun may cost, after Init: the
	// least, what it costs by an experience, and the most.
	Forecast(k int, e Experience) (least, usual, most Cost)
}

// ForecastOf returns the forecast of an iteration of any method: of those that are no [Forecaster]
// all three are Cost.
func ForecastOf(m Method, k int, e Experience) (least, usual, most Cost) {
	if f, ok := m.(Forecaster); ok {
		return f.Forecast(k, e)
	}
	c := m.Cost(k)
	return c, c, c
}
