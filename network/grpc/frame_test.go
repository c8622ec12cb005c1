package grpc

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/grpc/masks"

	"github.com/google/go-cmp/cmp"
)

// decoded returns a good frame as it is received.
func decoded(b []byte) *frame {
	var f frame
	testkit.OK(f.decode(bytes.NewReader(b), len(b)))
	return &f
}

// numbers are those whose bits are easily lost.
var numbers = []float64{0, math.Copysign(0, -1), 1, -math.Pi, math.Inf(1), math.SmallestNonzeroFloat64, math.MaxFloat64,
	math.NaN(), math.Float64frombits(0x7ff0000000000001), math.Float64frombits(0xfff8000000000abc)}

func TestVectorRoundTrip(t *testing.T) {
	long := make([]float64, 100_000)
	for i := range long {
		long[i] = numbers[i%len(numbers)]
	}
	var f frame // used again, as a session does
	for _, v := range [][]float64{numbers, nil, long, {1}} {
		b := encodeVector(1<<40, mixing, v)
		err := f.decode(bytes.NewReader(b), len(b))
		if want := (header{kindVector, 1 << 40, mixing}); err != nil || f.header != want || f.size != len(b) {
			t.Fatalf("%d numbers: %+v of size %d, error %v; it must be %+v", len(v), f.header, f.size, err, want)
		}
		own, received := vectorOf(b[headerSize:]), vectorOf(f.data)
		if len(received) != len(v) || len(own) != len(v) {
			t.Fatalf("%d numbers were received and %d are in the frame; there must be %d", len(f.data),
				len(own), len(v))
		}
		for i := range v {
			if math.Float64bits(received[i]) != math.Float64bits(v[i]) ||
				math.Float64bits(own[i]) != math.Float64bits(v[i]) {
				t.Fatalf("entry %d is %x, and %x in the frame; it must be %x", i, received[i], own[i], v[i])
			}
		}
	}
}

// TestVectorBytes holds the format to what the documentation says, byte by byte.
func TestVectorBytes(t *testing.T) {
	got := encodeVector(6, 2, []float64{1})
	want := append([]byte("dsbo\x06\x02\x00\x00"), 6, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0xf0, 0x3f)
	if !bytes.Equal(got, want) {
		t.Errorf("the frame is % x; it must be\n% x", got, want)
	}
}

func TestHelloRoundTrip(t *testing.T) {
	long := strings.Repeat("ç", maxName/2) + "r"
	for _, h := range []hello{
		{},
		goodHello(3),
		{from: 1023, to: 1022, sent: 17, next: 18, instance: math.MaxUint64, epoch: maxNumber, offers: 5,
			needs: 1 << 63, run: long, config: long,
			program: network.Program{Version: long}},
	} {
		if d := cmp.Diff(h, testkit.Get(readHello(decoded(h.encode()))), cmp.AllowUnexported(hello{})); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	}
}

func TestUnreadableFrames(t *testing.T) {
	vector := encodeVector(5, mixing, []float64{1, 2})
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
		{"short", vector[:headerSize-1], "a frame must have at least 24 bytes; it has 23"},
		{"magic", with(0, 'x'), `must begin with "dsbo"; it begins with "xsbo"`},
		{"version", with(4, 9),
			"the protocol must be of version 6 to 7; it is of version 9: the programs of neighbours may be one " +
				"version apart"},
		{"kind 0", with(5, 0), "frames of kind 0 are not known"},
		{"kind 200", with(5, 200), "frames of kind 200 are not known"},
		{"not zero", with(6, 1), "are not known"},
		{"exchange", with(15, 0x80), "must be at most 4611686018427387904"},
		{"detail", with(23, 0x50), "must be at most 4611686018427387904"},
		{"long text", encode(header{kind: kindFail}, make([]byte, maxText+1)),
			"must have at most 2072 bytes; it has 2073"},
		{"long hello", encode(header{kind: kindHello}, make([]byte, maxHello)),
			"must have at most 1024 bytes; it has 1048"},
		{"long key", encode(header{kind: kindKey}, make([]byte, masks.MaxText+1)),
			"must have at most 8216 bytes; it has 8217"},
	} {
		var f frame
		testkit.WantError(t, c.name, f.decode(bytes.NewReader(c.frame), len(c.frame)), nil, c.err)
	}
}

// FuzzDecode: what is read is written again as it was.
func FuzzDecode(f *testing.F) {
	f.Add(encodeVector(5, mixing, []float64{1, 2}))
	f.Add(encode(header{kindResend, 5, 4}, nil))
	f.Add(encode(header{kindFail, 1, 0}, []byte("disk full")))
	f.Add(goodHello(3).encode())
	f.Add([]byte("dsbo"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var g frame
		if err := g.decode(bytes.NewReader(b), len(b)); err != nil {
			return
		}
		again := encode(g.header, g.text)
		again[4] = g.version
		if g.kind == kindVector {
			again = append(newFrame(g.header, len(g.data)), g.data...)
		}
		if !bytes.Equal(again, b) {
			t.Errorf("% x was read as %+v, which is written % x", b, g.header, again)
		}
		if h, err := readHello(&g); err == nil {
			again := testkit.Get(readHello(decoded(h.encode())))
			if d := cmp.Diff(h, again, cmp.AllowUnexported(hello{})); d != "" {
				t.Errorf("% x was read as a hello that is written and read as another one (-want +got)\n%s", b, d)
			}
		}
	})
}
