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
	for _, c := range []struct {
		other network.Program
		err   string
	}{
		{own, ""},
		{network.Program{Kernels: "avx2", Architecture: "amd64"}, ""},
		{network.Program{Version: "v1.0.1", Kernels: "avx2", Architecture: "amd64"},
			"agent 3 is of version v1.0.0, agent 0 of v1.0.1: all processes of a run must be the same program"},
		{network.Program{Version: "v1.0.0", Kernels: "generic", Architecture: "amd64"},
			"agent 3 computes with kernels avx2, agent 0 with generic: DSBO_KERNEL must choose kernels that all machines of a run have"},
		{network.Program{Version: "v1.0.0", Kernels: "generic", Architecture: "arm64"},
			"agent 3 runs on amd64, agent 0 on arm64: all processes of a run must have one architecture"},
	} {
		err := own.Mixable("agent 3", "agent 0", c.other)
		if c.err == "" && err == nil {
			continue
		}
		if !errors.Is(err, dsbo.ErrConfig) || err.Error() != c.err {
			t.Errorf("%+v and %+v: error %q must match dsbo.ErrConfig and be %q", own, c.other, err, c.err)
		}
	}
}
