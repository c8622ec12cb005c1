package network_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
)

// TestListsAreChecked: what is wrong with lists of weights is named.
func TestListsAreChecked(t *testing.T) {
	const good = `[[0.5, 0, 0.5], [0.5, 0.5, 0], [0, 0.5, 0.5]]` // a circle in one direction
	for _, c := range []struct{ data, want string }{
		{`{"pull": [` + good + `]}`, "weights to pull and to push; it has 1 and 0"},
		{`{"pull": [` + good + `], "push": [[[1]]]}`, "push[0] must have 3 agents, as the first has; it has 1"},
		{`{"pull": [[[0.5, 0.5], [0.2, 0.7]]], "push": [[[1, 0], [0, 1]]]}`,
			"row 1 of pull[0] must sum to 1; it sums to 0.8999"},
		{`{"pull": [` + good + `], "push": [[[0.5, 0.5, 0], [0.2, 0.5, 0], [0.3, 0.1, 1]]]}`,
			"column 1 of push[0] must sum to 1; it sums to 1.1"},
		{`{"pull": [[[0, 1], [1, 0]]], "push": [[[1]]]}`, "pull[0][0][0] must be finite, at least 0, and positive"},
		{`{"pull": [[[1, 0], [0.5, 0.5]]], "push": [[[1, 0], [0, 1]]]}`,
			"strongly connected; no path leads from agent 1 to agent 0"},
		{`{"sequence": []}`, "must have one matrix at least"},
		{`{"sequence": [` + good + `]}`, "sequence[0] must be symmetric"},
		{`{"sequence": [[[1, 0], [0, 1]]]}`, "no path leads from agent 0 to agent 1"},
		{`{"sequence": [[[1]]], "W": [[1]]}`, "must stand without other weights"},
		{`{"sequence": [[[1]]], "agents": 2}`, `"agents" must be the number of rows of the weights, 1; it is 2`},
	} {
		_, err := network.Parse("g.json", []byte(c.data), 0)
		testkit.WantError(t, c.data, err, dsbo.ErrConfig, c.want)
	}
	g := testkit.Get(network.Parse("g.json", []byte(`{"pull": [`+good+`], "push": [`+good+`]}`), 0))
	if x, ok := g.W.Mixing().(*network.Listed); !ok || !x.Directed() || g.W.N() != 3 || len(g.W.Neighbours(0)) != 2 {
		t.Errorf("a circle in one direction is %v", g)
	}
}

// TestChangingWeightsAreDoublyStochastic: matchings and edges that fail keep the sum over the
// agents, leave it to the same draws on all, and change with the iteration and the seed.
func TestChangingWeightsAreDoublyStochastic(t *testing.T) {
	const n = 9
	for _, text := range []string{"failing:0.4", "matchings"} {
		x := testkit.Get(network.ParseMixing(text))
		w := testkit.Get(testkit.Get(network.New("torus", n, network.Options{})).W.WithMixing(x))
		var columns [][]float64 // of the weights of an iteration, over iterations and seeds
		for _, seed := range []uint64{1, 2} {
			for k := range 6 {
				sum := make([]float64, n)
				all := weightsOf(t, w, seed, k)
				for i, row := range all {
					total := 0.0
					for j, v := range row {
						if v != all[j][i] || v < 0 || v != 0 && i != j && !slices.Contains(w.Neighbours(i), j) {
							t.Errorf("%s, iteration %d: weight %d, %d is %v, and %v", text, k, i, j, v, all[j][i])
						}
						total += v
						sum[j] += v
					}
					if math.Abs(total-1) > 1e-15*n {
						t.Errorf("%s, iteration %d: row %d sums to %v", text, k, i, total)
					}
					columns = append(columns, row)
				}
				if again := weightsOf(t, w, seed, k); !slices.EqualFunc(again, all, slices.Equal) {
					t.Errorf("%s, iteration %d: other weights when asked again", text, k)
				}
			}
		}
		distinct := map[string]bool{}
		for at := 0; at < len(columns); at += n {
			distinct[fmt.Sprint(columns[at:at+n])] = true
		}
		if len(distinct) < 11 {
			t.Errorf("%s: %d of 12 graphs differ", text, len(distinct))
		}
	}
}

// weightsOf returns the weights of an iteration, of which a Mix of unit vectors is the columns.
func weightsOf(t *testing.T, w *network.Matrix, seed uint64, k int) [][]float64 {
	t.Helper()
	local := network.NewLocal(w)
	defer local.Close()
	averages := testkit.Get(network.NewAverages(local, w, network.AverageOptions{Seed: seed}))
	all := zeros(w.N(), w.N())
	testkit.OK(errors.Join(networktest.RunAll(w.N(), func(i int) error {
		all[i][i] = 1
		end := averages.Agent(i)
		end.Begin(2 * uint64(k))
		return end.Mix(t.Context(), all[i], all[i])
	})...))
	return all
}
