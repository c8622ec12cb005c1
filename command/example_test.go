package command_test

import (
	"dsbo/command"
	"dsbo/experiment/tasks"
)

// The main function of a program with two tasks and all verbs. Main ends the process, so that this
// example is compiled, but not run.
func ExampleMain() {
	command.Main(tasks.Synthetic(), tasks.Policy())
}
