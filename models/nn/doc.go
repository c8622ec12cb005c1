// Package nn has layers of neural networks, as small functions that build graphs of ad's ops.
//
// [Params] lays out the named parameters of a model in one vector, y (or x, where hyperparameters
// are weights), and draws its start. A layer is the offsets of its parameters, and is made once,
// with the model:
//
//	type model struct {
//		nn.Params
//		hidden, last nn.Dense
//	}
//
//	m.hidden = nn.NewDense(&m.Params, "hidden", 784, 300)
//	m.last = nn.NewDense(&m.Params, "last", 300, 10)
//
// Its Outputs builds a part of a loss's graph from the vector's node and the previous layer's
// values. Calling it twice shares the weights:
//
//	scores := m.last.Outputs(y, ad.ReLU(m.hidden.Outputs(y, b.X)))
//	loss := ad.Mean(nn.CrossEntropy(scores, b.T))
//
// Layers are [Dense], [Conv], [Embedding], [GRU], [LSTM] and [Attention] with masks, the
// normalizations [LayerNorm], [GroupNorm], [BatchNorm] and [RunningNorm], and blocks of several:
// [ResidualBlock] and [TransformerBlock].
//
// Values are matrices with one row for each example. An image is a row of H·W·C numbers, channels
// last, see [ad.Window]; pooling is [ad.MaxPool] and [ad.AvgPool]. A sequence is as many rows as it
// is long, and the sequences of all examples are stacked: [ad.Reshape] makes them of wider rows.
// All derivatives, to any order, are ad's.
//
// A [Trainer] trains a network without a bilevel problem: by [SGD], [Adam] or [AdamW], with
// schedules such as [Cosine], in float32, epoch by epoch, whose last batch may be shorter. A [Mask]
// is its dropout or noise. It saves and loads its parameters. The program in examples/digits does
// all this on MNIST in 30 lines.
//
// The example of the package is a whole bilevel model in one file.
package nn
