// Package command is the program dsbo: its verbs, which run a task on agents that are processes of their own, on one
// machine or on many.
//
//	dsbo pki -cluster FILE -out DIR       certificates for the agents
//	dsbo agent -cluster FILE -out DIR     one agent
//	dsbo run -cluster FILE -out DIR       all agents, on this machine
//	dsbo collect -out DIR RUNS...         one run folder from those of the agents
//
// Each has -h. Package cluster says what a cluster file holds, and deploy/ how to start the agents under
// Slurm, Kubernetes and systemd.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"dsbo"
	"dsbo/internal/cli"
)

// Main runs the command line of the program and ends the process.
func Main() { os.Exit(cli.Main("dsbo", run)) }

// A subcommand is what the first argument chooses.
type subcommand struct {
	name, about string
	run         func(ctx context.Context, args []string, stdout, stderr io.Writer) error
}

var subcommands = []subcommand{
	{"agent", "run one agent", agentCommand},
	{"run", "run all agents on this machine, each as a process", runCommand},
	{"collect", "make one run folder from those of all agents", collectCommand},
	{"pki", "make the certificates by which the agents know each other", runPKI},
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return bad("no subcommand: want %s (-h explains them)", subcommandNames())
	}
	for _, s := range subcommands {
		if s.name == args[0] {
			err := s.run(ctx, args[1:], stdout, stderr)
			if err != nil && !errors.Is(err, flag.ErrHelp) {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			return err
		}
	}
	switch args[0] {
	case "-h", "-help", "--help", "help":
		return help(stdout)
	}
	return bad("subcommand %q is unknown: want %s (-h explains them)", args[0], subcommandNames())
}

// help writes what there is.
func help(w io.Writer) error {
	var b strings.Builder
	b.WriteString("dsbo runs a task on agents that are processes of their own, on one machine or on many.\n\nusage: dsbo SUBCOMMAND [flags]\n\n")
	for _, s := range subcommands {
		fmt.Fprintf(&b, "  %-9s %s\n", s.name, s.about)
	}
	b.WriteString("\ndsbo SUBCOMMAND -h lists its flags.\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return flag.ErrHelp
}

func subcommandNames() string {
	var names []string
	for _, s := range subcommands {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}

// required reports the first of some flags that was left out.
func required(f *cli.Flags, names ...string) error {
	for _, name := range names {
		if f.Lookup(name).Value.String() == "" {
			_, usage := flag.UnquoteUsage(f.Lookup(name))
			return bad("no -%s: want its %s", name, usage)
		}
	}
	return nil
}

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", dsbo.ErrConfig, fmt.Sprintf(format, args...))
}
