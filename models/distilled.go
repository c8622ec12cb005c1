package models

import (
	"cmp"
	"math/rand/v2"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/linalg"
)

// Distilled is a distilled data set: x is one picture for each class, y a linear classifier that is
// trained on these pictures alone. The upper loss is taken on real examples,
//
//	f_i(x, y) = mean_e w_e L(Y a_e, t_e)      g_i(x, y) = mean_k L(Y x_k, k) + C ‖Y‖²
//
// with the cross-entropy L, and picture x_k of class k; x is the c×d matrix of the pictures and y
// the c×d matrix Y, both row by row. g_i uses no examples, so all agents have the same g_i, and
// examples influence y only through the pictures. p = q = c·d.
type Distilled struct {
	Features, Classes int
	Ridge             float64   // C; 0: 0.001
	Pictures          []float64 // where x starts, such as the mean example of each class; nil: uniform noise in [0, 1)
	Seed              uint64    // of the noise
}

// ridge returns C, with its default for 0.
func (m Distilled) ridge() float64 {
	return cmp.Or(m.Ridge, .001)
}

// linear returns the classifier.
func (m Distilled) linear() Softmax { return Softmax{m.Features, m.Classes} }

// Dims implements [Model].
func (m Distilled) Dims() (p, q int) { return m.Classes * m.Features, m.Classes * m.Features }

// Shape implements [Shaper]: a row is a class.
func (m Distilled) Shape() (rows, cols int) { return m.Classes, m.Features }

// Check implements [Checker].
func (m Distilled) Check(s data.Shard) error {
	if p, _ := m.Dims(); m.Pictures != nil && (len(m.Pictures) != p || !linalg.AllFinite(m.Pictures)) {
		return dsbo.ConfigErrorf(
			"a distilled data set must start at %d finite numbers, %d for each class, or none; there are %d", p,
			m.Features, len(m.Pictures))
	}
	return cmp.Or(checkRidge("a distilled data set", m.Ridge),
		checkOutputs(s, m.Features, m.Classes, CrossEntropy{}, 1))
}

// pictures builds x as a batch of training examples.
func (m Distilled) pictures(x *ad.Node) Batch {
	identity := make([]float64, m.Classes*m.Classes)
	for k := range m.Classes {
		identity[k*m.Classes+k] = 1
	}
	return Batch{Rows: m.Classes, X: ad.Part(x, 0, m.Classes, m.Features),
		T: ad.NewConst(x, "classes of pictures", m.Classes, m.Classes, identity)}
}

// Lower implements [Model].
func (m Distilled) Lower(x, y *ad.Node, _ Batch) *ad.Node {
	return ad.Add(m.linear().Upper(x, y, m.pictures(x)), ad.Scale(m.ridge(), ad.Dot(y, y)))
}

// Upper implements [Model].
func (m Distilled) Upper(x, y *ad.Node, b Batch) *ad.Node { return m.linear().Upper(x, y, b) }

// Score implements [Scorer].
func (m Distilled) Score(x, y *ad.Node, b Batch) (losses, hits *ad.Node) {
	return m.linear().Score(x, y, b)
}

// StartX implements [XStarter].
func (m Distilled) StartX(x []float64) {
	if m.Pictures != nil {
		copy(x, m.Pictures)
		return
	}
	r := rand.New(rand.NewPCG(m.Seed, 1))
	for i := range x {
		x[i] = r.Float64()
	}
}

// Penalty implements [Penalized]: 2C in each entry.
func (m Distilled) Penalty(dst, _ []float64) { linalg.Fill(dst, 2*m.ridge()) }

// Diagonal implements [Curved].
func (m Distilled) Diagonal(x, y *ad.Node, _ Batch) *ad.Node {
	return m.linear().Diagonal(x, y, m.pictures(x))
}

// Modulus implements [StronglyConvex].
func (m Distilled) Modulus([]float64) float64 { return 2 * m.ridge() }

// Meaning implements [Meant].
func (m Distilled) Meaning() Meaning {
	meaning := Meaning{Symbol: "x", One: "entry of the pictures", Many: "entries of the pictures",
		About: "The distilled data set, one picture for each class: a classifier that is trained on these alone is " +
			"to be right on real examples."}
	if side := squareSide(m.Features); side > 0 {
		meaning.Pictures, meaning.Rows, meaning.Cols = m.Classes, side, side
	}
	return meaning
}

// Baselines implements [Baselined]: the baseline is x's starting pictures.
func (m Distilled) Baselines() []Baseline {
	p, _ := m.Dims()
	b := Baseline{Name: "pictures of noise", X: make([]float64, p)}
	if m.Pictures != nil {
		b.Name = "mean pictures of the classes"
	}
	m.StartX(b.X)
	return []Baseline{b}
}
