// Package experiment makes a program of a [Task], which is a data set, a model and their flags: [Main] is all of its main
// function. The program has flags and presets, checks them, chooses the steps by the curvature, runs a method on all agents, finds
// the models of the best λ, of λ = 0 and of the best constant λ, and leaves a run folder with a report. A run that was
// interrupted goes on with -resume.
//
// Where the agents are is a [Layout]: in this process, in the ranks of an MPI job, or one in each of several processes, for which
// package command has the verbs.
package experiment

import (
	"flag"

	"dsbo/data"
	"dsbo/models"
)

// A Task is a data set and a model, with the flags that choose them: all that a problem has of its own. [Main] makes a program
// of one, and package command one of several.
type Task interface {
	// Name is the name of the task's command line, and the beginning of its run folders' names.
	Name() string
	// About says what the task does, for the help. Its first line is enough for a list of verbs: "tune the penalties of a model".
	About() string
	// Flags adds the task's own flags, and sets what they choose to its defaults.
	Flags(f *flag.FlagSet)
	// Presets are the settings that -preset names; the first is the default.
	Presets() []Preset
	// Load returns the data of agents, and the model. Errors of what the user chose match dsbo.ErrConfig.
	Load(a Agents) (data.Task, models.Model, error)
}

// Agents are those for which a task is loaded.
type Agents struct {
	N    int    // all of the run: the task has a shard for each
	Here []int  // those in this process, in ascending order; the shards of others may be empty
	Seed uint64 // what is random depends on it alone
}

// A Checker is a [Task] that knows, before it loads anything, of flags that cannot work.
type Checker interface {
	// Check returns an error that matches dsbo.ErrConfig, for the first of these flags.
	Check() error
}

// A Describer is a [Task] with its own words for what it has loaded. Those of others are made of its flags and of the sizes
// of x and y.
type Describer interface {
	// Describe returns the "problem" of config.json, without which a run cannot be resumed, and a line for people. Both
	// are the same in all processes of a run.
	Describe(t data.Task, m models.Model) (settings map[string]any, line string)
}
