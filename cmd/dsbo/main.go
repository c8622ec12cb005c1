// Command dsbo runs a task on agents that are processes of their own, on one machine or on many. See package command.
package main

import "dsbo/command"

func main() { command.Main() }
