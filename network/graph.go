package network

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
)

// A Graph is a named, valid mixing matrix.
type Graph struct {
	Name string
	W    *Matrix
}

// String describes the graph in one line.
func (g *Graph) String() string {
	return fmt.Sprintf("%s, %d agents, ρ = %.6f", g.Name, g.W.N(), g.W.Rho())
}

// Options are the parameters of [New].
type Options struct {
	// W is each agent's weight on itself; its neighbours share 1 − W evenly. It needs a graph
	// whose agents all have the same number of neighbours. 0 means Metropolis weights.
	W float64
	// Prob is the probability of each edge of "erdos-renyi" and 0 for all other graphs.
	// There 0 means 2·ln(n)/n, twice the threshold of connectedness.
	Prob float64
	// Seed draws the edges of "erdos-renyi".
	Seed uint64
}

// Validate returns an error that matches dsbo.ErrConfig unless 0 ≤ W < 1 and 0 ≤ Prob ≤ 1.
func (o Options) Validate() error {
	if !(o.W >= 0 && o.W < 1) {
		return configError("self weight w = %v, want 0 < w < 1, or 0 for Metropolis weights", o.W)
	}
	if !(o.Prob >= 0 && o.Prob <= 1) {
		return configError("edge probability = %v, want 0 < probability <= 1, or 0 for 2 ln(n)/n", o.Prob)
	}
	return nil
}

const erdosRenyi = "erdos-renyi"

// Names returns the names that [New] knows.
func Names() []string {
	return []string{"ring", "complete", "star", "path", "torus", "exponential", "hypercube", erdosRenyi, "server"}
}

// New returns the graph of that name with n agents, or the one in the file of that name if it
// ends in .json; n = 0 then means as many agents as the file has. "torus" is as square as n
// allows. Errors match dsbo.ErrConfig.
func New(name string, n int, o Options) (*Graph, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Prob != 0 && name != erdosRenyi {
		return nil, configError("edge probability = %v is for graph %s, leave it at 0 for %s", o.Prob, erdosRenyi, name)
	}
	if strings.HasSuffix(name, ".json") {
		return load(name, n, o.W)
	}
	if !slices.Contains(Names(), name) {
		return nil, configError("no graph %q, want one of %s, or a file that ends in .json", name, strings.Join(Names(), ", "))
	}
	if err := checkAgents(n); err != nil {
		return nil, err
	}
	switch name {
	case "star":
		return starEdges(n).graph(name, o.W)
	case "path":
		return pathEdges(n).graph(name, o.W)
	case "torus":
		rows, err := squarest(n)
		if err != nil {
			return nil, err
		}
		return torusEdges(rows, n/rows).graph(name, o.W)
	case "hypercube":
		if err := checkHypercube(n); err != nil {
			return nil, err
		}
		return hypercubeEdges(n).graph(name, o.W)
	case "complete":
		return completeEdges(n).graph(name, o.W)
	case "exponential":
		return exponentialEdges(n).graph(name, o.W)
	case erdosRenyi:
		return erdosRenyiEdges(n, o.Prob, o.Seed).graph(name, o.W)
	case "server":
		if o.W != 0 {
			return nil, configError("self weight w = %v, but the server averages exactly: leave w at 0", o.W)
		}
		return Server(n)
	}
	return ringEdges(n).graph(name, o.W)
}

// squarest returns the largest divisor of n that is at most √n, and refuses a prime n.
func squarest(n int) (int, error) {
	rows := int(math.Sqrt(float64(n)))
	for n%rows != 0 {
		rows--
	}
	if rows == 1 && n > 1 {
		return 0, configError("a torus of %d agents, want rows × columns with both above 1, such as 4, 6, 8 or 9", n)
	}
	return rows, nil
}

// load reads a graph file.
func load(path string, n int, w float64) (*Graph, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, configError("graph file: %w", err)
	}
	g, err := Parse(path, data, w)
	if err != nil {
		return nil, err
	}
	if n != 0 && n != g.W.N() {
		return nil, configError("graph file %s has %d agents, but %d are asked for", path, g.W.N(), n)
	}
	return g, nil
}
