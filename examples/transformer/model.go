package main

import (
	"dsbo/ad"
	"dsbo/models"
	"dsbo/models/nn"
)

// A picture of 28×28 pixels is a sequence of 16 patches of 7×7 pixels, each embedded in width
// numbers.
const (
	side, patch = 28, 7
	tokens      = (side / patch) * (side / patch)
	width       = 32
	ridge       = 1e-3 // C
)

// encoder is a transformer with one block, whose output is the mean of the rows behind it.
type encoder struct {
	patches   nn.Conv
	positions nn.Param
	block     nn.TransformerBlock
	norm      nn.LayerNorm
}

// newEncoder lays out an encoder in ps.
func newEncoder(ps *nn.Params) encoder {
	window := ad.Window{H: side, W: side, C: 1, KH: patch, KW: patch, Stride: patch}
	return encoder{
		patches:   nn.NewConv(ps, "patches", window, width),
		positions: ps.Matrix("positions", tokens, width, nn.Init{Deviation: 0.02}),
		block:     nn.NewTransformerBlock(ps, "block", width, 4, 2*width),
		norm:      nn.NewLayerNorm(ps, "norm", width),
	}
}

// outputs builds width numbers of each picture of the batch, from the parameters in z.
func (e encoder) outputs(z *ad.Node, b models.Batch) *ad.Node {
	h := ad.Reshape(e.patches.Outputs(z, b.X), b.Rows*tokens, width)
	h = e.block.Outputs(z, nn.AddPositions(h, e.positions.Node(z)), b.Rows)
	h = e.norm.Outputs(z, h)
	return ad.Scale(1.0/tokens, ad.TensorOf(h, b.Rows, tokens, width).Sum(1).Node)
}

// body is a hyper-representation: x is an encoder, which all agents share, and y is its head,
//
//	f_i(x, y) = mean_e L(Y h(a_e; x) + b, t_e)    g_i(x, y) = f_i on training examples + C ‖y‖²
type body struct {
	encoder
	inner, outer nn.Params // of y and of x
	head         nn.Dense
	seed         uint64
}

func newBody(classes int, seed uint64) *body {
	m := &body{seed: seed}
	m.encoder = newEncoder(&m.outer)
	m.head = nn.NewDense(&m.inner, "head", width, classes)
	return m
}

func (m *body) Dims() (p, q int) { return m.outer.Len(), m.inner.Len() }

func (m *body) Upper(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Mean(nn.CrossEntropy(m.head.Outputs(y, m.outputs(x, b)), b.T))
}

func (m *body) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Add(m.Upper(x, y, b), ad.Scale(ridge, ad.Dot(y, y)))
}

func (m *body) Score(x, y *ad.Node, b models.Batch) (losses, hits *ad.Node) {
	scores := m.head.Outputs(y, m.outputs(x, b))
	return nn.CrossEntropy(scores, b.T), ad.RowHit(scores, b.T)
}

func (m *body) StartX(x []float64) { m.outer.Init(x, m.seed) }

func (m *body) Modulus([]float64) float64 { return 2 * ridge }

func (m *body) Penalty(dst, _ []float64) { decay(dst) }

func (m *body) Meaning() models.Meaning {
	return models.Meaning{Symbol: "x", One: "weight of the body", Many: "weights of the body",
		About: "What the body makes of a picture is what all heads are trained on."}
}

// Baselines are heads on the body as it starts.
func (m *body) Baselines() []models.Baseline {
	start := make([]float64, m.outer.Len())
	m.StartX(start)
	return []models.Baseline{{Name: "random body", X: start}}
}

// decay writes the second derivatives of C ‖y‖² to dst.
func decay(dst []float64) {
	for j := range dst {
		dst[j] = 2 * ridge
	}
}

// sources weighs the agents as sources of training examples: y is the whole transformer, and agent
// i, whose validation labels are right,
//
//	f_i(x, y) = mean_e L(s(a_e; y), t_e)    g_i(x, y) = σ(x_i) mean_e L(s(a_e; y), t_e) + C ‖y‖²
type sources struct {
	encoder
	params           nn.Params
	head             nn.Dense
	agents, examples int // examples: training examples of all agents together
	seed             uint64
}

func newSources(classes, agents, examples int, seed uint64) *sources {
	m := &sources{agents: agents, examples: examples, seed: seed}
	m.encoder = newEncoder(&m.params)
	m.head = nn.NewDense(&m.params, "head", width, classes)
	return m
}

func (m *sources) Dims() (p, q int) { return m.agents, m.params.Len() }

// scores builds the network's outputs, by which products of Gauss-Newton matrices are found.
func (m *sources) scores(y *ad.Node, b models.Batch) *ad.Node {
	return ad.Outputs(m.head.Outputs(y, m.outputs(y, b)))
}

func (m *sources) losses(y *ad.Node, b models.Batch) *ad.Node {
	return nn.CrossEntropy(m.scores(y, b), b.T)
}

func (m *sources) Upper(_, y *ad.Node, b models.Batch) *ad.Node { return ad.Mean(m.losses(y, b)) }

// Lower finds the weight of an example's source by the example's number: each agent has as many
// training examples, agent 0 the first.
func (m *sources) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	each := ad.RepeatCol(ad.Sigmoid(x), m.examples/m.agents)
	weights := ad.Gather(ad.Flatten(each), b.ID)
	loss := ad.Scale(1/float64(b.Rows), ad.Dot(weights, m.losses(y, b)))
	return ad.Add(loss, ad.Scale(ridge, ad.Dot(y, y)))
}

func (m *sources) Score(_, y *ad.Node, b models.Batch) (losses, hits *ad.Node) {
	scores := m.scores(y, b)
	return nn.CrossEntropy(scores, b.T), ad.RowHit(scores, b.T)
}

func (m *sources) Start(y []float64) { m.params.Init(y, m.seed) }

func (m *sources) Penalty(dst, _ []float64) { decay(dst) }

func (m *sources) Meaning() models.Meaning {
	return models.Meaning{Symbol: "x", One: "source weight", Many: "source weights",
		About: "An example of agent i counts as σ(x_i) = 1/(1+e^{−x_i}): the smaller, the less it is trusted."}
}

// Baselines trust all sources alike, by half.
func (m *sources) Baselines() []models.Baseline {
	return []models.Baseline{{Name: "all sources trusted alike", X: make([]float64, m.agents)}}
}
