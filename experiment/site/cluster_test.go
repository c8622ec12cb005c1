package site_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo"
	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/network"
)

// full is a file with two agents and more fields.
func full(more string) string { return named(`"agents": ["a:1", "b:1"]` + more) }

// named is a file with a run, a task and more fields.
func named(more string) string { return `{"run": "r", "task": "mnist", ` + more + `}` }

func TestParse(t *testing.T) {
	const pair = "a:1 b:1"
	for _, tt := range []struct{ name, text, addresses, args string }{
		{"defaults", full(""), pair, "-agents=2 -seed=1 -graph=ring -w=0.5"},
		{
			"all of it", full(`, "graph": "star", "w": 0, "seed": 18446744073709551615, "flags": ["-K=20", "--T=3"]`),
			pair,
			"-K=20 --T=3 -agents=2 -seed=18446744073709551615 -graph=star -w=0",
		},
		{"a random graph", full(`, "graph": "erdos-renyi", "prob": 0.25`), pair,
			"-agents=2 -seed=1 -graph=erdos-renyi -w=0 -prob=0.25"},
		{"edges", full(`, "edges": [[0, 1]], "w": 0.25`), pair, "-agents=2 -seed=1 -graph=g.json"},
		{"lists", full(`, "weights": {"sequence": [[[0.5, 0.5], [0.5, 0.5]], [[1, 0], [0, 1]]]}`), pair,
			"-agents=2 -seed=1 -graph=g.json"},
		{"a matrix", full(`, "W": [[0.5, 0.5], [0.5, 0.5]]`), pair, "-agents=2 -seed=1 -graph=g.json"},
		{
			"a rule for hosts", named(`"agents": 3, "address": "dsbo-{agent}.dsbo:7000"`),
			"dsbo-0.dsbo:7000 dsbo-1.dsbo:7000 dsbo-2.dsbo:7000", "-agents=3 -seed=1 -graph=ring -w=0.5",
		},
		{
			"a rule for ports", named(`"agents": 2, "address": "[::1]:{7000+agent}"`),
			"[::1]:7000 [::1]:7001", "-agents=2 -seed=1 -graph=ring -w=0.5",
		},
		{"one agent needs no braces", named(`"agents": 1, "address": "a:7000"`), "a:7000",
			"-agents=1 -seed=1 -graph=ring -w=0.5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := parse(t, tt.text)
			if got := strings.Join(c.Addresses, " "); got != tt.addresses {
				t.Errorf("addresses %s; they must be %s", got, tt.addresses)
			}
			if got := strings.Join(c.Args("g.json"), " "); got != tt.args {
				t.Errorf("flags %s; they must be %s", got, tt.args)
			}
			if n := c.Graph.W.N(); n != len(c.Addresses) {
				t.Errorf("a graph of %d agents", n)
			}
		})
	}
}

// The graph of a file with edges or a matrix goes through a graph file without losing a bit.
func TestGraphFile(t *testing.T) {
	for _, text := range []string{
		`{"agents": 3, "address": "a{agent}:1", "run": "r", "task": "mnist", "edges": [[0, 1], [1, 2]]}`,
		`{"agents": 3, "address": "a{agent}:1", "run": "r", "task": "mnist", "W": [[0.7, 0.3, 0], [0.3, 0.4, ` +
			`0.3], [0, 0.3, 0.7]]}`,
	} {
		c := parse(t, text)
		g := testkit.Get(network.Parse("g.json", c.GraphFile(), 0))
		if diff := cmp.Diff(c.Graph.W.Dense(), g.W.Dense()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(c.Graph.W.Neighbours(0), g.W.Neighbours(0)); diff != "" {
			t.Error(diff)
		}
	}
	if data := parse(t, full("")).GraphFile(); data != nil {
		t.Errorf("a named graph has the file %s", data)
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{``, "it must be a JSON object {...}"}, // more of these: package strictjson
		{full(`, "Run": "s"`), `field "Run" is not known; it must be one of run, agents,`},
		{full(`, "seed": -1`), `field "seed" must be a whole number from 0 on; it is -1`},
		{full(`, "flags": ["-K=20", null]`), `field "flags" must be flags, ["-K=20", ...]; it holds null`},

		{`{"task": "mnist", "agents": ["a:1"]}`, `"run" must be 1 to 64 letters`},
		{`{"run": "", "task": "mnist", "agents": ["a:1"]}`, `"run" must be 1 to 64 letters`},
		{`{"run": "../x", "task": "mnist", "agents": ["a:1"]}`, `it is "../x"`},
		{`{"run": "r", "agents": ["a:1"]}`, `"task" is required`},
		{`{"run": "r", "agents": ["a:1"], "task": "cifar"}`, `"task": no task cifar`},

		{named(`"seed": 1`), `"agents" is required`},
		{named(`"agents": []`), "there must be 1 to 1024 agents; there are 0"},
		{named(`"agents": 2`), `"address" is required if "agents" is a number`},
		{named(`"agents": 2.5`), `field "agents" must be addresses, ["host:port", ...], or their number; it is 2.5`},
		{named(`"agents": {}`),
			`field "agents" must be addresses, ["host:port", ...], or their number; it is of type object`},
		{named(`"agents": 0, "address": "a{agent}:1"`), "must be 1 to 1024 agents; there are 0"},
		{named(`"agents": 1025, "address": "a{agent}:1"`), "must be 1 to 1024 agents; there are 1025"},
		{named(`"agents": ["a:1"], "address": "a:1"`), `"address" must be left out if "agents" lists the addresses`},
		{named(`"agents": 2, "address": "a:1"`), `0 and 1 both have "a:1"`},
		{named(`"agents": 2, "address": "a{i}:1"`), `{i} must be {agent} or a sum such as {7000+agent}`},
		{named(`"agents": 2, "address": "a:{x+agent}"`), `{x+agent} must be {agent}`},
		{named(`"agents": 2, "address": "a:{7000agent}"`), `{7000agent} must be {agent}`},
		{named(`"agents": 2, "address": "a{agent:1"`), "{agent:1 must be {agent}"},
		{named(`"agents": 2, "address": "a{agent"`), "{agent must be {agent}"},
		{named(`"agents": 2, "address": "a}:1"`), "} must be {agent}"},
		{named(`"agents": 2, "address": "a:{65535+agent}"`),
			`the port of agent 1 must be 1 to 65535; its address is "a:65536"`},
		{named(`"agents": ["a"]`), `the address of agent 0 must be host:port; it is "a"`},
		{named(`"agents": [":1"]`), `must be host:port; it is ":1"`},
		{named(`"agents": ["http://a:1"]`), `must be host:port; it is "http://a:1"`},
		{named(`"agents": ["a:http"]`), "the port of agent 0 must be 1 to 65535"},
		{named(`"agents": ["a:0"]`), "the port of agent 0 must be 1 to 65535"},
		{named(`"agents": ["a:1", "b:1", "A:01"]`), `0 and 2 both have "A:01"`},

		{named(`"agents": ["a:1", "", "", "d:1"]`),
			`agents 1 and 2 are neighbours, and neither has an address: one of them must have one, or "relay" ` +
				`must name a relay`},
		{named(`"agents": ["a:1", ""], "relay": "relay"`), `the address of the relay must be host:port; it is "relay"`},
		{named(`"agents": ["a:1", ""], "relay": "relay:0"`),
			`the port of the relay must be 1 to 65535; its address is "relay:0"`},
		{named(`"agents": 2, "address": ""`), "agents 0 and 1 are neighbours, and neither has an address"},

		{full(`, "quorum": 2`), `"quorum" and "absent_after" must be given both or neither`},
		{full(`, "absent_after": "10m"`), `"quorum" and "absent_after" must be given both or neither`},
		{full(`, "quorum": 1, "absent_after": "10m"`),
			`"quorum" must be more than half of the 2 agents and no more than all, so that no two parts of ` +
				`them go on; it is 1`},
		{full(`, "quorum": 3, "absent_after": "10m"`), "no more than all"},
		{full(`, "quorum": 2, "absent_after": "soon"`), `"absent_after" must be a time such as "10m"; it is "soon"`},
		{full(`, "quorum": 2, "absent_after": "-1s"`), `"absent_after" must be a time`},

		{full(`, "graph": "circle"`), `"graph" must be one of ring, complete, star`},
		{full(`, "graph": "g.json"`), `"graph" must be a name, not the file "g.json"`},
		{full(`, "graph": "ring", "edges": [[0, 1]]`), `"graph", "edges" and "W" are mutually exclusive`},
		{full(`, "edges": [[0, 2]]`), "graph file c.json: edge 0"},
		{full(`, "edges": [[0, null]]`), "null"},
		{full(`, "edges": []`), "c.json: "},
		{full(`, "W": [[1]]`), "c.json: "},
		{full(`, "weights": {"sequence": [[[1]]]}`), `"weights" must be lists of matrices for 2 agents`},
		{full(`, "weights": {"W": [[0.5, 0.5], [0.5, 0.5]]}`), `"weights" must be lists of matrices for 2 agents`},
		{full(`, "graph": "ring", "weights": {"sequence": [[[1]]]}`), `"weights" must stand without "graph"`},
		{full(`, "W": [[0.5, 0.5], [0.4, 0.6]]`), "c.json: "},
		{full(`, "W": [[0.5, 0.5], [0.5, 0.5]], "w": 0.5`), `"w" and "W" are mutually exclusive`},
		{full(`, "w": 1`), "it is 1"},
		{full(`, "prob": 0.5`), `"prob" is for the graph erdos-renyi alone`},
		{full(`, "graph": "erdos-renyi", "prob": 2`), "2"},

		{full(`, "flags": ["-agents=4"]`), `"flags": "-agents=4" is not allowed: "agents" of the file says it`},
		{full(`, "flags": ["-graph=star"]`), `"graph", "edges" or "W" of the file says it`},
		{full(`, "flags": ["-w=0"]`), `"w" of the file says it`},
		{full(`, "flags": ["--seed=2"]`), `"seed" of the file says it`},
		{full(`, "flags": ["-K", "20"]`), `"20" must have the form -name=value`},
		{full(`, "flags": ["-"]`), `"-" must have the form -name=value`},
	} {
		c, err := site.ParseCluster("c.json", []byte(tt.text), func(c *site.Cluster) error {
			if c.Task != "mnist" {
				return fmt.Errorf(`"task": no task %s`, c.Task)
			}
			return nil
		})
		if err == nil {
			t.Errorf("%s: no error; it must be %q; args %q", tt.text, tt.want, c.Args("g.json"))
			continue
		}
		if line := cli.OneLine(err); !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(line, tt.want) ||
			!strings.Contains(line, "c.json") || !strings.HasPrefix(line, "cluster file") ||
			strings.Contains(line, dsbo.ErrConfig.Error()) {
			t.Errorf("%s: error %v; it must have %q", tt.text, line, tt.want)
		}
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.json")
	if _, err := site.LoadCluster(path, nil); !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), path) {
		t.Errorf("a file that is not there: %v", err)
	}
	testkit.OK(os.WriteFile(path, []byte(full("")), 0o644))
	if c, err := site.LoadCluster(path, nil); err != nil || c.Run != "r" {
		t.Errorf("%+v, %v", c, err)
	}
}

func parse(t *testing.T, text string) *site.Cluster {
	t.Helper()
	return testkit.Get(site.ParseCluster("c.json", []byte(text), nil))
}

// What all must have the same changes the hash; addresses, the way in which things are said and the
// order of fields do not.
func TestHash(t *testing.T) {
	base := parse(t, full(`, "flags": ["-K=20", "-T=5"]`)).Hash()
	if len(base) != 64 {
		t.Errorf("hash %q: want 64 digits", base)
	}
	for _, same := range []string{
		full(`, "seed": 1, "w": 0.5, "flags": ["-K=20", "-T=5"], "graph": "ring"`),
		full(`, "W": [[0.5, 0.5], [0.5, 0.5]], "flags": ["-K=20", "-T=5"]`),
		full(`, "edges": [[1, 0]], "w": 0.5, "flags": ["-K=20", "-T=5"]`),
		`{"flags": ["-K=20", "-T=5"], "task": "mnist", "address": "10.0.0.{agent}:7000", "agents": 2, "run": "r"}`,
	} {
		if h := parse(t, same).Hash(); h != base {
			t.Errorf("%s: hash %s, want %s", same, h, base)
		}
	}
	seen := map[string]string{base: "the first"}
	for _, other := range []string{
		full(``),
		full(`, "flags": ["-K=20"]`),
		full(`, "flags": ["-T=5", "-K=20"]`),
		full(`, "flags": ["-K=20", "-T=5"], "seed": 2`),
		full(`, "flags": ["-K=20", "-T=5"], "w": 0.4`),
		full(`, "flags": ["-K=20", "-T=5"], "W": [[0.5, 0.5], [0.5, 0.5000000000000001]]`),
		`{"run": "r2", "task": "mnist", "agents": ["a:1", "b:1"], "flags": ["-K=20", "-T=5"]}`,
		`{"run": "r", "task": "synthetic", "agents": ["a:1", "b:1"], "flags": ["-K=20", "-T=5"]}`,
		named(`"agents": ["a:1", "b:1", "c:1"], "flags": ["-K=20", "-T=5"]`),
		named(`"agents": ["a:1", ""], "flags": ["-K=20", "-T=5"]`),
	} {
		h := parse(t, other).Hash()
		if seen[h] != "" {
			t.Errorf("%s has the hash of %s", other, seen[h])
		}
		seen[h] = other
	}
}

// Agents without addresses have neighbours that have one, or a relay, whose address does not matter
// to the hash.
func TestWithoutAddress(t *testing.T) {
	c := parse(t, named(`"agents": ["a:1", "", "c:1", ""], "graph": "ring"`))
	if c.Relay != "" || c.Addresses[1] != "" || c.Addresses[2] != "c:1" {
		t.Errorf("%+v", c)
	}
	one := parse(t, named(`"agents": ["a:1", "", ""], "relay": "relay:7443"`))
	other := parse(t, named(`"agents": ["a:1", "", ""], "relay": "10.0.0.1:1"`))
	if one.Relay != "relay:7443" || one.Hash() != other.Hash() {
		t.Errorf("%q, %s, %s", one.Relay, one.Hash(), other.Hash())
	}
}

func ExampleParse() {
	c, err := site.ParseCluster("cluster.json", []byte(`{
		"run": "mnist-8",
		"agents": 8, "address": "dsbo-{agent}.dsbo:7000",
		"graph": "ring", "w": 0.5,
		"seed": 1,
		"task": "mnist",
		"flags": ["-preset=tuned", "-K=20"]
	}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Run, c.Graph.Name, c.Graph.W.Neighbours(0), c.Addresses[7])
	fmt.Println(c.Task, strings.Join(c.Args(""), " "))
	// Output:
	// mnist-8 ring [1 7] dsbo-7.dsbo:7000
	// mnist -preset=tuned -K=20 -agents=8 -seed=1 -graph=ring -w=0.5
}
