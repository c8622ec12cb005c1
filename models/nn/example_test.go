package nn_test

import (
	"bytes"
	"fmt"
	"log"
	"math/rand/v2"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/models"
	"dsbo/models/nn"
)

// LeNet is the convolution network of LeCun et al. (1998), with ReLU and the largest of each patch,
// for pictures of side×side grey pixels. x has the logarithm of a weight of decay for each of
// its layers.
type LeNet struct {
	params       nn.Params
	conv1, conv2 nn.Conv
	dense, last  nn.Dense
}

// NewLeNet lays out the network for a number of classes.
func NewLeNet(side, classes int) *LeNet {
	n := &LeNet{params: nn.Params{Gain: 2}}
	n.conv1 = nn.NewConv(&n.params, "conv1",
		ad.Window{H: side, W: side, C: 1, KH: 5, KW: 5, Stride: 1, PadH: 2, PadW: 2}, 6)
	pool := n.conv1.Pool(2)
	n.conv2 = nn.NewConv(&n.params, "conv2", ad.Window{H: pool.OutH(), W: pool.OutW(), C: 6, KH: 5, KW: 5, Stride: 1},
		16)
	pool = n.conv2.Pool(2)
	n.dense = nn.NewDense(&n.params, "dense", pool.OutH()*pool.OutW()*pool.C, 84)
	n.last = nn.NewDense(&n.params, "last", 84, classes)
	return n
}

// Dims implements models.Model.
func (n *LeNet) Dims() (p, q int) { return 4, n.params.Len() }

// Start implements models.Starter.
func (n *LeNet) Start(y []float64) { n.params.Init(y, 1) }

func (n *LeNet) scores(y *ad.Node, b models.Batch) *ad.Node {
	h := ad.MaxPool(ad.ReLU(n.conv1.Outputs(y, b.X)), n.conv1.Pool(2))
	h = ad.MaxPool(ad.ReLU(n.conv2.Outputs(y, h)), n.conv2.Pool(2))
	return n.last.Outputs(y, ad.ReLU(n.dense.Outputs(y, h)))
}

// Upper implements models.Model: the loss on validation examples.
func (n *LeNet) Upper(_, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Mean(nn.CrossEntropy(n.scores(y, b), b.T))
}

// Lower implements models.Model: the loss on training examples, and decay.
func (n *LeNet) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	loss := n.Upper(x, y, b)
	for i, w := range []nn.Param{n.conv1.W, n.conv2.W, n.dense.W, n.last.W} {
		loss = ad.Add(loss, ad.Mul(ad.Exp(ad.Item(x, i)), ad.SumAll(ad.Square(w.Node(y)))))
	}
	return loss
}

// Score implements models.Scorer.
func (n *LeNet) Score(_, y *ad.Node, b models.Batch) (losses, hits *ad.Node) {
	s := n.scores(y, b)
	return nn.CrossEntropy(s, b.T), ad.RowHit(s, b.T)
}

// A whole model in one file: its layers, its two losses, and what an agent asks of them.
func Example() {
	net := NewLeNet(12, 3)
	fmt.Print(&net.params)
	_, q := net.Dims()
	oracle, err := models.NewOracle(net, pictures(20, 12, 3), models.Config{Batch: 8})
	if err != nil {
		log.Fatal(err)
	}
	x, y, all := []float64{-5, -5, -5, -5}, make([]float64, q), dsbo.Sample{Set: dsbo.Whole}
	net.Start(y)
	gradient, product := make([]float64, q), make([]float64, q)
	if err := oracle.LowerGrad(gradient, x, y, all); err != nil {
		log.Fatal(err)
	}
	if err := oracle.HVP(product, x, y, gradient, all); err != nil {
		log.Fatal(err)
	}
	_, before, _ := oracle.Values(x, y, all)
	for j, g := range gradient {
		y[j] -= 1e-4 * g
	}
	_, after, _ := oracle.Values(x, y, all)
	fmt.Println("a step along the gradient lowers the loss:", after < before)
	// Output:
	// conv1.filters                    6×25  from 0
	// conv1.biases                        6  from 150
	// conv2.filters                  16×150  from 156
	// conv2.biases                       16  from 2556
	// dense.weights                   84×16  from 2572
	// dense.biases                       84  from 3916
	// last.weights                     3×84  from 4000
	// last.biases                         3  from 4252
	// a step along the gradient lowers the loss: true
}

// pictures makes examples of random pixels and classes.
func pictures(m, side, classes int) data.Shard {
	r := rand.New(rand.NewPCG(1, 2))
	set := func() data.Examples {
		pixels, labels := make([]uint8, m*side*side), make([]uint8, m)
		for i := range pixels {
			pixels[i] = uint8(r.IntN(256))
		}
		for i := range labels {
			labels[i] = uint8(r.IntN(classes))
		}
		x, err := ad.ByteTable(m, side*side, pixels, 1./255)
		if err != nil {
			log.Fatal(err)
		}
		target, err := ad.LabelTable(labels, classes)
		if err != nil {
			log.Fatal(err)
		}
		return data.Examples{X: x, Target: target}
	}
	return data.Shard{Train: set(), Val: set()}
}

// A network trained without a bilevel problem: with data.LoadMNIST in place of pictures, 784
// features, 256 hidden units and ten classes this is MNIST.
func ExampleTrainer() {
	train := pictures(50, 12, 3).Train
	ps := &nn.Params{Gain: 2}
	hidden, last := nn.NewDense(ps, "hidden", 144, 32), nn.NewDense(ps, "last", 32, 3)
	scores := func(z, x *ad.Node) *ad.Node { return last.Outputs(z, ad.ReLU(hidden.Outputs(z, x))) }
	t := nn.NewTrainer(ps, &nn.Adam{}, 16, 1, func(z, x, t *ad.Node) *ad.Node {
		return ad.Mean(nn.CrossEntropy(scores(z, x), t))
	})
	for range 100 {
		if _, err := t.Epoch(train); err != nil {
			log.Fatal(err)
		}
	}
	right, err := t.Mean(train, func(z, x, t *ad.Node) *ad.Node { return ad.RowHit(scores(z, x), t) })
	fmt.Println(right, err)
	var file bytes.Buffer // or an os.File
	fmt.Println(t.Save(&file), t.Load(&file))
	// Output:
	// 1 <nil>
	// <nil> <nil>
}

// Dropout: the same scores are of a thinned network in training, and of the whole one elsewhere.
func ExampleMask() {
	train := pictures(50, 12, 3).Train
	ps := &nn.Params{Gain: 2}
	hidden, last := nn.NewDense(ps, "hidden", 144, 32), nn.NewDense(ps, "last", 32, 3)
	drop := &nn.Mask{Cols: 32, Keep: .5}
	scores := func(z, x *ad.Node) *ad.Node {
		return last.Outputs(z, nn.Dropout(ad.ReLU(hidden.Outputs(z, x)), drop.Node()))
	}
	t := nn.NewTrainer(ps, &nn.Adam{}, 16, 1, func(z, x, t *ad.Node) *ad.Node {
		return ad.Mean(nn.CrossEntropy(scores(z, x), t))
	})
	t.Masks = []*nn.Mask{drop}
	for range 100 {
		if _, err := t.Epoch(train); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(t.Mean(train, func(z, x, t *ad.Node) *ad.Node { return ad.RowHit(scores(z, x), t) }))
	// Output: 1 <nil>
}
