package session

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/network/register"

	"github.com/google/go-cmp/cmp"
)

// testVector is how many bytes a vector may have in tests.
const testVector = 8 * 100_000

// decoded returns a good frame as it is received.
func decoded(b []byte) *frame {
	var f frame
	testkit.OK(f.decode(bytes.NewReader(b), len(b), testVector))
	return &f
}

// framed returns a frame with a payload.
func framed(k kind, payload []byte) []byte {
	return append(newFrame(frame{kind: k}, len(payload)), payload...)
}

// numbers are those whose bits are easily lost.
var numbers = []float64{0, math.Copysign(0, -1), 1, -math.Pi, math.Inf(1), math.SmallestNonzeroFloat64, math.MaxFloat64,
	math.NaN(), math.Float64frombits(0x7ff0000000000001), math.Float64frombits(0xfff8000000000abc)}

// TestVectorRoundTrip: numbers come as they were sent, to the bit, in memory that nobody else has.
func TestVectorRoundTrip(t *testing.T) {
	long := make([]float64, testVector/8)
	for i := range long {
		long[i] = numbers[i%len(numbers)]
	}
	head := frame{kind: kindVector, exchange: maxExchange, session: math.MaxUint64, purpose: 1 << 63}
	for _, v := range [][]float64{numbers, nil, long, {1}} {
		b := encodeVector(head, v)
		f := decoded(b)
		payload := f.payload
		f.payload, head.size = nil, headerSize+8*len(v)
		if d := cmp.Diff(head, *f, cmp.AllowUnexported(frame{})); d != "" || len(payload) != 8*len(v) {
			t.Fatalf("%d numbers, %d bytes (-want +got)\n%s", len(v), len(payload), d)
		}
		own, received := vectorOf(b[headerSize:]), vectorOf(payload)
		for i := range v {
			if math.Float64bits(received[i]) != math.Float64bits(v[i]) ||
				math.Float64bits(own[i]) != math.Float64bits(v[i]) {
				t.Fatalf("entry %d is %x, and %x in the frame; it must be %x", i, received[i], own[i], v[i])
			}
		}
		if len(v) > 0 && (uintptr(unsafe.Pointer(&payload[0]))|uintptr(unsafe.Pointer(&b[headerSize])))%8 != 0 {
			t.Errorf("%d numbers: the payload must begin at a multiple of 8", len(v))
		}
	}
}

// TestVectorBytes: the format is the documentation's, byte by byte.
func TestVectorBytes(t *testing.T) {
	got := encodeVector(frame{exchange: 6, session: 0x0807060504030201, purpose: 2}, []float64{1})
	want := []byte{4, 0, 0, 0, 6, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f}
	if !bytes.Equal(got, want) {
		t.Errorf("the frame is % x; it must be\n% x", got, want)
	}
}

// TestBounds: each kind of frame has its longest payload, and no longer one.
func TestBounds(t *testing.T) {
	for k, most := range map[kind]int{kindHello: 4096, kindAlive: 0, kindFlood: 8 << 20, kindVector: testVector} {
		if f := decoded(framed(k, make([]byte, most))); len(f.payload) != most {
			t.Errorf("kind %d: %d bytes; there must be %d", k, len(f.payload), most)
		}
		b := framed(k, make([]byte, most+1))
		wantBadFrame(t, b, "bytes; it has ")
	}
}

// wantBadFrame has the test fail unless b is a bad frame for a reason.
func wantBadFrame(t *testing.T, b []byte, reason string) {
	t.Helper()
	var f frame
	err := f.decode(bytes.NewReader(b), len(b), testVector)
	testkit.WantError(t, "a frame", err, nil, reason)
	if _, bad := err.(*badFrame); !bad {
		t.Errorf("the error is a %T; it must be a *badFrame", err)
	}
}

func TestUnreadableFrames(t *testing.T) {
	vector := encodeVector(frame{exchange: 5}, []float64{1, 2})
	with := func(at int, v byte) []byte {
		b := bytes.Clone(vector)
		b[at] = v
		return b
	}
	for _, c := range []struct {
		name  string
		frame []byte
		err   string
	}{
		{"nothing", nil, "a frame must have at least 24 bytes; it has 0"},
		{"short", vector[:headerSize-1], "a frame must have at least 24 bytes; it has 23"},
		{"kind 0", with(0, 0), "frames that begin with 00000000 are not known"},
		{"kind 5", with(0, byte(kindEnd)), "frames that begin with 05000000 are not known"},
		{"of the protocol before", append([]byte("dsbo"), vector[4:]...),
			"frames that begin with 6473626f are not known"},
		{"not zero", with(3, 1), "frames that begin with 04000001 are not known"},
		{"exchange", with(7, 0x80), "the exchange of a frame must be at most 2147483647; it is 2147483653"},
	} {
		t.Run(c.name, func(t *testing.T) { wantBadFrame(t, c.frame, c.err) })
	}
}

// FuzzFrame: what is read is written again as it was; a hello that is read is one that may be sent.
func FuzzFrame(f *testing.F) {
	f.Add(encodeVector(frame{exchange: 5, session: 7, purpose: 1}, []float64{1, 2}))
	f.Add(framed(kindFlood, []byte("end")))
	f.Add(framed(kindAlive, nil))
	f.Add(goodHello(3).encode())
	f.Add(framed(kindHello, []byte(`{"from":-1,"to":1e3,"run":"\u202e","program":{"Version":"1"},"more":[{}]}`)))
	f.Add([]byte(strings.Repeat("dsbo", 6)))
	f.Fuzz(func(t *testing.T, b []byte) {
		var g frame
		if err := g.decode(bytes.NewReader(b), len(b), testVector); err != nil {
			return
		}
		if again := append(newFrame(g, len(g.payload)), g.payload...); !bytes.Equal(again, b) {
			t.Errorf("% x was read as %+v, which is written % x", b, g, again)
		}
		h, err := readHello(&g)
		if err != nil {
			return
		}
		text := h.encode()
		if len(text)-headerSize > maxHello { // escapes of a text that came without
			return
		}
		if d := cmp.Diff(h, testkit.Get(readHello(decoded(text)))); d != "" {
			t.Errorf("% x was read as a hello that is written and read as another one (-want +got)\n%s", b, d)
		}
	})
}

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

// TestAnswersOfMany: the answers of as many agents as a run may have, after hundreds of changes of
// members, go into one frame, and come out as they were.
func TestAnswersOfMany(t *testing.T) {
	const agents, lines = membership.MaxAgents, 300
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	var log membership.Log
	for k := range lines {
		log = append(log, membership.Change{Epoch: k + 1, Session: uint64(k + 1), Iteration: 10 * k,
			ID: fmt.Sprintf("%x", sha256.Sum256([]byte{byte(k)})), Members: []int{0, 1, 2, 3}})
	}
	tags := map[int]string{}
	for i := range agents {
		tags[i] = fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i)}))
	}
	var all answerList
	for i := range agents {
		a := register.Answer{Agent: i, Number: 7, Log: log, Tags: tags, Time: now, Links: []int{0, 1, 2, 3},
			Points: []register.Point{{Iteration: 10}, {Iteration: 20}, {Iteration: 30}},
			Key:    make([]byte, 32), Certificate: make([]byte, 1200), Signature: make([]byte, 96)}
		if i == 5 { // one that was away
			a.Log, a.Tags = log[:lines-1], nil
		}
		all = append(all, a)
	}
	frame := message{Subject: begins, Answers: all}.frame()
	if len(frame) > headerSize+maxFlood {
		t.Fatalf("the answers have %d bytes; a frame has room for %d", len(frame)-headerSize, maxFlood)
	}
	m := testkit.Get(parseMessage(frame[headerSize:]))
	if !reflect.DeepEqual(m.Answers, all) {
		t.Error("the answers are others after their way")
	}
	for _, text := range []string{`{"from":0,"all":{"logs":[],"tags":[null],"answers":[{"log":0,"tags":0}]}}`,
		`{"from":0,"all":{"logs":[[]],"tags":[null],"answers":[{"log":0,"tags":-1}]}}`} {
		_, err := parseMessage([]byte(text))
		testkit.WantError(t, text, err, nil, "must be among")
	}
}

// TestSettingsDiffer: a refusal names the settings that differ, as far as the hellos have them.
func TestSettingsDiffer(t *testing.T) {
	long := []string{"-K=20", "-data=/a/long/path/to/a/folder", "-quick", "-set=a=1", "-set=b=2", "seed=1"}
	change := func(k int, v string) []string {
		s := append([]string{}, long...)
		s[k] = v
		return s
	}
	for name, tt := range map[string]struct {
		theirs []string
		room   int
		want   string
	}{
		"the same": {theirs: long, room: 400},
		"a value":  {theirs: change(0, "-K=30"), room: 400, want: "agent 2 has -K=30; agent 1 has -K=20"},
		"a long value": {theirs: change(1, "-data=/another/long/path"), room: 400,
			want: "agent 2 has -data#9ea5bcd7; agent 1 has -data#071a1077"},
		"one of two": {theirs: change(4, "-set=b=3"), room: 400,
			want: "agent 2 has -set=b=3; agent 1 has -set=b=2"},
		"no value":    {theirs: change(0, "-K"), room: 400, want: "agent 2 has -K; agent 1 has -K=20"},
		"one missing": {theirs: long[1:], room: 400, want: "agent 1 has -K=20"},
		"one more":    {theirs: append([]string{"-L=3"}, long...), room: 400, want: "agent 2 has -L=3"},
		"all others": {theirs: []string{"a=1", "b=2", "c=3"}, room: 400,
			want: "agent 2 has a=1; agent 2 has b=2; agent 2 has c=3; agent 1 has -K=20; 5 more"},
		"no text": {room: 400},
		"no room": {theirs: change(0, "-K=3"), room: 40},
		"escapes of terminals": {theirs: change(0, "-K=\x1b[2J"), room: 400,
			want: "agent 2 has -K#05704e8a; agent 1 has -K=20"},
	} {
		theirs, ours := settingsText(tt.theirs, tt.room), settingsText(long, tt.room)
		if len(theirs) > tt.room || len(ours) > tt.room || !ascii(theirs) {
			t.Errorf("%s: the texts %q and %q must be of %d bytes at most", name, theirs, ours, tt.room)
		}
		if got := settingsDiffer(2, theirs, 1, ours); got != tt.want {
			t.Errorf("%s: %q; it must be %q", name, got, tt.want)
		}
	}
}
