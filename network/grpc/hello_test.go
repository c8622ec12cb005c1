package grpc

import (
	"testing"

	"dsbo/internal/testkit"
	"dsbo/network"
)

// helloFrame is the frame of a hello with more after it.
func helloFrame(h hello, more ...byte) *frame {
	f := decoded(h.encode())
	f.text = append(f.text, more...)
	return f
}

// TestHelloOfNeighbouringVersions: texts that the other side does not send are empty, those that
// are not known here are passed over.
func TestHelloOfNeighbouringVersions(t *testing.T) {
	h := goodHello(0)
	f := helloFrame(h, 3, 'n', 'e', 'w')
	f.version = version + 1
	if got := testkit.Get(readHello(f)); got != h {
		t.Errorf("with a text more it is %+v; it must be %+v", got, h)
	}
	h.program = network.Program{}
	short := helloFrame(h)
	for range h.program.Texts() {
		short.text = short.text[:len(short.text)-1] // the length of an empty text
	}
	got := testkit.Get(readHello(short))
	if got != h {
		t.Errorf("with texts less it is %+v; it must be %+v", got, h)
	}
	testkit.OK(got.program.Mixable("agent 0", "agent 1", network.ThisProgram()))
}

func TestUnreadableHellos(t *testing.T) {
	far := goodHello(0)
	far.epoch = maxNumber + 1
	said := func(run string) hello {
		h := goodHello(0)
		h.run = run
		return h
	}
	for _, c := range []struct {
		name string
		f    *frame
		err  string
	}{
		{"another kind", decoded(alive(0)), "must begin with a hello"},
		{"no numbers", &frame{header: header{kind: kindHello}, text: make([]byte, helloNumbers-1)}, "wrong length"},
		{"a text cut short", helloFrame(goodHello(0), 3, 'n'), "wrong length"},
		{"an epoch beyond all", helloFrame(far), "must be at most 4611686018427387904"},
		{"a line of its own", helloFrame(said("run\nlevel=ERROR")), `must be printable; one is "run\nlevel=ERROR"`},
		{"an escape of a terminal", helloFrame(said("\x1b[2J")), `"\x1b[2J"`},
		{"text from right to left", helloFrame(said("\u202enur")), `"\u202enur"`},
		{"no text", helloFrame(said("\xff")), `"\xff"`},
	} {
		_, err := readHello(c.f)
		testkit.WantError(t, c.name, err, nil, c.err)
	}
}

// TestCapabilities: each side must be able to do what the other one needs.
func TestCapabilities(t *testing.T) {
	c := Config{Agent: self}
	h := goodHello(0)
	h.offers = ^capabilities(0) // a later version
	testkit.OK(c.checkCapabilities(h))
	h.needs = 1<<62 | 1<<63
	if err := c.checkCapabilities(h); err == nil || err.Error() !=
		"agent 1 lacks what agent 0 needs, capability 62, capability 63: the program of agent 1 must be replaced by "+
			"that of agent 0" {
		t.Errorf("error %v; it must name what agent 1 lacks", err)
	}
}
