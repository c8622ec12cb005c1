package algo

// An Experience is what runs of a task took on average, of what depends on what they find. Forecasts count with it.
type Experience struct {
	Constants int     // constants that the search for the start tries
	Beyond    float64 // the share that is used of the products by which solves may go on, between 0 and 1
}

// A Forecaster is a [Method] whose iterations cost what they find.
type Forecaster interface {
	// Forecast returns what iteration k of a run that has not begun may cost, after Init: the least, what it costs by an experience, and
	// the most.
	Forecast(k int, e Experience) (least, usual, most Cost)
}

// ForecastOf returns the forecast of an iteration of any method: of those that are no [Forecaster] all three are Cost.
func ForecastOf(m Method, k int, e Experience) (least, usual, most Cost) {
	if f, ok := m.(Forecaster); ok {
		return f.Forecast(k, e)
	}
	c := m.Cost(k)
	return c, c, c
}

// Forecast implements [Forecaster].
func (a *NewtonCG) Forecast(k int, e Experience) (least, usual, most Cost) {
	at := func(e Experience) Cost {
		solves, products := 2, a.C // solves that may go on, and their least products
		b := *a
		if k == 0 {
			solves, products = 3, a.Cold
			b.tried = []float64{float64(min(e.Constants, a.Constants)), 0}
		}
		further := solves * max(0, a.Most-products)
		if k == 0 && a.Start == "search" {
			further += int(b.tried[0]) * max(0, a.Most-a.C)
		}
		further = int(float64(e.Beyond*float64(further)) + 0.5)
		c := b.Cost(k)
		c.Averages, c.AverageFloats, c.HVP = c.Averages+further, c.AverageFloats+further*len(a.y), c.HVP+further
		return c
	}
	return at(Experience{Constants: 2}), at(e), at(Experience{a.Constants, 1})
}
