package wording_test

import (
	"testing"

	"dsbo/internal/wording"
)

func TestName(t *testing.T) {
	for _, c := range []struct {
		info wording.BuildInfo
		want string
	}{
		{wording.BuildInfo{}, ""},
		{wording.BuildInfo{Version: "(devel)"}, ""},
		{wording.BuildInfo{Version: "(devel)", Revision: "ab12"}, "ab12"},
		{wording.BuildInfo{Revision: "ab12", Modified: true}, "ab12+modified"},
		{wording.BuildInfo{Version: "v1.2.3", Revision: "ab12", Modified: true}, "v1.2.3"},
	} {
		if got := c.info.Name(); got != c.want {
			t.Errorf("%+v has the name %q; it must be %q", c.info, got, c.want)
		}
	}
}

// TestRead: a test binary has no version that could be known here, but reading it must work.
func TestRead(t *testing.T) {
	if a, b := wording.Build(), wording.Build(); a != b {
		t.Errorf("the program is %+v and then %+v", a, b)
	}
}
