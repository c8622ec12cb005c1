// Command synthetic tunes the regularization of a logistic regression whose data differ between agents:
// the paper's synthetic task, at each of several rates of heterogeneity.
//
//	go run ./cmd/synthetic    the three rates of the paper
//
// -h explains the flags.
package main

import (
	"dsbo/experiment"
	"dsbo/tasks"
)

func main() { experiment.Main(tasks.Synthetic()) }
