package experiment

import (
	"context"
	"strings"

	"dsbo"
	"dsbo/network"
	"dsbo/network/mpi"
)

// transports are the ways between agents that -transport names; a line makes one known. Agents that are lost and come back are not
// among them: see [OneAgent].
var transports = []struct {
	name, about string
	layout      func() (Layout, error)
}{
	{"local", "all in this process", func() (Layout, error) { return inProcess{}, nil }},
	{"mpi", "dealt to the processes of an MPI job (mpirun -n 8 mnist -transport mpi; built with -tags mpi), which share the run folder", mpiRanks},
}

// mpiRanks makes this process a rank of an MPI job.
func mpiRanks() (Layout, error) {
	w, err := mpi.Init()
	if err != nil {
		return nil, err
	}
	return &ranks{transport: "mpi", world: w, open: func(ctx context.Context, g *network.Graph) (network.Team, error) {
		return w.Exchange(ctx, g.W, mpi.Options{})
	}}, nil
}

// transportHelp says what each transport is.
func transportHelp() string {
	var lines []string
	for _, t := range transports {
		lines = append(lines, t.name+", "+t.about)
	}
	return strings.Join(lines, "; or ")
}

// layoutOf returns the constructor of the layout of a transport.
func layoutOf(transport string) (func() (Layout, error), error) {
	var names []string
	for _, t := range transports {
		if t.name == transport {
			return t.layout, nil
		}
		names = append(names, t.name)
	}
	return nil, dsbo.Errorf(dsbo.ErrConfig, "-transport must be %s; it is %s", strings.Join(names, " or "), transport)
}
