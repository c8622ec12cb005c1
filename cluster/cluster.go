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

// A Cluster is what a cluster file says about a run: its agents and what they agree on.
type Cluster struct {
	Run       string         // name of the run
	Addresses []string       // host:port, by agent
	Graph     *network.Graph // with the mixing matrix
	Seed      uint64
	Task      string
	Flags     []string // of the task's command line, -name=value or -name each

	inline  bool    // the file holds the graph's edges or matrix
	w, prob float64 // of a graph by name
}

// A Check reports what is wrong with a task and the flags of its command line, as far as it can be known without data.
type Check func(task string, flags []string) error

// Load reads the cluster file at path, as [Parse] does.
func Load(path string, check Check) (*Cluster, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "cluster file: %w", err)
	}
	return Parse(path, data, check)
}

// Parse reads a cluster file, whose format the package documentation states, and checks it; the check of the graph
// takes O(n³) time. The program that knows the tasks gives a check of the task and its flags; nil accepts all. name is
// the file's, for errors, which match dsbo.ErrConfig.
func Parse(name string, data []byte, check Check) (*Cluster, error) {
	f, err := decode(data)
	if err != nil {
		return nil, fileError(name, err)
	}
	c, err := f.settings()
	if err == nil && check != nil {
		err = check(c.Task, c.Flags)
	}
	if err != nil {
		return nil, fileError(name, err)
	}
	return c, c.makeGraph(name, &f)
}

func fileError(name string, err error) error {
	return dsbo.Errorf(dsbo.ErrConfig, "cluster file %s: %w", name, err)
}

var runName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// settings returns the cluster without its graph.
func (f *file) settings() (*Cluster, error) {
	switch {
	case f.run == nil:
		return nil, fmt.Errorf(`"run" is required: the name of the run`)
	case !runName.MatchString(*f.run):
		return nil, fmt.Errorf(
			`"run" must be 1 to 64 letters, digits, dots, dashes and underscores that begin with a letter or digit; it is %q`, *f.run)
	case f.task == nil:
		return nil, fmt.Errorf(`"task" is required: the name of a task`)
	}
	c := &Cluster{Run: *f.run, Seed: 1, Task: *f.task, Flags: f.flags}
	if f.seed != nil {
		c.Seed = *f.seed
	}
	var err error
	if c.Addresses, err = f.addresses(); err != nil {
		return nil, err
	}
	if err := checkFlags(c.Flags); err != nil {
		return nil, err
	}
	return c, f.checkGraph()
}

// reservedFlags maps flags that every task's command line has to the fields of the cluster file that replace them.
var reservedFlags = map[string]string{
	"agents": `"agents"`, "graph": `"graph", "edges" or "W"`, "w": `"w"`, "prob": `"prob"`, "seed": `"seed"`,
}

// checkFlags reports the first flag that is not written as one or that a field replaces.
func checkFlags(flags []string) error {
	for _, f := range flags {
		name, _, _ := strings.Cut(strings.TrimLeft(f, "-"), "=")
		switch {
		case name == "" || !strings.HasPrefix(f, "-"):
			return fmt.Errorf(`"flags": %q must have the form -name=value`, f)
		case reservedFlags[name] != "":
			return fmt.Errorf(`"flags": %q is not allowed: %s of the file says it`, f, reservedFlags[name])
		}
	}
	return nil
}

// checkGraph reports fields about the graph that exclude each other.
func (f *file) checkGraph() error {
	given := 0
	for _, is := range []bool{f.graph != nil, f.edges != nil, f.matrix != nil} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return fmt.Errorf(`"graph", "edges" and "W" are mutually exclusive`)
	case f.matrix != nil && f.w != nil:
		return fmt.Errorf(`"w" and "W" are mutually exclusive: "W" holds all weights`)
	case f.prob != nil && (f.graph == nil || *f.graph != "erdos-renyi"):
		return fmt.Errorf(`"prob" is for the graph erdos-renyi alone`)
	case f.graph != nil && strings.HasSuffix(*f.graph, ".json"):
		return fmt.Errorf(
			`"graph" must be a name, not the file %q: write its "edges" or "W" into this one, as all agents must have the same`, *f.graph)
	case f.graph != nil && !slices.Contains(network.Names(), *f.graph):
		return fmt.Errorf(`"graph" must be one of %s; it is %q`, strings.Join(network.Names(), ", "), *f.graph)
	}
	return nil
}

// makeGraph sets the cluster's graph; name is the file's.
func (c *Cluster) makeGraph(name string, f *file) error {
	n, graph := len(c.Addresses), "ring"
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
	object := map[string]any{"agents": n}
	var err error
	switch {
	case f.edges != nil:
		object["edges"] = f.edges
	case f.matrix != nil:
		object["W"] = f.matrix
	default:
		if c.Graph, err = network.New(graph, n, network.Options{W: c.w, Prob: c.prob, Seed: c.Seed}); err != nil {
			return fileError(name, err)
		}
		return nil
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

// Hash returns the SHA-256, in hexadecimal, of what must be the same for all agents of the run: its name, the number of
// agents, the mixing matrix to the bit, the seed, the task and its flags in their order. The addresses are left out.
func (c *Cluster) Hash() string {
	rows := make([][]entry, c.Graph.W.N())
	for i := range rows {
		for _, e := range c.Graph.W.Row(i) {
			rows[i] = append(rows[i], entry{e.Agent, math.Float64bits(e.Weight)})
		}
	}
	h := sha256.New()
	// A value without maps and floats can always be encoded, and a hash always be written to.
	_ = json.NewEncoder(h).Encode(content{1, c.Run, len(c.Addresses), rows, c.Seed, c.Task, c.Flags})
	return hex.EncodeToString(h.Sum(nil))
}

// content is what Hash covers.
type content struct {
	Format int // of this type
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

// GraphFile returns the mixing matrix as a graph file of package network if the cluster file gives edges or a matrix,
// and nil if it names a graph.
func (c *Cluster) GraphFile() []byte {
	if !c.inline {
		return nil
	}
	// The entries of a valid matrix are finite and can be encoded; reading them restores every bit.
	data, _ := json.Marshal(map[string]any{"W": c.Graph.W.Dense()})
	return data
}

// Args returns the task's command line: Flags and, for the other fields of the file, -agents, -seed, -graph, -w and
// -prob. graphFile is the path under which the caller has stored what GraphFile returns, if that is not nil.
func (c *Cluster) Args(graphFile string) []string {
	args := append(slices.Clone(c.Flags), fmt.Sprintf("-agents=%d", len(c.Addresses)), fmt.Sprintf("-seed=%d", c.Seed))
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
