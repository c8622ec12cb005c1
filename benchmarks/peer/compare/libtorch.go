package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"dsbo/ad"
	"dsbo/models/nn"
)

// libtorchTable is the comparison of one agent's questions with the C++ library beneath PyTorch, in
// float32 on one thread: what deepTable has, without the time that Python takes.
func libtorchTable() table {
	t := table{oneThread: true, compiled: true, columns: deepColumns()}
	for _, c := range []struct {
		network           string
		rows              int
		gradient, product string
	}{
		{"softmax", 1000, "0.4", "0.4"}, {"softmax", 3744, "0.4", "0.4"}, {"mlp", 1000, "0.9", "0.7"},
		{"lenet", 256, "0.25", "0.25"}, {"transformer", 64, "0.56", "0.56"},
	} {
		t.rows = append(t.rows, row{part: "libtorch-" + c.network, program: libtorchProducts,
			title: fmt.Sprintf("%s, batch %d, f32 against libtorch", c.network, c.rows),
			most:  map[string]string{"Gradient": c.gradient, "Cold": c.product},
			args:  []string{"--network", c.network, "--batch", fmt.Sprint(c.rows)},
			ours: func(context.Context) result {
				params, scores := layersOf(c.network)
				y := make([]float64, params.Len())
				params.Init(y, 1)
				return measureLoss(ad.Loss{P: 1, Q: len(y), Rows: c.rows, Float32: true,
					Build: func(_, y *ad.Node, in []*ad.Node) *ad.Node {
						return ad.Mean(nn.CrossEntropy(scores(y, in[0]), in[1]))
					}}, y, 1)
			}})
	}
	return t
}

// layersOf returns the parameters of a network of libtorch/products.cpp, and its scores at y of
// pictures, a row of 784 numbers each.
func layersOf(network string) (*nn.Params, func(y, x *ad.Node) *ad.Node) {
	p := new(nn.Params)
	switch network {
	case "softmax":
		w := p.Matrix("w", 10, 784, nn.Init{Deviation: .05})
		return p, func(y, x *ad.Node) *ad.Node { return ad.MatMul(x, w.Node(y), false, true) }
	case "mlp":
		a, b, c := nn.NewDense(p, "a", 784, 256), nn.NewDense(p, "b", 256, 128), nn.NewDense(p, "c", 128, 10)
		return p, func(y, x *ad.Node) *ad.Node {
			return c.Outputs(y, ad.ReLU(b.Outputs(y, ad.ReLU(a.Outputs(y, x)))))
		}
	case "lenet":
		a := nn.NewConv(p, "a", ad.Window{H: 28, W: 28, C: 1, KH: 5, KW: 5, Stride: 1, PadH: 2, PadW: 2}, 6)
		b := nn.NewConv(p, "b", ad.Window{H: 14, W: 14, C: 6, KH: 5, KW: 5, Stride: 1}, 16)
		c, d := nn.NewDense(p, "c", 400, 84), nn.NewDense(p, "d", 84, 10)
		return p, func(y, x *ad.Node) *ad.Node {
			h := ad.MaxPool(ad.ReLU(a.Outputs(y, x)), a.Pool(2))
			h = ad.MaxPool(ad.ReLU(b.Outputs(y, h)), b.Pool(2))
			return d.Outputs(y, ad.ReLU(c.Outputs(y, h)))
		}
	}
	return transformerLayers(p)
}

// transformerLayers lays out the transformer, which reads the 28 rows of a picture as a sequence.
func transformerLayers(p *nn.Params) (*nn.Params, func(y, x *ad.Node) *ad.Node) {
	const length, width = 28, 64
	embed := nn.NewDense(p, "embed", 28, width)
	positions := p.Matrix("positions", length, width, nn.Init{Deviation: .05})
	a, b := nn.NewTransformerBlock(p, "a", width, 4, 2*width), nn.NewTransformerBlock(p, "b", width, 4, 2*width)
	last := nn.NewDense(p, "last", width, 10)
	return p, func(y, x *ad.Node) *ad.Node {
		pictures := x.Shape()[0]
		h := nn.AddPositions(embed.Outputs(y, ad.Reshape(x, pictures*length, 28)), positions.Node(y))
		h = b.Outputs(y, a.Outputs(y, h, pictures), pictures)
		return last.Outputs(y, ad.Scale(1./length, ad.TensorOf(h, pictures, length, width).Sum(1).Node))
	}
}

// newLibtorch returns a rival that runs libtorch/products.cpp, which cxx compiles into dir. The
// error has the compiler's last words.
func newLibtorch(ctx context.Context, dir, cxx string) (*rival, error) {
	r := &rival{binary: filepath.Join(dir, "libtorch"), dir: dir}
	line := append(strings.Fields(cxx), "-x", "c++", "-", "-o", r.binary, "-ltorch", "-ltorch_cpu", "-lc10")
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Stdin = strings.NewReader(string(libtorchProducts))
	if out, err := cmd.CombinedOutput(); err != nil {
		text := strings.TrimSpace(string(out))
		return nil, fmt.Errorf("%s: %w: %s", line[0], err, text[max(0, len(text)-300):])
	}
	return r, nil
}
