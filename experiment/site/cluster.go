package site

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"dsbo"
	"dsbo/internal/files"
	"dsbo/network"
)

// A Cluster is the content of a cluster file: a run's agents and their common settings.
type Cluster struct {
	Run       string         // name of the run
	Addresses []string       // host:port, by agent; "": nobody can reach it, it connects to others
	Relay     string         // host:port of the relay between agents without addresses; "": there is none
	Graph     *network.Graph // with the mixing matrix
	Seed      uint64         // of all draws of the run
	Task      string         // verb of the run's task
	Flags     []string       // of the task's command line, -name=value or -name each
	// Quorum is the number of agents that decide on membership, and AbsentAfter the silence after
	// which an agent is left out; 0: all take part, always.
	Quorum      int
	AbsentAfter time.Duration // silence after which an agent is left out
	// Keys has the SHA-256 of the agents' public keys, in hexadecimal; nil: certificates must name
	// the run.
	Keys []string

	inline  bool    // the file itself has the graph's edges, matrix or lists
	lists   []byte  // the graph's lists of weights, as a graph file; nil: it has none
	w, prob float64 // of a graph by name
}

// A check reports what is wrong with the task of a cluster and the flags of its command line, on
// its graph and with its quorum, as far as it can be known without data.
type check func(c *Cluster) error

// LoadCluster reads the cluster file at path, as [ParseCluster] does.
func LoadCluster(path string, check check) (*Cluster, error) {
	data, err := files.ReadFile(path)
	if err != nil {
		return nil, dsbo.ConfigErrorf("cluster file: %w", err)
	}
	return ParseCluster(path, data, check)
}

// ParseCluster reads a cluster file, whose format the package documentation states, and checks it;
// the check of the graph takes O(n³) time. The program that knows the tasks gives a check of the
// task and its flags; nil accepts all. name is the file's, for errors, which match dsbo.ErrConfig.
func ParseCluster(name string, data []byte, check check) (_ *Cluster, err error) {
	defer func() {
		if err != nil {
			err = dsbo.ConfigErrorf("cluster file %s: %w", name, err)
		}
	}()
	f, err := parseFields(data)
	if err != nil {
		return nil, err
	}
	c := &Cluster{Run: f.Run, Seed: f.Seed, Task: f.Task, Flags: f.Flags, lists: f.Weights,
		inline: f.Edges != nil || f.W != nil || f.Weights != nil}
	if c.Addresses, err = f.addresses(); err != nil {
		return nil, err
	}
	if f.Relay != nil {
		c.Relay = *f.Relay
		if _, err := checkAddress("the relay", c.Relay); err != nil {
			return nil, err
		}
	}
	if c.Quorum, c.AbsentAfter, err = f.membership(len(c.Addresses)); err != nil {
		return nil, err
	}
	if c.Keys, err = f.keys(len(c.Addresses)); err != nil {
		return nil, err
	}
	if f.Self != nil {
		c.w = *f.Self
	}
	if c.Graph, err = f.graph(name, c); err != nil {
		return nil, err
	}
	if check != nil {
		if err := check(c); err != nil {
			return nil, err
		}
	}
	return c, c.checkReach()
}

// graph returns the graph of a cluster. The file has lists of weights, or a matrix or edges, which
// are read as a graph file of package network, or the name of a graph. For a named graph it sets
// c.w and c.prob, which Args repeats. name is the cluster file's, for errors.
func (f *file) graph(name string, c *Cluster) (*network.Graph, error) {
	n := len(c.Addresses)
	if f.Weights != nil {
		g, err := network.Parse(name, f.Weights, 0)
		if err == nil && (!network.IsChanging(g.W.Mixing()) || g.W.N() != n) {
			err = fmt.Errorf(`"weights" must be lists of matrices for %d agents`, n)
		}
		return g, err
	}
	if c.inline {
		object := map[string]any{"agents": n}
		if f.W != nil {
			object["W"] = f.W
		} else {
			object["edges"] = f.Edges
		}
		text, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		return network.Parse(name, text, c.w)
	}
	graph := cmp.Or(f.Graph, "ring")
	if graph == "ring" && f.Self == nil {
		c.w = 0.5
	}
	if f.Prob != nil {
		c.prob = *f.Prob
	}
	return network.New(graph, n, network.Options{W: c.w, Prob: c.prob, Seed: c.Seed})
}

// Hash returns the SHA-256, in hexadecimal, of what all agents of the run must agree on: its name,
// the number of agents, the bits of the mixing matrix, the seed, the task and its flags in order,
// which agents have no address, quorum and pinned keys. Addresses are not part of it, as agents may
// see each other under different ones. Fields with omitempty were added later, so that files
// without them keep their hash.
func (c *Cluster) Hash() string {
	type entry struct {
		Agent int
		Bits  uint64
	}
	rows := make([][]entry, c.Graph.W.N())
	for i := range rows {
		for _, e := range c.Graph.W.Row(i) {
			rows[i] = append(rows[i], entry{e.Agent, math.Float64bits(e.Weight)})
		}
	}
	h := sha256.New()
	// Encoding cannot fail, without maps and floats, nor can writing to a hash.
	_ = json.NewEncoder(h).Encode(struct {
		Format int           // of this type
		Run    string        // name
		Agents int           // their number
		W      [][]entry     // rows of the mixing matrix
		Seed   uint64        // of all draws of the run
		Task   string        // verb of the run's task
		Flags  []string      // of the task's command line
		Dial   []int         `json:",omitempty"` // agents that only connect to others
		Quorum int           `json:",omitempty"` // agents that must agree on a change; 0: members stay
		Absent time.Duration `json:",omitempty"` // silence after which an agent is left out
		Keys   []string      `json:",omitempty"` // the agents' pinned keys
		Lists  string        `json:",omitempty"` // weights that change; none otherwise
	}{1, c.Run, len(c.Addresses), rows, c.Seed, c.Task, c.Flags, c.withoutAddress(), c.Quorum, c.AbsentAfter, c.Keys,
		c.listed()})
	return fmt.Sprintf("%x", h.Sum(nil))
}

// listed returns a text for the lists of weights in the hash, "" if there are none.
func (c *Cluster) listed() string {
	if c.lists == nil {
		return ""
	}
	return c.Graph.W.Mixing().String()
}

// withoutAddress returns the agents to which nobody connects.
func (c *Cluster) withoutAddress() (agents []int) {
	for i, a := range c.Addresses {
		if a == "" {
			agents = append(agents, i)
		}
	}
	return agents
}

// Settings returns the settings that Hash covers, name=value each by the names of the cluster file
// and of flags, without the name of the run: agents compare them to name the one that differs. W=
// has all weights, whether the file names the graph or not. A graph of the file itself has no name.
func (c *Cluster) Settings() []string {
	graph := "" // by the edges or W of the file
	if !c.inline {
		graph = c.Graph.Name
	}
	weights := "W="
	for i := range c.Graph.W.N() {
		weights += fmt.Sprint(c.Graph.W.Row(i))
	}
	return append([]string{
		fmt.Sprintf("agents=%d", len(c.Addresses)), fmt.Sprintf("seed=%d", c.Seed), "task=" + c.Task,
		"graph=" + graph, weights + c.listed(), fmt.Sprintf("quorum=%d", c.Quorum),
		fmt.Sprintf("absent_after=%v", c.AbsentAfter),
		fmt.Sprintf("unaddressed=%v", c.withoutAddress()), fmt.Sprintf("keys=%v", c.Keys),
	}, c.Flags...)
}

// GraphFile returns the mixing matrix, or lists of them, as a graph file of package network if the
// cluster file gives edges or weights, and nil if it names a graph.
func (c *Cluster) GraphFile() []byte {
	if !c.inline {
		return nil
	}
	if c.lists != nil {
		return c.lists
	}
	// The entries of a valid matrix are finite and can be encoded; reading them restores every bit.
	data, _ := json.Marshal(map[string]any{"W": c.Graph.W.Dense()})
	return data
}

// Args returns the task's command line: Flags, then -agents, -seed, -graph, -w and -prob from the
// other fields of the file. If GraphFile is not nil, the caller has stored it at the path
// graphFile.
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
