package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dsbo"
	"dsbo/network"
)

// A Cluster is the agents of a run and what they agree on.
type Cluster struct {
	Run       string
	Addresses []string // host:port, by agent
	Graph     *network.Graph
	Seed      uint64
	Task      string
	Flags     []string // of the task's command line, -name=value or -name each

	inline  bool    // the file has the graph's edges or matrix
	w, prob float64 // of a graph by name
}

// Load reads the cluster file at path. Errors match dsbo.ErrConfig.
func Load(path string) (*Cluster, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: cluster file: %w", dsbo.ErrConfig, err)
	}
	return Parse(path, data)
}

// Parse reads a cluster file, whose format the package documentation states, and checks all that can be checked without
// data: the graph, which takes O(n³) time, and the task's flags. Errors name the file and match dsbo.ErrConfig.
func Parse(name string, data []byte) (*Cluster, error) {
	f, err := decode(data)
	if err != nil {
		return nil, fileError(name, err)
	}
	c, err := f.settings()
	if err != nil {
		return nil, fileError(name, err)
	}
	if err := c.makeGraph(name, &f); err != nil {
		return nil, err
	}
	return c, nil
}

func fileError(name string, err error) error {
	return fmt.Errorf("%w: cluster file %s: %w", dsbo.ErrConfig, name, err)
}

var runName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// settings returns all but the graph.
func (f *file) settings() (*Cluster, error) {
	c := &Cluster{Seed: 1, Flags: f.flags}
	switch {
	case f.run == nil:
		return nil, fmt.Errorf(`no "run", want a name that the agents know the run by`)
	case !runName.MatchString(*f.run):
		return nil, fmt.Errorf(`"run" %q: want 1 to 64 letters, digits, dots, dashes and underscores, the first one a letter or digit`, *f.run)
	case f.task == nil:
		return nil, fmt.Errorf(`no "task", want one of %s`, taskNames())
	}
	c.Run, c.Task = *f.run, *f.task
	if f.seed != nil {
		c.Seed = *f.seed
	}
	var err error
	if c.Addresses, err = f.addresses(); err != nil {
		return nil, err
	}
	if err := c.checkFlags(); err != nil {
		return nil, err
	}
	return c, f.checkGraph()
}

// checkGraph reports fields about the graph that do not go together.
func (f *file) checkGraph() error {
	given := 0
	for _, is := range []bool{f.graph != nil, f.edges != nil, f.matrix != nil} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return fmt.Errorf(`more than one of "graph", "edges" and "W" is given, want one of them`)
	case f.matrix != nil && f.w != nil:
		return fmt.Errorf(`"w" is %v beside "W", which holds all weights: want one of them`, *f.w)
	case f.prob != nil && (f.graph == nil || *f.graph != "erdos-renyi"):
		return fmt.Errorf(`"prob" is %v, want it for the graph erdos-renyi alone`, *f.prob)
	case f.graph != nil && strings.HasSuffix(*f.graph, ".json"):
		return fmt.Errorf(`"graph" %q is a file, want its "edges" or "W" in this one: all agents must have the same`, *f.graph)
	case f.graph != nil && !slices.Contains(network.Names(), *f.graph):
		return fmt.Errorf(`"graph" %q is unknown, want one of %s`, *f.graph, strings.Join(network.Names(), ", "))
	}
	return nil
}

// makeGraph makes the graph; name is the file's.
func (c *Cluster) makeGraph(name string, f *file) error {
	n := len(c.Addresses)
	graph := "ring"
	if f.graph != nil {
		graph = *f.graph
	}
	c.inline = f.edges != nil || f.matrix != nil
	if graph == "ring" && !c.inline {
		c.w = 0.5
	}
	if f.w != nil {
		c.w = *f.w
	}
	if f.prob != nil {
		c.prob = *f.prob
	}
	var err error
	if !c.inline {
		if c.Graph, err = network.New(graph, n, network.Options{W: c.w, Prob: c.prob, Seed: c.Seed}); err != nil {
			return fileError(name, err)
		}
		return nil
	}
	object := map[string]any{"agents": n}
	if f.edges != nil {
		object["edges"] = f.edges
	} else {
		object["W"] = f.matrix
	}
	data, err := json.Marshal(object)
	if err != nil {
		return fileError(name, err)
	}
	if c.Graph, err = network.Parse(name, data, c.w); err != nil {
		return fmt.Errorf("cluster file: %w", err)
	}
	return nil
}

// Hash returns the SHA-256, in hexadecimal, of what all agents of the run must have the same: the run's name, the number
// of agents, the mixing matrix to the bit, the seed, the task and its flags in their order. The addresses are not in it.
func (c *Cluster) Hash() string {
	rows := make([][]entry, c.Graph.W.N())
	for i := range rows {
		for _, e := range c.Graph.W.Row(i) {
			rows[i] = append(rows[i], entry{e.Agent, math.Float64bits(e.Weight)})
		}
	}
	h := sha256.New()
	// Encoding what has neither maps nor floats does not fail, and writing to a hash does not either.
	_ = json.NewEncoder(h).Encode(content{1, c.Run, len(c.Addresses), rows, c.Seed, c.Task, c.Flags})
	return hex.EncodeToString(h.Sum(nil))
}

// content is what Hash is of.
type content struct {
	Format int // of this
	Run    string
	Agents int
	W      [][]entry
	Seed   uint64
	Task   string
	Flags  []string
}

type entry struct {
	Agent int
	Bits  uint64
}

// GraphFile returns the mixing matrix as a graph file of package network, where the cluster file gives edges or a matrix; nil
// where it names a graph.
func (c *Cluster) GraphFile() []byte {
	if !c.inline {
		return nil
	}
	// The entries of a valid matrix are finite, so that they can be encoded, and each is read again to the bit.
	data, _ := json.Marshal(map[string]any{"W": c.Graph.W.Dense()})
	return data
}

// Args returns the task's command line: its flags, and those for what the file says itself. graphFile is the path of
// what GraphFile returns, where that is not nil.
func (c *Cluster) Args(graphFile string) []string {
	args := append([]string{}, c.Flags...)
	args = append(args, fmt.Sprintf("-agents=%d", len(c.Addresses)), fmt.Sprintf("-seed=%d", c.Seed))
	if c.inline {
		return append(args, "-graph="+graphFile)
	}
	float := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	args = append(args, "-graph="+c.Graph.Name, "-w="+float(c.w))
	if c.prob != 0 {
		args = append(args, "-prob="+float(c.prob))
	}
	return args
}
