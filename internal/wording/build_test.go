package wording

import (
	"testing"
)

func TestName(t *testing.T) {
	for _, c := range []struct {
		info buildInfo
		want string
	}{
		{buildInfo{}, ""},
		{buildInfo{Version: "(devel)"}, ""},
		{buildInfo{Version: "(devel)", Revision: "ab12"}, "ab12"},
		{buildInfo{Revision: "ab12", Modified: true}, "ab12+modified"},
		{buildInfo{Version: "v1.2.3", Revision: "ab12", Modified: true}, "v1.2.3"},
	} {
		if got := c.info.Name(); got != c.want {
			t.Errorf("%+v has the name %q; it must be %q", c.info, got, c.want)
		}
	}
}

// TestRead: a test binary has no version that could be known here, but reading it must work.
func TestRead(t *testing.T) {
	if a, b := Build(), Build(); a != b {
		t.Errorf("the program is %+v and then %+v", a, b)
	}
}
