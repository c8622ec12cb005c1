package algo

// A Forecaster is a [Method] whose iterations cost what they find.
type Forecaster interface {
	// Forecast returns what iteration k of a run that has not begun may cost, after Init: the least, what it has cost on average on the
	// tasks of this module, and the most.
	Forecast(k int) (least, usual, most Cost)
}

// ForecastOf returns the forecast of an iteration of any method: of those that are no [Forecaster] all three are Cost.
func ForecastOf(m Method, k int) (least, usual, most Cost) {
	if f, ok := m.(Forecaster); ok {
		return f.Forecast(k)
	}
	c := m.Cost(k)
	return c, c, c
}

// usualConstants is how many constants a search tries on average on the tasks of this module, from 2 on MNIST to 16 on the synthetic
// task, and usualBeyond the share of the products from C to Most that a solve takes there, from 0 to 0.35.
const (
	usualConstants = 6
	usualBeyond    = 0.15
)

// Forecast implements [Forecaster].
func (a *NewtonCG) Forecast(k int) (least, usual, most Cost) {
	at := func(constants int, beyond float64) Cost {
		solves, products := 2, a.C // solves that may go on, and their least products
		b := *a
		if k == 0 {
			solves, products = 3, a.Cold
			b.tried = []float64{float64(min(constants, a.Constants)), 0}
		}
		further := solves * max(0, a.Most-products)
		if k == 0 && a.Start == "search" {
			further += int(b.tried[0]) * max(0, a.Most-a.C)
		}
		further = int(beyond * float64(further))
		c := b.Cost(k)
		c.Averages, c.AverageFloats, c.HVP = c.Averages+further, c.AverageFloats+further*len(a.y), c.HVP+further
		return c
	}
	return at(2, 0), at(usualConstants, usualBeyond), at(a.Constants, 1)
}
