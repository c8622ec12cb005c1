// Command mnist tunes the regularization of a classifier of handwritten digits: one log-penalty λ
// for each pixel, chosen by the validation loss of all agents, none of which shows its pictures
// to another.
//
//	go run ./cmd/mnist
//
// -h explains the flags.
package main

import (
	"dsbo/experiment"
	"dsbo/experiment/tasks"
)

func main() { experiment.Main(tasks.MNIST()) }
