package network_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"

	"dsbo"
	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/internal/wording"
	"dsbo/network"
	"dsbo/network/membership"
)

func TestThisProgram(t *testing.T) {
	p := network.ThisProgram()
	if p.Messages != wording.MessagesVersion || p.Numbers != wording.NumbersVersion ||
		p.Kernels != kernel.Active().String() || p.Architecture != runtime.GOARCH ||
		p.Arithmetic != linalg.ArithmeticDigest() {
		t.Errorf("this program is %+v; its kernels must be %v, its architecture %s, its digest %s", p, kernel.Active(),
			runtime.GOARCH, linalg.ArithmeticDigest())
	}
	if runtime.GOARCH == "amd64" && p.Level == "" {
		t.Error("the level of amd64 must be known")
	}
}

func TestMixable(t *testing.T) {
	own := network.Program{Messages: 2, Numbers: 3, Version: "v1.0.0",
		Kernels: "avx2", Architecture: "amd64", Level: "v1", Arithmetic: "a1"}
	other := func(change func(p *network.Program)) network.Program {
		p := own
		change(&p)
		return p
	}
	plain := network.Program{Messages: 2, Numbers: 3,
		Kernels: "generic", Architecture: "amd64", Level: "v1", Arithmetic: "b2"}
	const remedy = ": DSBO_KERNEL must choose kernels that all machines of a run have (generic: every machine has them)"
	for _, c := range []struct {
		name       string
		own, other network.Program
		err        string
	}{
		{"the same", own, own, ""},
		{"an unknown version", own, other(func(p *network.Program) { p.Version = "" }), ""},
		{"the same bits by other kernels", own, other(func(p *network.Program) { p.Kernels = "avx512" }), ""},
		{"the same bits at another level", own, other(func(p *network.Program) { p.Level = "v3" }), ""},
		{"the same bits on another architecture", plain,
			network.Program{Messages: 2, Numbers: 3, Kernels: "generic", Architecture: "arm64", Level: "v8.0",
				Arithmetic: "b2"}, ""},
		{"another version", own, other(func(p *network.Program) { p.Version = "v1.0.1" }), ""},
		{"other messages", own, other(func(p *network.Program) { p.Messages, p.Version = 1, "v0.9.0" }),
			`agent 3 has version 2 of messages, agent 0 version 1: programs of a run must have the same (one is ` +
				`"v1.0.0", the other one "v0.9.0")`},
		{"other numbers", own, other(func(p *network.Program) { p.Numbers = 4 }),
			`agent 3 has version 3 of numbers, agent 0 version 4: programs of a run must have the same (one is ` +
				`"v1.0.0", the other one "v1.0.0")`},
		{"other kernels", own, plain,
			"agent 3 does not compute as agent 0 does: it is amd64 v1 with kernels avx2, that amd64 v1 with " +
				"kernels generic" + remedy},
		{"another level", own, other(func(p *network.Program) { p.Level, p.Arithmetic = "v3", "c3" }),
			"agent 3 does not compute as agent 0 does: it is amd64 v1 with kernels avx2, that amd64 v3 with " +
				"kernels avx2" + remedy},
		{"another architecture", plain,
			network.Program{Messages: 2, Numbers: 3, Kernels: "generic", Architecture: "arm64", Level: "v8.0",
				Arithmetic: "c3"},
			"agent 3 does not compute as agent 0 does: it is amd64 v1 with kernels generic, that arm64 v8.0 with " +
				"kernels generic" + remedy},
		{"another compiler", own, other(func(p *network.Program) { p.Arithmetic = "c3" }),
			"agent 3 does not compute as agent 0 does: it is amd64 v1 with kernels avx2, as that is, but a small " +
				"computation has the digest a1, there c3: " +
				"all processes of a run must be one program by one compiler"},
	} {
		err := c.own.Mixable("agent 3", "agent 0", c.other)
		if c.err == "" && err == nil {
			continue
		}
		if !errors.Is(err, dsbo.ErrConfig) || err.Error() != c.err {
			t.Errorf("%s: error %q must match dsbo.ErrConfig and be %q", c.name, err, c.err)
		}
	}
}

func TestKinds(t *testing.T) {
	seen := map[int]error{}
	for _, kind := range []error{network.ErrClosed, network.ErrSilent, dsbo.ErrPeer, dsbo.ErrConfig, dsbo.ErrShape,
		dsbo.ErrDiverged,
		dsbo.ErrCapability, context.Canceled, context.DeadlineExceeded} {
		n := network.Kind(fmt.Errorf("agent 3: %w", kind))
		if got := network.ErrorOfKind(n); n == 0 || got != kind || seen[n] != nil {
			t.Errorf("%q has number %d, which stands for %v; it must be a number of its own that stands for it", kind,
				n, got)
		}
		seen[n] = kind
	}
	if n := network.Kind(errors.New("disk full")); n != 0 {
		t.Errorf("any error has number %d; it must be 0", n)
	}
	for _, n := range []int{-1, 0, len(seen) + 1} {
		if err := network.ErrorOfKind(n); err != nil {
			t.Errorf("number %d stands for %v; it must be nil", n, err)
		}
	}
}

func epoch(members []int, edges, cut [][2]int) membership.Epoch {
	return membership.Epoch{Number: 1, Members: members, Edges: edges, Cut: cut}
}

// TestMembersHaveMetropolisWeights on what the roster's graph has between them.
func TestMembersHaveMetropolisWeights(t *testing.T) {
	ring := testkit.Get(network.Ring(6, 0)).W
	if first := testkit.Get(ring.Members(membership.First(6))); first != ring {
		t.Error("epoch 0 must have the roster's matrix, whatever its weights")
	}
	for _, c := range []struct {
		name  string
		epoch membership.Epoch
		edges [][2]int // of positions
	}{
		{"a path is left of a ring", epoch([]int{0, 1, 2, 4, 5}, nil, nil), [][2]int{{0, 1}, {1, 2}, {3, 4}, {0, 4}}},
		{"an edge is cut", epoch([]int{0, 1, 2, 3, 4, 5}, nil, [][2]int{{2, 3}}),
			[][2]int{{0, 1}, {1, 2}, {3, 4}, {4, 5}, {0, 5}}},
		{"one is admitted", epoch([]int{0, 1, 2, 4, 5, 7}, [][2]int{{2, 7}, {4, 7}}, nil),
			[][2]int{{0, 1}, {1, 2}, {3, 4}, {0, 4}, {2, 5}, {3, 5}}},
		{"one is alone", epoch([]int{3}, nil, nil), nil},
	} {
		got := testkit.Get(ring.Members(c.epoch))
		want := testkit.Get(network.FromEdges(len(c.epoch.Members), c.edges, 0)).W
		for i, row := range want.Dense() {
			for j, w := range row {
				if got.At(i, j) != w {
					t.Errorf("%s: W[%d][%d] is %v; it must be %v", c.name, i, j, got.At(i, j), w)
				}
			}
		}
	}
}

// TestMembersAreAsLazy: no agent gives itself less weight than in the roster's matrix, whose λ_min
// steps were chosen by. What is left of a ring keeps the ring's weights.
func TestMembersAreAsLazy(t *testing.T) {
	ring := testkit.Get(network.Ring(8, 0.5)).W
	got := testkit.Get(ring.Members(epoch([]int{0, 1, 2, 3, 4, 6, 7}, nil, nil)))
	testkit.OK(got.Validate())
	for _, c := range []struct {
		i, j int
		want float64
	}{{0, 0, 0.5}, {0, 1, 0.25}, {4, 4, 0.75}, {3, 4, 0.25}, {5, 6, 0.25}} {
		if w := got.At(c.i, c.j); math.Abs(w-c.want) > 1e-15 {
			t.Errorf("W[%d][%d] is %v; it must be %v", c.i, c.j, w, c.want)
		}
	}
	if got.LambdaMin() < ring.LambdaMin()-1e-12 {
		t.Errorf("λ_min falls from %v to %v", ring.LambdaMin(), got.LambdaMin())
	}
}

// TestGiver is the first neighbour that was there, or else the first of those that come to have a
// state soonest.
func TestGiver(t *testing.T) {
	ring := testkit.Get(network.Ring(6, 0)).W
	six, five := epoch([]int{0, 1, 2, 3, 4, 5}, nil, nil), epoch([]int{0, 1, 2, 3, 4}, nil, nil)
	for _, c := range []struct {
		before, e            membership.Epoch
		agent, giver, source int
	}{
		{epoch([]int{0, 3, 4}, nil, [][2]int{{0, 4}}), six, 1, 0, 0},
		{epoch([]int{0, 3, 4}, nil, [][2]int{{0, 4}}), six, 2, 3, 3},
		{epoch([]int{0, 3, 4}, nil, [][2]int{{0, 4}}), six, 5, 0, 0},
		{epoch([]int{3, 4}, nil, nil), five, 2, 3, 3},
		{epoch([]int{3, 4}, nil, nil), five, 1, 2, 3},
		{epoch([]int{3, 4}, nil, nil), five, 0, 1, 3},
		{epoch([]int{1}, nil, nil), six, 4, 3, 1}, // as near as by 5
	} {
		if giver, source, err := ring.Giver(c.before, c.e, c.agent); err != nil || giver != c.giver ||
			source != c.source {
			t.Errorf("%v after %v: agent %d takes over from %d what %d had, %v; it must be from %d what %d had",
				c.e.Members, c.before.Members, c.agent, giver, source, err, c.giver, c.source)
		}
	}
	for _, bad := range [][2]membership.Epoch{{epoch([]int{0}, nil, nil), epoch([]int{0, 1}, nil, nil)},
		{epoch([]int{3}, nil, nil), epoch([]int{0, 1}, nil, nil)}} {
		if _, _, err := ring.Giver(bad[0], bad[1], 0); !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("%v after %v: error %v", bad[1].Members, bad[0].Members, err)
		}
	}
}

// TestAServerAverages over those who are there, with one message.
func TestAServerAverages(t *testing.T) {
	server := testkit.Get(network.Server(5)).W
	got := testkit.Get(server.Members(epoch([]int{0, 3, 4}, nil, nil)))
	if got.At(0, 2) != 1.0/3 || got.Sends(1) != 1 {
		t.Errorf("weight %v and %d messages; they must be 1/3 and 1", got.At(0, 2), got.Sends(1))
	}
	if _, err := server.Members(epoch([]int{0, 3, 4}, nil, [][2]int{{0, 3}})); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("a cut edge: error %v", err)
	}
}

// TestAGraphThatFallsApart is refused, with the parts and edges that mend it.
func TestAGraphThatFallsApart(t *testing.T) {
	ring := testkit.Get(network.Ring(8, 0)).W
	star := testkit.Get(network.New("star", 5, network.Options{})).W
	for _, c := range []struct {
		name  string
		w     *network.Matrix
		epoch membership.Epoch
		want  string
	}{
		{"two of a ring", ring, epoch([]int{0, 1, 3, 4, 6, 7}, nil, nil),
			"the graph of the members of epoch 1 must be connected; it falls apart into agents 0, 1, 6, 7 | 3, 4; " +
				"edges such as these join them: 0-3"},
		{"one of a ring, and an edge", ring, epoch([]int{0, 1, 3, 4, 5, 6, 7}, nil, [][2]int{{4, 5}}),
			"the graph of the members of epoch 1 must be connected; it falls apart into agents 0, 1, 5, 6, 7 | 3, 4; " +
				"edges such as these join them: 0-3"},
		{"the middle of a star", star, epoch([]int{1, 2, 4}, nil, nil),
			"the graph of the members of epoch 1 must be connected; it falls apart into agents 1 | 2 | 4; " +
				"edges such as these join them: 1-2, 1-4"},
	} {
		if _, err := c.w.Members(c.epoch); err == nil || err.Error() != c.want || !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("%s: error %v; it must be %s", c.name, err, c.want)
		}
	}
}
