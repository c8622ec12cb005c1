// Command wine predicts the quality of wine from measurements of several cellars, none of which
// shows its own to another. It is a module outside of dsbo with a model, data, a table format and a
// method of its own, each in one file.
package main

import (
	"dsbo/algo"
	"dsbo/command"
	"dsbo/tables"
)

func main() {
	algo.Register("oneloop", func() algo.Method { return new(oneLoop) })
	tables.Register(ledger{})
	command.Main(newTask())
}
