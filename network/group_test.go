package network_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
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
