// Command dsbo runs the tasks of this module: in one process, or on agents that are processes of
// their own, on one machine or on many. dsbo help lists its verbs; package command explains them.
package main

import (
	"dsbo/command"
	"dsbo/experiment/tasks"
	"dsbo/experiment/tasks/tune"
)

func main() { command.Main(tasks.MNIST(), tasks.Synthetic(), tasks.Policy(), tune.Task()) }
