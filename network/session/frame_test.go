package session

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"unsafe"

	"dsbo/internal/testkit"

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
