package cluster_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo"
	"dsbo/cluster"
	"dsbo/internal/cli"
	"dsbo/network"
)

// full is a file with two agents and whatever else.
func full(more string) string {
	return `{"run": "r", "task": "mnist", "agents": ["a:1", "b:1"]` + more + `}`
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		addresses  []string
		args       []string
	}{
		{
			"defaults", full(""), []string{"a:1", "b:1"},
			[]string{"-agents=2", "-seed=1", "-graph=ring", "-w=0.5"},
		},
		{
			"all of it", full(`, "graph": "star", "w": 0, "seed": 18446744073709551615, "flags": ["-K=20", "--T=3"]`), []string{"a:1", "b:1"},
			[]string{"-K=20", "--T=3", "-agents=2", "-seed=18446744073709551615", "-graph=star", "-w=0"},
		},
		{
			"a random graph", full(`, "graph": "erdos-renyi", "prob": 0.25`), []string{"a:1", "b:1"},
			[]string{"-agents=2", "-seed=1", "-graph=erdos-renyi", "-w=0", "-prob=0.25"},
		},
		{
			"edges", full(`, "edges": [[0, 1]], "w": 0.25`), []string{"a:1", "b:1"},
			[]string{"-agents=2", "-seed=1", "-graph=g.json"},
		},
		{
			"a matrix", full(`, "W": [[0.5, 0.5], [0.5, 0.5]]`), []string{"a:1", "b:1"},
			[]string{"-agents=2", "-seed=1", "-graph=g.json"},
		},
		{
			"a rule for hosts", `{"agents": 3, "address": "dsbo-{agent}.dsbo:7000", "run": "r", "task": "synthetic"}`,
			[]string{"dsbo-0.dsbo:7000", "dsbo-1.dsbo:7000", "dsbo-2.dsbo:7000"},
			[]string{"-agents=3", "-seed=1", "-graph=ring", "-w=0.5"},
		},
		{
			"a rule for ports", `{"agents": 2, "address": "[::1]:{7000+agent}", "run": "r", "task": "synthetic"}`,
			[]string{"[::1]:7000", "[::1]:7001"},
			[]string{"-agents=2", "-seed=1", "-graph=ring", "-w=0.5"},
		},
		{
			"one agent needs no braces", `{"agents": 1, "address": "a:7000", "run": "r", "task": "synthetic"}`,
			[]string{"a:7000"}, []string{"-agents=1", "-seed=1", "-graph=ring", "-w=0.5"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := cluster.Parse("c.json", []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.addresses, c.Addresses); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.args, c.Args("g.json")); diff != "" {
				t.Error(diff)
			}
			if c.Graph.W.N() != len(tt.addresses) {
				t.Errorf("a graph of %d agents", c.Graph.W.N())
			}
		})
	}
}

// The graph of a file with edges or a matrix goes through a graph file without losing a bit.
func TestGraphFile(t *testing.T) {
	for _, text := range []string{
		`{"agents": 3, "address": "a{agent}:1", "run": "r", "task": "mnist", "edges": [[0, 1], [1, 2]]}`,
		`{"agents": 3, "address": "a{agent}:1", "run": "r", "task": "mnist", "W": [[0.7, 0.3, 0], [0.3, 0.4, 0.3], [0, 0.3, 0.7]]}`,
	} {
		c := parse(t, text)
		g, err := network.Parse("g.json", c.GraphFile(), 0)
		if err != nil {
			t.Fatal(err)
		}
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
		{``, "want a JSON object {...}"},
		{`[]`, "want a JSON object {...}"},
		{`{"run": "r"`, "the file ends early"},
		{`{"run": "r",}`, "at byte 12"},
		{full("") + `{}`, "something follows the object"},
		{full(`, "Run": "s"`), `unknown field "Run", want one of run, agents,`},
		{full(`, "run": "s"`), `field "run" is given twice`},
		{full(`, "seed": null`), `field "seed": found null, want a whole number`},
		{full(`, "seed": -1`), `field "seed": found number -1, want a whole number from 0 on`},
		{full(`, "seed": "1"`), `field "seed": found string, want a whole number`},
		{full(`, "flags": "-K=20"`), `field "flags": found string, want flags`},
		{full(`, "flags": ["-K=20", null]`), `field "flags": entry 1 is null`},
		{full(`, "graph": 4`), `field "graph": found number, want the name of a graph`},

		{`{"task": "mnist", "agents": ["a:1"]}`, `no "run"`},
		{`{"run": "", "task": "mnist", "agents": ["a:1"]}`, `"run" "": want 1 to 64 letters`},
		{`{"run": "../x", "task": "mnist", "agents": ["a:1"]}`, `"run" "../x": want`},
		{`{"run": "r", "agents": ["a:1"]}`, `no "task", want one of mnist, synthetic`},
		{`{"run": "r", "task": "cifar", "agents": ["a:1"]}`, `"task" "cifar" is unknown, want one of mnist, synthetic`},

		{`{"run": "r", "task": "mnist"}`, `no "agents"`},
		{`{"run": "r", "task": "mnist", "agents": []}`, `"agents" names none, want 1 to 1024`},
		{`{"run": "r", "task": "mnist", "agents": 2}`, `there is no "address"`},
		{`{"run": "r", "task": "mnist", "agents": 2.5}`, `field "agents": found number 2.5, want addresses`},
		{`{"run": "r", "task": "mnist", "agents": {}}`, `field "agents": found object, want addresses`},
		{`{"run": "r", "task": "mnist", "agents": 0, "address": "a{agent}:1"}`, "0 agents, want 1 to 1024"},
		{`{"run": "r", "task": "mnist", "agents": 1025, "address": "a{agent}:1"}`, "1025 agents, want 1 to 1024"},
		{`{"run": "r", "task": "mnist", "agents": ["a:1"], "address": "a:1"}`, `both the addresses in "agents" and the rule "address"`},
		{`{"run": "r", "task": "mnist", "agents": 2, "address": "a:1"}`, `agents 0 and 1 have the same address "a:1"`},
		{`{"run": "r", "task": "mnist", "agents": 2, "address": "a{i}:1"}`, `{i}: want {agent} or {7000+agent}`},
		{`{"run": "r", "task": "mnist", "agents": 2, "address": "a:{x+agent}"}`, `{x+agent}: want {agent} or {7000+agent}`},
		{`{"run": "r", "task": "mnist", "agents": 2, "address": "a{agent:1"}`, "a { without }"},
		{`{"run": "r", "task": "mnist", "agents": 2, "address": "a}:1"}`, "a } without {"},
		{`{"run": "r", "task": "mnist", "agents": 2, "address": "a:{65535+agent}"}`, `address "a:65536" of agent 1: port "65536", want 1 to 65535`},
		{`{"run": "r", "task": "mnist", "agents": ["a"]}`, `address "a" of agent 0: want host:port`},
		{`{"run": "r", "task": "mnist", "agents": [":1"]}`, `address ":1" of agent 0: want host:port`},
		{`{"run": "r", "task": "mnist", "agents": ["http://a:1"]}`, `address "http://a:1" of agent 0: want host:port`},
		{`{"run": "r", "task": "mnist", "agents": ["a:http"]}`, `port "http", want 1 to 65535`},
		{`{"run": "r", "task": "mnist", "agents": ["a:0"]}`, `port "0", want 1 to 65535`},
		{`{"run": "r", "task": "mnist", "agents": ["a:1", "b:1", "A:01"]}`, `agents 0 and 2 have the same address "A:01"`},

		{full(`, "graph": "circle"`), `"graph" "circle" is unknown, want one of ring, complete, star`},
		{full(`, "graph": "g.json"`), `"graph" "g.json" is a file, want its "edges" or "W" in this one`},
		{full(`, "graph": "ring", "edges": [[0, 1]]`), `more than one of "graph", "edges" and "W"`},
		{full(`, "edges": [[0, 2]]`), "cluster file: graph file c.json: "},
		{full(`, "edges": [[0, null]]`), "null"},
		{full(`, "edges": []`), "c.json: "},
		{full(`, "W": [[1]]`), "c.json: "},
		{full(`, "W": [[0.5, 0.5], [0.4, 0.6]]`), "c.json: "},
		{full(`, "W": [[0.5, 0.5], [0.5, 0.5]], "w": 0.5`), `"w" is 0.5 beside "W"`},
		{full(`, "w": 1`), "w = 1"},
		{full(`, "prob": 0.5`), `"prob" is 0.5, want it for the graph erdos-renyi alone`},
		{full(`, "graph": "erdos-renyi", "prob": 2`), "2"},

		{full(`, "flags": ["-out=x"]`), `"-out=x" has no place here: it is for a run on one machine`},
		{full(`, "flags": ["--resume"]`), `"--resume" has no place here: it is for a run on one machine`},
		{full(`, "flags": ["-force"]`), "has no place here"},
		{full(`, "flags": ["-transport=mpi"]`), "has no place here"},
		{full(`, "flags": ["-agents=4"]`), `"-agents=4" has no place here: "agents" of the file says it`},
		{full(`, "flags": ["-graph=star"]`), `"graph", "edges" or "W" of the file says it`},
		{full(`, "flags": ["-w=0"]`), `"w" of the file says it`},
		{full(`, "flags": ["-seed=2"]`), `"seed" of the file says it`},
		{full(`, "flags": ["-K", "20"]`), `"20", want -name=value`},
		{full(`, "flags": ["-"]`), `"-", want -name=value`},
		{full(`, "flags": ["-K=x"]`), `"flags": invalid value "x" for flag -K`},
		{full(`, "flags": ["-r=1"]`), "not defined: -r"},
		{full(`, "flags": ["-K=0"]`), `"flags": -K 0: want at least 1`},
		{full(`, "flags": ["-algorithm=zz"]`), `"flags": -algorithm: algorithm "zz" is unknown`},
		{full(`, "flags": ["-model=zz"]`), `"flags": -model zz: want one of softmax`},
		{full(`, "flags": ["-beta=-1"]`), "beta"},
		{full(`, "flags": ["-h"]`), "help is not a setting, want flags of mnist"},
	} {
		c, err := cluster.Parse("c.json", []byte(tt.text))
		if err == nil {
			t.Errorf("%s: no error, want %q; args %q", tt.text, tt.want, c.Args("g.json"))
			continue
		}
		if line := cli.OneLine(err); !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(line, tt.want) ||
			!strings.Contains(line, "c.json") || !strings.HasPrefix(line, "cluster file") || strings.Contains(line, dsbo.ErrConfig.Error()) {
			t.Errorf("%s: %v, want %q", tt.text, line, tt.want)
		}
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.json")
	if _, err := cluster.Load(path); !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), path) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.WriteFile(path, []byte(full("")), 0o644); err != nil {
		t.Fatal(err)
	}
	if c, err := cluster.Load(path); err != nil || c.Run != "r" {
		t.Errorf("%+v, %v", c, err)
	}
}

func parse(t *testing.T, text string) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Parse("c.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What all must have the same changes the hash; addresses, the way in which things are said and the order of fields do not.
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
		`{"run": "r", "task": "mnist", "agents": ["a:1", "b:1", "c:1"], "flags": ["-K=20", "-T=5"]}`,
	} {
		h := parse(t, other).Hash()
		if seen[h] != "" {
			t.Errorf("%s has the hash of %s", other, seen[h])
		}
		seen[h] = other
	}
}

func ExampleParse() {
	c, err := cluster.Parse("cluster.json", []byte(`{
		"run": "mnist-8",
		"agents": 8, "address": "dsbo-{agent}.dsbo:7000",
		"graph": "ring", "w": 0.5,
		"seed": 1,
		"task": "mnist",
		"flags": ["-preset=tuned", "-K=20"]
	}`))
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
