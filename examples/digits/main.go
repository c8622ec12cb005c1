// Command digits trains a network of 256 hidden units on MNIST in float32, without a bilevel
// problem, from the parameters in digits.safetensors if they are there, and writes them to it.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/models/nn"
)

func main() {
	train, test, err := data.LoadMNIST("") // of $DSBO_DATA, else of the module GoMNIST
	check(err)
	ps := &nn.Params{Gain: 2}
	hidden, last := nn.NewDense(ps, "hidden", 784, 256), nn.NewDense(ps, "last", 256, 10)
	scores := func(z, x *ad.Node) *ad.Node { return last.Outputs(z, ad.ReLU(hidden.Outputs(z, x))) }
	loss := func(z, x, t *ad.Node) *ad.Node { return ad.Mean(nn.CrossEntropy(scores(z, x), t)) }
	hits := func(z, x, t *ad.Node) *ad.Node { return ad.RowHit(scores(z, x), t) }
	net := nn.NewTrainer(ps, &nn.Adam{}, 128, 1, loss)
	if old, err := os.ReadFile("digits.safetensors"); err == nil {
		check(net.Load(bytes.NewReader(old)))
	}
	for epoch := range 5 {
		mean, err := net.Epoch(train) // 468 batches of 128, and one of 96
		check(err)
		right, err := net.Mean(test, hits)
		check(err)
		fmt.Printf("epoch %d: loss %.4f, test accuracy %.4f\n", epoch+1, mean, right)
	}
	var file bytes.Buffer
	check(net.Save(&file))
	check(os.WriteFile("digits.safetensors", file.Bytes(), 0o644))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
