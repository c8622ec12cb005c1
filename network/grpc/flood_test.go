package grpc

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/network"
)

// TestFloodReachesAll plays the plans of all agents against each other: who sends a row knows it, what comes is what
// is expected, each agent learns each row once and by a shortest way, and no step is one too many.
func TestFloodReachesAll(t *testing.T) {
	for _, c := range []struct {
		graph string
		sizes []int
	}{
		{"ring", []int{1, 2, 3, 4, 5, 8, 9}}, {"path", []int{1, 2, 3, 6}}, {"star", []int{1, 2, 3, 7}}, {"complete", []int{1, 2, 6}},
		{"server", []int{1, 2, 4}}, {"hypercube", []int{1, 8}}, {"torus", []int{9, 12}}, {"exponential", []int{1, 5, 16}}, {"erdos-renyi", []int{1, 16, 40}},
	} {
		for _, n := range c.sizes {
			t.Run(fmt.Sprintf("%s%d", c.graph, n), func(t *testing.T) {
				g, err := network.New(c.graph, n, network.Options{Seed: 1})
				if err != nil {
					t.Fatal(err)
				}
				steps := playFlood(t, g.W)
				if d := diameter(g.W); steps != d {
					t.Errorf("%d steps; they must be the diameter %d", steps, d)
				}
			})
		}
	}
}

// playFlood returns the number of steps.
func playFlood(t *testing.T, w *network.Matrix) int {
	t.Helper()
	n := w.N()
	plans := make([]*flood, n)
	known := make([][]bool, n)
	for i := range plans {
		var err error
		if plans[i], err = newFlood(w, i); err != nil {
			t.Fatal(err)
		}
		known[i] = make([]bool, n)
		known[i][i] = true
	}
	steps, widest := len(plans[0].send), 1
	for s := range steps {
		learned := 0
		var news [][2]int // who, and whose row
		for i, p := range plans {
			if len(p.send) != steps || len(p.sizes) != steps || len(p.learn) != steps {
				t.Fatalf("agent %d has %d steps; it must be %d as agent 0", i, len(p.send), steps)
			}
			widest = max(widest, len(p.send[s]))
			if !slices.IsSorted(p.send[s]) {
				t.Errorf("step %d: agent %d sends %v; they must be ascending", s, i, p.send[s])
			}
			for _, a := range p.send[s] {
				if !known[i][a] {
					t.Errorf("step %d: agent %d sends the row of agent %d, which it has not learned", s, i, a)
				}
			}
			for k, j := range w.Neighbours(i) {
				if got, want := p.sizes[s][k], len(plans[j].send[s]); got != want {
					t.Errorf("step %d: agent %d expects %d rows from agent %d, which sends %d", s, i, got, j, want)
				}
			}
			for _, l := range p.learn[s] {
				j := w.Neighbours(i)[l.neighbour]
				if got := plans[j].send[s][l.position]; got != l.agent || known[i][l.agent] {
					t.Errorf("step %d: agent %d learns the row of agent %d from agent %d, who sends that of %d; known before: %v",
						s, i, l.agent, j, got, known[i][l.agent])
				}
				news = append(news, [2]int{i, l.agent})
			}
			learned += len(p.learn[s])
		}
		if learned == 0 {
			t.Errorf("nobody learns anything in step %d of %d", s, steps)
		}
		for _, l := range news { // what comes in a step can be sent in the next one
			known[l[0]][l[1]] = true
		}
	}
	for i, p := range plans {
		if slices.Contains(known[i], false) {
			t.Errorf("agent %d knows %v after %d steps; it must know all", i, known[i], steps)
		}
		if p.widest != widest {
			t.Errorf("agent %d takes %d for the most rows in one step; it must be %d", i, p.widest, widest)
		}
	}
	return steps
}

// diameter is that of the graph, by the algorithm of Floyd and Warshall.
func diameter(w *network.Matrix) int {
	n := w.N()
	far := make([][]int, n)
	for i := range far {
		far[i] = slices.Repeat([]int{n}, n)
		far[i][i] = 0
		for _, j := range w.Neighbours(i) {
			far[i][j] = 1
		}
	}
	most := 0
	for k := range n {
		for i := range n {
			for j := range n {
				far[i][j] = min(far[i][j], far[i][k]+far[k][j])
			}
		}
	}
	for _, row := range far {
		most = max(most, slices.Max(row))
	}
	return most
}

func TestFloodNeedsAWay(t *testing.T) {
	w, err := network.NewMatrix([][]float64{{0.5, 0.5, 0}, {0.5, 0.5, 0}, {0, 0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = newFlood(w, 1)
	if want := "no path of edges leads from agent 0 to agent 2"; !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v must match dsbo.ErrConfig and have %q", err, want)
	}
}
