package main

import (
	"math"

	"dsbo/ad"
	"dsbo/models"
	"dsbo/models/nn"
)

// An attentive model reads a picture as a sequence of its 28 rows: places are added, two heads
// attend, and their mean over the rows has ten scores. x is the logarithm of the decay of y.
type attentive struct {
	params *nn.Params
	places nn.Param
	embed  nn.Dense
	attend nn.Attention
	last   nn.Dense
}

// pictureSide is the length of a picture's side, and of its sequence.
const pictureSide = 28

func newAttentive(width int) attentive {
	m := attentive{params: new(nn.Params)}
	m.embed = nn.NewDense(m.params, "embed", pictureSide, width)
	m.places = m.params.Matrix("places", pictureSide, width, nn.Init{Deviation: .1})
	m.attend = nn.NewAttention(m.params, "attend", width, 2)
	m.last = nn.NewDense(m.params, "last", width, 10)
	return m
}

func (m attentive) Dims() (p, q int)  { return 1, m.params.Len() }
func (m attentive) Start(y []float64) { m.params.Init(y, 3) }

func (m attentive) Upper(_, y *ad.Node, b models.Batch) *ad.Node {
	h := m.embed.Outputs(y, ad.Reshape(b.X, b.Rows*pictureSide, pictureSide))
	h = nn.AddPositions(h, m.places.Node(y))
	h = ad.Add(h, m.attend.Outputs(y, h, b.Rows))
	mean := ad.Scale(1./pictureSide, ad.TensorOf(h, b.Rows, pictureSide, m.places.Cols).Sum(1).Node)
	return ad.Mean(nn.CrossEntropy(m.last.Outputs(y, mean), b.T))
}

func (m attentive) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	decay := ad.Mul(ad.Exp(ad.Offset(math.Log(1e-3), ad.Item(x, 0))), ad.Dot(y, y))
	return ad.Add(m.Upper(x, y, b), decay)
}
