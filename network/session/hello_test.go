package session

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/membership"

	"github.com/google/go-cmp/cmp"
)

// goodHello returns the hello of an agent to agent 1.
func goodHello(from int) hello {
	return hello{From: from, To: self, Run: "run", Hash: "hash", Form: Config{}.form(), Program: network.ThisProgram()}
}

func TestHelloRoundTrip(t *testing.T) {
	long := strings.Repeat("ç", 127) + "<"
	for _, h := range []hello{
		{},
		goodHello(3),
		{From: 1023, To: 1022, Instance: math.MaxUint64, Session: math.MaxUint64 - 1, Due: maxExchange, Run: long,
			Hash: long, Program: network.Program{Version: long}, Admission: long,
			Settings: strings.Repeat("s", 1024)},
	} {
		if d := cmp.Diff(h, testkit.Get(readHello(decoded(h.encode())))); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	}
}

// TestHelloWithRemoval: a hello has room for a removal where settings would take all of it.
func TestHelloWithRemoval(t *testing.T) {
	c := configs(newGraph("path", 4), nil)[self]
	c.Settings = []string{"-K=" + strings.Repeat("9", maxHello/3)}
	host := openHost(t, c)
	removal := strings.Repeat("r", membership.MaxWarrant)
	for _, want := range []hello{{Settings: host.links.settings}, {Removal: removal}} {
		host.greeted.Removal = want.Removal
		h := testkit.Get(readHello(decoded(host.links.greet(2))))
		if h.Removal != want.Removal || h.Settings != want.Settings || len(h.encode()) > headerSize+maxHello {
			t.Errorf("a hello of %d bytes with removal %.9q and settings %.9q", len(h.encode()), h.Removal, h.Settings)
		}
	}
}

// TestHelloOfLaterVersion: fields that are not known are passed over.
func TestHelloOfLaterVersion(t *testing.T) {
	h := goodHello(0)
	f := decoded(h.encode())
	f.payload = append([]byte(`{"more": {"of": ["it"]}, `), bytes.TrimPrefix(f.payload, []byte("{"))...)
	if d := cmp.Diff(h, testkit.Get(readHello(f))); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestUnreadableHellos(t *testing.T) {
	changed := func(change func(*hello)) []byte {
		h := goodHello(0)
		change(&h)
		return h.encode()
	}
	run := func(run string) []byte { return changed(func(h *hello) { h.Run = run }) }
	for _, c := range []struct {
		name  string
		frame []byte
		err   string
	}{
		{"another kind", framed(kindAlive, nil), "must begin with a hello; it begins with a frame of kind 2"},
		{"no JSON", framed(kindHello, []byte("hello")), "a hello must be JSON"},
		{"nothing", framed(kindHello, nil), "a hello must be JSON"},
		{"a number that is a text", framed(kindHello, []byte(`{"from": "me"}`)), "a hello must be JSON"},
		{"below all agents", changed(func(h *hello) { h.From = -1 }), "must be 0 to 2147483647; one is -1"},
		{"an exchange beyond all", changed(func(h *hello) { h.Due = 1 << 31 }), "one is 2147483648"},
		{"a line of its own", run("run\nlevel=ERROR"), `must be printable; one is "run\nlevel=ERROR"`},
		{"an escape of a terminal", run("\x1b[2J"), `"\x1b[2J"`},
		{"text from right to left", run("\u202enur"), `"\u202enur"`},
		{"a program", changed(func(h *hello) { h.Program.Kernels = "\a" }), `"\a"`},
	} {
		_, err := readHello(decoded(c.frame))
		testkit.WantError(t, c.name, err, nil, c.err)
	}
}

// TestLongestHello: beside texts of the greatest length there is room for many settings, and all
// fits.
func TestLongestHello(t *testing.T) {
	long := strings.Repeat("x", 64)
	c := Config{Matrix: newGraph("path", 3), Run: long, Hash: long, Admission: strings.Repeat("x", 255)}
	for range 170 {
		c.Settings = append(c.Settings, `a="b"`)
	}
	text := c.settingsText()
	if len(text) < 1000 {
		t.Errorf("there is room for %d bytes of settings", len(text))
	}
	h := c.hello(maxExchange, text, math.MaxUint64, maxExchange)
	h.From, h.Instance = maxExchange, math.MaxUint64
	testkit.Get(readHello(decoded(h.encode())))
}
