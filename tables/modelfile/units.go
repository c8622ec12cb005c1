package modelfile

import (
	"dsbo/internal/num"
	"dsbo/models"
)

// unitValue returns what a unit makes of its sum.
func unitValue(u models.Unit, sum float64) float64 {
	switch u {
	case models.Tanh:
		return num.Tanh(sum)
	case models.ReLU:
		return max(sum, 0)
	}
	return sum
}

// unitOperators are ONNX's operators of units.
var unitOperators = map[models.Unit]string{models.Tanh: "Tanh", models.ReLU: "Relu"}
