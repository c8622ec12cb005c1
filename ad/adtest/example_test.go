package adtest_test

import (
	"fmt"
	"log"

	"dsbo/ad"
	"dsbo/ad/adtest"
)

// In a test one calls Check; Measure gives the same comparisons as values.
func Example() {
	// Σ e^{x_j} y_j² + log(1 + e^{Σy})
	loss := ad.Loss{P: 3, Q: 3, Build: func(x, y *ad.Node, _ []*ad.Node) *ad.Node {
		return ad.Add(ad.Dot(ad.Exp(x), ad.Square(y)), ad.Softplus(ad.SumAll(y)))
	}}
	d, err := ad.Differentiate(loss)
	if err != nil {
		log.Fatal(err)
	}
	report, err := adtest.Measure(d, []float64{0, .5, -1}, []float64{.3, -.2, 2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(report) > 0, report.Err())
	// Output: true <nil>
}
