package network_test

import (
	"encoding/json"
	"errors"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"

	"github.com/google/go-cmp/cmp"
)

func TestParseRefused(t *testing.T) {
	for _, c := range []struct {
		data string
		w    float64
		want string
	}{
		{``, 0, "it must be a JSON object"},
		{`[]`, 0, "it must be a JSON object"},
		{`{`, 0, "at byte 1: the file ends early"},
		{`{"agents": 2, "edges": [[0,1]]`, 0, "at byte 30: the file ends early"},
		{`{"agents": 2, "edges": [[0,1`, 0, "the file ends early"},
		{`{"agents": 2; "edges": [[0,1]]}`, 0, "invalid character ';'"},
		{`{"agents": 2, "edges": [[0,1]]} {}`, 0, "it must be one object alone; something follows"},
		{`{"agents": 2, "edges": [[0,1]], "weights": 3}`, 0,
			`field "weights" is not known; it must be one of agents, edges, W`},
		{`{"w": [[1]]}`, 0, `field "w" is not known`},
		{`{"agents": 2, "agents": 2, "edges": [[0,1]]}`, 0, `field "agents" must be given once; it is given twice`},
		{`{"agents": null, "edges": []}`, 0, `field "agents" must be a whole number; it is null`},
		{`{"W": [[1, null], [0, 1]]}`, 0, `field "W" must be rows of numbers, [[0.5, 0.5], ...]; it holds null`},
		{`{"agents": 2.5, "edges": []}`, 0, `field "agents" must be a whole number; it is 2.5`},
		{`{"agents": 2, "edges": [[0, "1"]]}`, 0,
			`field "edges" must be pairs of whole numbers, [[0, 1], ...]; it is of type string`},
		{`{"W": [[1e999]]}`, 0, `field "W" must be rows of numbers, [[0.5, 0.5], ...]; it is 1e999`},
		{`{}`, 0, `one of "edges" and "W" must be given; neither is`},
		{`{"edges": [[0,1]]}`, 0, `"agents" must be given beside "edges"`},
		{`{"W": [[1]], "edges": []}`, 0, `one of "edges" and "W" must be given; both are`},
		{`{"W": [[1]], "agents": 2}`, 0, `"agents" must be the number of rows of "W", 1; it is 2`},
		{`{"W": [[1]]}`, 0.5, `self weight w must be 0 where the file gives "W"; it is 0.5`},
		{`{"W": []}`, 0, "must have 1 to 10000 agents; it has 0"},
		{`{"W": [[0.5, 0.5], [0.5]]}`, 0, "row 1 of W must have 2 entries"},
		{`{"W": [[0.5, 0.5], [0.5, 0.4]]}`, 0, "row 1 of W must sum to 1; it sums to 0.9"},
		{`{"agents": 3, "edges": [[0, 1, 2]]}`, 0, "edge 0, [0 1 2]: an edge must have 2 ends; it has 3"},
		{`{"agents": 3, "edges": [[0, 1], [1, 1]]}`, 0, "edge 1, [1, 1]: its ends must be two agents"},
		{`{"agents": 1000000000, "edges": []}`, 0, "must have 1 to 10000 agents; it has 1000000000"},
	} {
		_, err := network.Parse("g.json", []byte(c.data), c.w)
		testkit.WantError(t, c.data, err, dsbo.ErrConfig, "graph file g.json: ")
		testkit.WantError(t, c.data, err, dsbo.ErrConfig, c.want)
	}
}

// FuzzParse holds the reader to its word: what it accepts is valid and its own W, written
// down again, reads back.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"agents": 4, "edges": [[0, 1], [1, 2], [2, 3], [3, 0]]}`,
		`{"agents": 1, "edges": []}`,
		`{"W": [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]}`,
		`{"agents": 2, "W": [[0.7, 0.3], [0.3, 0.7]]}`,
		`{"agents": 3, "edges": [[0, 0], [1, 9]]} x`,
		`{"W": [[1, null], [-1, 1e999]], "W": 0}`,
	} {
		f.Add([]byte(seed), 0.0)
	}
	f.Add([]byte(`{"agents": 3, "edges": [[0, 1], [1, 2], [2, 0]]}`), 0.5)
	f.Fuzz(func(t *testing.T, data []byte, w float64) {
		g, err := network.Parse("g.json", data, w)
		if err != nil {
			if !errors.Is(err, dsbo.ErrConfig) {
				t.Errorf("error %v is not dsbo.ErrConfig", err)
			}
			return
		}
		if err := g.W.Validate(); err != nil {
			t.Errorf("accepted an invalid W: %v", err)
		}
		text := testkit.Get(json.Marshal(map[string]any{"agents": g.W.N(), "W": g.W.Dense()}))
		again, err := network.Parse("again.json", text, 0)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if d := cmp.Diff(g.W.Dense(), again.W.Dense()); d != "" {
			t.Errorf("W read back (-first +again):\n%s", d)
		}
	})
}
