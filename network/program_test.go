package network_test

import (
	"errors"
	"runtime"
	"testing"

	"dsbo"
	"dsbo/internal/kernel"
	"dsbo/network"
)

func TestThisProgram(t *testing.T) {
	p := network.ThisProgram()
	if p.Kernels != kernel.Active().String() || p.Architecture != runtime.GOARCH {
		t.Errorf("this program is %+v; its kernels must be %v, its architecture %s", p, kernel.Active(), runtime.GOARCH)
	}
}

func TestMixable(t *testing.T) {
	own := network.Program{Version: "v1.0.0", Kernels: "avx2", Architecture: "amd64"}
	with := func(change func(*network.Program)) network.Program {
		p := own
		change(&p)
		return p
	}
	for _, c := range []struct {
		other network.Program
		err   string
	}{
		{own, ""},
		{with(func(p *network.Program) { p.Version = "" }), ""},
		{with(func(p *network.Program) { p.Version = "v1.0.1" }),
			"agent 3 is of version v1.0.0, agent 0 of v1.0.1: all processes of a run must be the same program"},
		{with(func(p *network.Program) { p.Kernels = "generic" }),
			"agent 3 computes with kernels avx2, agent 0 with generic: DSBO_KERNEL must choose kernels that all machines of a run have"},
		{with(func(p *network.Program) { p.Architecture, p.Kernels = "arm64", "generic" }),
			"agent 3 runs on amd64, agent 0 on arm64: all processes of a run must have one architecture"},
	} {
		err := own.Mixable("agent 3", "agent 0", c.other)
		if c.err == "" {
			if err != nil {
				t.Errorf("%+v and %+v: %v, but they can be in one run", own, c.other, err)
			}
		} else if !errors.Is(err, dsbo.ErrConfig) || err.Error() != c.err {
			t.Errorf("%+v and %+v: error %q must match dsbo.ErrConfig and be %q", own, c.other, err, c.err)
		}
	}
}
