// Command squares is dsbo's task on MNIST with a model more, which -model squares chooses. It is a
// module outside of dsbo.
package main

import (
	"math"
	"slices"

	"dsbo/ad"
	"dsbo/command"
	"dsbo/experiment/tasks"
	"dsbo/models"
)

func init() {
	models.Register("squares", true, func(s models.Size) models.Model { return squares{s.Features, s.Classes} })
}

func main() { command.Main(tasks.MNIST()) }

// squares is a linear classifier by squares, with one log-penalty x for each feature:
//
//	f_i(x, y) = ½ mean_e ‖Y a_e − t_e‖²
//	g_i(x, y) = f_i(x, y) + ½ Σ_kj e^{x_j} Y_kj²
type squares struct{ features, classes int }

func (m squares) Dims() (p, q int) { return m.features, m.classes * m.features }

func (m squares) Shape() (rows, cols int) { return m.classes, m.features }

func (m squares) Upper(_, y *ad.Node, b models.Batch) *ad.Node { return ad.Mean(m.losses(y, b)) }

func (m squares) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	penalties := ad.ColScale(ad.Square(ad.Part(y, 0, m.classes, m.features)), ad.Exp(x))
	return ad.Add(m.Upper(x, y, b), ad.Scale(.5, ad.SumAll(penalties)))
}

// losses builds the loss of each example.
func (m squares) losses(y *ad.Node, b models.Batch) *ad.Node {
	off := ad.Sub(m.outputs(y, b), b.T)
	return ad.Scale(.5, ad.RowDot(off, off))
}

func (m squares) outputs(y *ad.Node, b models.Batch) *ad.Node {
	return ad.MatMul(b.X, ad.Part(y, 0, m.classes, m.features), false, true)
}

func (m squares) Score(_, y *ad.Node, b models.Batch) (losses, hits *ad.Node) {
	return m.losses(y, b), ad.RowHit(m.outputs(y, b), b.T)
}

func (m squares) Modulus(x []float64) float64 { return math.Exp(slices.Min(x)) }
