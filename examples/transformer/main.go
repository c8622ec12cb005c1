// Command transformer tunes two kinds of hyperparameters of a small transformer of MNIST pictures:
// the weights of its body, with a head below (-model body), and a weight for each agent as a source
// of training examples, of which -bad ones have wrong labels (-model sources).
package main

import "dsbo/command"

func main() { command.Main(newTask()) }
