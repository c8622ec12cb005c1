package experiment

import (
	"errors"
	"strings"
	"testing"

	"dsbo"
	"dsbo/network"
)

func TestGreetingsThatDiffer(t *testing.T) {
	first := greeting{
		Task: "mnist", Flags: []string{"-K=6", "-seed=1"},
		Program: network.Program{Version: "v1.0.0", Kernels: "generic", Architecture: "amd64"},
	}
	for _, tt := range []struct {
		name   string
		change func(g *greeting)
		want   string // "": they agree
	}{
		{"equal", func(*greeting) {}, ""},
		{"task", func(g *greeting) { g.Task = "synthetic" }, "process of agent 3 runs synthetic, that of agent 0 mnist"},
		{"value", func(g *greeting) { g.Flags = []string{"-K=6", "-seed=5"} }, "process of agent 3 runs with -seed 5, that of agent 0 with -seed 1"},
		{"missing", func(g *greeting) { g.Flags = []string{"-seed=1"} }, "process of agent 3 runs with no -K, that of agent 0 with -K 6"},
		{"more", func(g *greeting) { g.Flags = append(g.Flags, "-w=0") }, "process of agent 3 runs with -w 0, that of agent 0 with no -w"},
		{"kernels", func(g *greeting) { g.Program.Kernels = "avx2" },
			"process of agent 3 does not compute as that of agent 0 does: it is amd64 with kernels avx2, that amd64 with kernels generic"},
		{"version", func(g *greeting) { g.Program.Version = "v1.1.0" }, "process of agent 3 is of version v1.1.0, that of agent 0 of v1.0.0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := first
			g.Flags = append([]string{}, first.Flags...)
			tt.change(&g)
			err := g.agrees(3, first)
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
