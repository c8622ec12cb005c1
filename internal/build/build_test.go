package build_test

import (
	"bytes"
	"testing"

	"dsbo/internal/build"
)

func TestName(t *testing.T) {
	for _, c := range []struct {
		info build.Info
		want string
	}{
		{build.Info{}, ""},
		{build.Info{Version: "(devel)"}, ""},
		{build.Info{Version: "(devel)", Revision: "ab12"}, "ab12"},
		{build.Info{Revision: "ab12", Modified: true}, "ab12+modified"},
		{build.Info{Version: "v1.2.3", Revision: "ab12", Modified: true}, "v1.2.3"},
	} {
		if got := c.info.Name(); got != c.want {
			t.Errorf("%+v has the name %q; it must be %q", c.info, got, c.want)
		}
	}
}

// TestDigest: a program has one.
func TestDigest(t *testing.T) {
	a, err := build.Digest()
	if b, again := build.Digest(); err != nil || again != nil || len(a) != 32 || !bytes.Equal(a, b) {
		t.Errorf("% x, %v and then % x, %v; they must be 32 bytes, the same each time", a, err, b, again)
	}
}

// TestRead: a test binary has no version that could be known here, but reading it must work.
func TestRead(t *testing.T) {
	if a, b := build.Read(), build.Read(); a != b {
		t.Errorf("the program is %+v and then %+v", a, b)
	}
}
