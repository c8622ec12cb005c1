package algo_test

import (
	"math"

	"dsbo"
)

// splitOracle adds to a golden oracle the diagonal of its Hessian, and what of it is the penalty's.
type splitOracle struct {
	dsbo.ValueOracle
	golden golden
}

func (o splitOracle) Penalty(dst, x []float64) error {
	scale := map[string]float64{"logistic": 1, "softmax": 2 / float64(o.golden.Q)}[o.golden.Kind]
	if scale == 0 {
		return dsbo.Errorf(dsbo.ErrCapability, "the kind %s has no penalty", o.golden.Kind)
	}
	for i := range dst {
		dst[i] = scale * math.Exp(x[i%len(x)])
	}
	return nil
}

func (o splitOracle) Diagonal(dst, x, y []float64, s dsbo.Sample) error {
	unit, product := make([]float64, len(y)), make([]float64, len(y))
	for i := range dst {
		clear(unit)
		unit[i] = 1
		if err := o.HVP(product, x, y, unit, s); err != nil {
			return err
		}
		dst[i] = product[i]
	}
	return nil
}
