package network_test

import (
	"errors"
	"runtime"
	"testing"

	"dsbo"
	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
	"dsbo/internal/wording"
	"dsbo/network"
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
