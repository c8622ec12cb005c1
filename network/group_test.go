package network_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"

	"github.com/google/go-cmp/cmp"
)

// What agents find together before there is a problem does not depend on where they are, and counts
// the same.
func TestCollective(t *testing.T) {
	const n = 5
	w := testkit.Get(network.New("ring", n, network.Options{W: 0.5})).W
	find := func(team network.Team) (found [][]float64, texts []string, sent dsbo.Traffic, err error) {
		all := network.NewGroup(network.GroupConfig{N: n, Team: team, W: w, Sent: &sent}).Bound(t.Context())
		for length := range 3 {
			sum := make([]float64, length+1)
			err := all.Sum("", sum, func(i int, part []float64) error {
				for k := range part {
					part[k] += 0.1 * float64((k+1)*(i+1))
				}
				part[0] = float64(i) // whole
				return nil
			})
			if err != nil {
				return nil, nil, sent, err
			}
			found = append(found, sum)
		}
		texts, err = all.Texts("", func(i int) (string, error) { return strings.Repeat("é", i), nil })
		return found, texts, sent, err
	}
	want, wantTexts, wantSent, err := find(nil)
	testkit.OK(err)
	if want[0][0] != 10 || wantTexts[3] != "ééé" || wantSent.Bytes == 0 {
		t.Fatalf("sum %v and texts %q with %+v sent; they must be 10, é once for each agent before, and some", want,
			wantTexts, wantSent)
	}
	for _, locals := range [][][]int{{{0, 1}, {2, 3, 4}}, {{0}, {1}, {2}, {3}, {4}}} {
		teams, closeAll := networktest.Processes(w, locals...)
		testkit.OK(errors.Join(networktest.RunAll(len(teams), func(k int) error {
			got, texts, sent, err := find(teams[k])
			if diff := cmp.Diff(want, got) + cmp.Diff(wantTexts, texts) + cmp.Diff(wantSent, sent); err == nil &&
				diff != "" {
				err = fmt.Errorf("process %d: %s", k, diff)
			}
			return err
		})...))
		closeAll()
	}
}

// A sum that overflows, or has a term that is no number, is an error on all agents.
func TestCollectiveNotFinite(t *testing.T) {
	var sent dsbo.Traffic
	err := network.NewGroup(network.GroupConfig{N: 2, Team: nil, W: nil, Sent: &sent}).Bound(t.Context()).Sum("",
		make([]float64, 2), func(_ int, part []float64) error {
			part[1] = 1.5e308
			return nil
		})
	if err == nil || !strings.Contains(err.Error(), "sum 1 of 2 over all agents must be finite") {
		t.Errorf("error %v", err)
	}
}

// TestGatherTexts: each of two processes gets the texts of both.
func TestGatherTexts(t *testing.T) {
	teams, closeAll := networktest.Processes(newRing(2).W, []int{0}, []int{1})
	defer closeAll()
	for _, texts := range [][2]string{{"", ""}, {"a", ""}, {"abcd", "efghi"},
		{strings.Repeat("λ", 100), "\x00\xff\x00"}} {
		testkit.OK(errors.Join(networktest.RunAll(2, func(i int) error {
			all := make([]string, 2)
			all[i] = texts[i]
			err := network.NewGroup(network.GroupConfig{N: 2, Team: teams[i]}).GatherTexts(t.Context(), "", all)
			if err == nil && [2]string(all) != texts {
				t.Errorf("process %d has %q; it must have %q", i, all, texts)
			}
			return err
		})...))
	}
}

// Three agents of one process find the mean of a number each, over a star: one to each of two
// leaves, and back.
func ExampleGroup_MeanNumbers() {
	var sent dsbo.Traffic
	group := network.NewGroup(network.GroupConfig{N: 3, Sent: &sent, Average: network.AverageOptions{}})
	mean := make([]float64, 1)
	err := group.MeanNumbers(context.Background(), "numbers", mean, func(i int, part []float64) error {
		part[0] = float64(i)
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("mean %g by %d messages\n", mean[0], sent.Messages)
	// Output:
	// mean 1 by 4 messages
}

// Four agents on the paper's ring exchange their numbers until all hold the mean.
func Example() {
	g, err := network.New("ring", 4, network.Options{W: 0.5})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g)
	exchange := network.NewLocal(g.W)
	x := [][]float64{{0}, {4}, {8}, {0}}
	var agents sync.WaitGroup
	for i := range x {
		agents.Go(func() {
			for range 60 {
				if err := exchange.Mixer(i).Mix(context.Background(), x[i], x[i]); err != nil {
					fmt.Println(err)
					return
				}
			}
		})
	}
	agents.Wait()
	fmt.Println(x)
	// Output:
	// ring, 4 agents, ρ = 0.500000
	// [[3] [3] [3] [3]]
}

// Four agents on a ring find the mean of their vectors at once, each to the last bit, and know what
// that has cost.
func ExampleAverages() {
	g, err := network.New("ring", 4, network.Options{W: 0.5})
	if err != nil {
		fmt.Println(err)
		return
	}
	averages, err := network.NewAverages(network.NewLocal(g.W), g.W, network.AverageOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	x := [][]float64{{0, 1e9}, {4, 0.5}, {8, -1e9}, {0, 0.25}}
	sent := make([]dsbo.Traffic, len(x))
	var agents sync.WaitGroup
	for i := range x {
		agents.Go(func() {
			a := averages.Agent(i)
			if err := a.Average(context.Background(), dsbo.Named{Name: "x", Value: x[i]}); err != nil {
				fmt.Println(err)
			}
			sent[i] = a.Sent()
		})
	}
	agents.Wait()
	fmt.Println(x)
	fmt.Printf("agent 0 sent %d messages with %d numbers in %d bytes\n", sent[0].Messages,
		sent[0].Floats, sent[0].Bytes)
	// Output:
	// [[3 0.1875] [3 0.1875] [3 0.1875] [3 0.1875]]
	// agent 0 sent 2 messages with 4 numbers in 128 bytes
}
