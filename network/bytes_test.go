package network_test

import (
	"errors"
	"strings"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
)

// TestGatherBytes: each of two processes gets the texts of both.
func TestGatherBytes(t *testing.T) {
	teams, closeAll := networktest.Processes(newRing(2).W, []int{0}, []int{1})
	defer closeAll()
	for _, texts := range [][2]string{{"", ""}, {"a", ""}, {"abcd", "efghi"},
		{strings.Repeat("λ", 100), "\x00\xff\x00"}} {
		testkit.OK(errors.Join(networktest.RunAll(2, func(i int) error {
			all, err := network.GatherBytes(t.Context(), teams[i], 2, func(int) []byte { return []byte(texts[i]) })
			if err == nil && (len(all) != 2 || string(all[0]) != texts[0] || string(all[1]) != texts[1]) {
				t.Errorf("process %d has %q; it must have %q", i, all, texts)
			}
			return err
		})...))
	}
}
