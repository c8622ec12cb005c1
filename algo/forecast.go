package algo

// A Forecaster is a [Method] whose iterations' cost depends on their results.
type Forecaster interface {
	// Forecast returns the least and the most that iteration k of a run that has not begun may
	// cost, after Init.
	Forecast(k int) (least, most Cost)
}

// ForecastOf returns the forecast of an iteration of any method: for a method that is no
// [Forecaster] both are Cost.
func ForecastOf(m Method, k int) (least, most Cost) {
	if f, ok := m.(Forecaster); ok {
		return f.Forecast(k)
	}
	return m.Cost(k), m.Cost(k)
}
