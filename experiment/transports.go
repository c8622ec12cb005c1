package experiment

import (
	"context"
	"strings"

	"dsbo"
	"dsbo/internal/cli"
	"dsbo/network"
	"dsbo/network/mpi"
)

// transports are the ways between agents that -transport names; a line makes one known. Agents that
// are lost and come back are not among them: see [OneAgent].
var transports = []struct {
	name, about string
	layout      func() (layout, error)
	// ends the processes that wait for this one, which has failed before layout; nil: there
	// are none
	abandon func(code int)
}{
	{"local", "all in this process", func() (layout, error) { return inProcess{}, nil }, nil},
	{"mpi",
		"dealt to the processes of an MPI job (mpirun -n 8 mnist -transport mpi; built with -tags mpi), which share " +
			"the run folder", mpiRanks, mpi.Abandon},
}

// mpiRanks makes this process a rank of an MPI job.
func mpiRanks() (layout, error) {
	w, err := mpi.Init()
	if err != nil {
		return nil, err
	}
	return &ranks{world: w, open: func(ctx context.Context, g *network.Graph) (network.Team, error) {
		return w.Exchange(ctx, g.W)
	}}, nil
}

// Abandon ends the other processes of a job, which may wait for this one. It is called when a
// command line ends, with its exit code, which it returns. A process that failed before it joined,
// such as by wrong flags, has not notified the other ones.
func Abandon(args []string, code int) int {
	for _, t := range transports {
		if code != cli.OK && t.abandon != nil && namesTransport(args, t.name) {
			t.abandon(code)
		}
	}
	return code
}

// namesTransport reports whether a command line, which may be wrong elsewhere and is therefore not
// parsed, has -transport=NAME or -transport NAME.
func namesTransport(args []string, name string) bool {
	for i, a := range args {
		if flag, is := cli.FlagName(a); is && flag == "transport" {
			if _, value, joined := strings.Cut(a, "="); joined {
				return value == name
			}
			return i+1 < len(args) && args[i+1] == name
		}
	}
	return false
}

// transportHelp describes each transport.
func transportHelp() string {
	var lines []string
	for _, t := range transports {
		lines = append(lines, t.name+", "+t.about)
	}
	return strings.Join(lines, "; or ")
}

// layoutOf returns the constructor of the layout of a transport.
func layoutOf(transport string) (func() (layout, error), error) {
	var names []string
	for _, t := range transports {
		if t.name == transport {
			return t.layout, nil
		}
		names = append(names, t.name)
	}
	return nil, dsbo.ConfigErrorf("-transport must be %s; it is %s", strings.Join(names, " or "), transport)
}
