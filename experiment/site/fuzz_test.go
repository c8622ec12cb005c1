package site

import (
	"errors"
	"net"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/cli"
)

// A file of any bytes is read, or refused in one line that names it. What is read has an address
// for each agent and the same hash whoever reads it.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"run": "mnist-8", "agents": ["host-0:7000", "host-1:7000"], "graph": "ring", "w": 0.5, "seed": 1, ` +
			`"task": "mnist", "flags": ["-preset=tuned", "-K=20"]}`,
		`{"run": "r", "agents": 8, "address": "dsbo-{agent}.dsbo:{7000+agent}", "task": "synthetic", "graph": ` +
			`"erdos-renyi", "prob": 0.5}`,
		`{"run": "r", "agents": 3, "address": "[::1]:{1+agent}", "task": "synthetic", "edges": [[0, 1], [1, ` +
			`2]], "w": 0}`,
		`{"run": "r", "agents": ["a:1", "", ""], "relay": "b:1", "task": "synthetic"}`,
		`{"run": "r", "agents": ["a:1", "b:1"], "task": "synthetic", "W": [[0.5, 0.5], [0.5, 0.5]], "flags": ` +
			`["-set=clip=[-1,1]", "-h"]}`,
		`{"run": null, "run": 1, "agents": {}, "x": 0} {`,
		`{"agents": 1e3, "flags": ["-resume", "-data={"], "seed": 1.5`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if file, err := parseFields(data); err == nil {
			if all, err := file.addresses(); err == nil && len(all) > 16 {
				return // the spectrum takes O(n³)
			}
		}
		c, err := ParseCluster("fuzz.json", data, nil)
		if err != nil {
			if line := cli.OneLine(err); !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(line, "fuzz.json") ||
				strings.Contains(line, "\n") {
				t.Fatalf("%q", line)
			}
			return
		}
		if c.Graph.W.N() != len(c.Addresses) || c.Graph.W.Validate() != nil {
			t.Fatalf("a graph of %d agents for %d addresses: %v", c.Graph.W.N(), len(c.Addresses), c.Graph.W.Validate())
		}
		for i, a := range c.Addresses {
			if _, _, err := net.SplitHostPort(a); a != "" && (err != nil || slices.Index(c.Addresses, a) != i) {
				t.Fatalf("address %d of %q: %v", i, c.Addresses, err)
			}
		}
		again, err := ParseCluster("again.json", append([]byte(" \n"), data...), nil)
		if err != nil || again.Hash() != c.Hash() {
			t.Fatalf("read again: %v", err)
		}
	})
}
