package network_test

import (
	"errors"
	"strings"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
)

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
