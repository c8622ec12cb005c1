// Command synthetic tunes the regularization of a logistic regression whose data differ between
// agents: the paper's synthetic task.
//
//	go run ./cmd/synthetic
//
// -h explains the flags.
package main

import (
	"dsbo/experiment"
	"dsbo/experiment/tasks"
)

func main() { experiment.Main(tasks.Synthetic()) }
