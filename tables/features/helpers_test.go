package features_test

import "dsbo/tables/features"

// row returns the features of a row, zeros too.
func row(e *features.Encoder, width, row int) []float64 {
	x := make([]float64, width)
	places, values := e.Row(nil, nil, row)
	for k, place := range places {
		x[place] = values[k]
	}
	return x
}
