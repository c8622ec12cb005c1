package grpc

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/mem"
)

func decoded(b []byte) *frame {
	var f frame
	f.decode(bytes.NewReader(b), len(b))
	return &f
}

// numbers are those whose bits are easily lost.
var numbers = []float64{0, math.Copysign(0, -1), 1, -math.Pi, math.Inf(1), math.SmallestNonzeroFloat64, math.MaxFloat64,
	math.NaN(), math.Float64frombits(0x7ff0000000000001), math.Float64frombits(0xfff8000000000abc)}

func TestDataRoundTrip(t *testing.T) {
	long := make([]float64, 100_000)
	for i := range long {
		long[i] = numbers[i%len(numbers)]
	}
	var f frame // used again, as a session does
	for _, v := range [][]float64{numbers, nil, long, {1}} {
		b := encodeData(7, 3, 1<<40, mixing, v)
		f.decode(bytes.NewReader(b), len(b))
		want := header{kind: kindData, run: 7, from: 3, round: 1 << 40}
		if f.err != nil || f.header != want || len(f.data) != len(v) || len(f.text) != 0 || f.size != len(b) || f.sum != checksum(b) {
			t.Fatalf("%d numbers: %+v of size %d, error %v, want %+v", len(v), f.header, f.size, f.err, want)
		}
		own := vectorOf(b)
		if len(own) != len(v) {
			t.Fatalf("%d numbers in a frame of %d", len(own), len(v))
		}
		for i := range v {
			if math.Float64bits(f.data[i]) != math.Float64bits(v[i]) || math.Float64bits(own[i]) != math.Float64bits(v[i]) {
				t.Fatalf("entry %d is %x, and %x in the frame, want %x", i, f.data[i], own[i], v[i])
			}
		}
	}
}

// TestDataBytes holds the format to what the documentation says, byte by byte.
func TestDataBytes(t *testing.T) {
	got := encodeData(0x0807060504030201, 5, 6, mixing, []float64{1})
	want := append([]byte("dsbo\x01\x02\x00\x00"), 1, 2, 3, 4, 5, 6, 7, 8, 5, 0, 0, 0, 8, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0)
	want = append(want, make([]byte, 8)...)
	want = append(want, got[checksumOffset:checksumOffset+4]...)
	want = append(want, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f)
	if !bytes.Equal(got, want) {
		t.Errorf("% x, want\n% x", got, want)
	}
}

func TestHelloRoundTrip(t *testing.T) {
	for _, h := range []hello{
		goodHello(3),
		goodHello(0).of("", ""),
		goodHello(1023).of(strings.Repeat("r", maxName), strings.Repeat("ç", maxName/2)),
	} {
		h.kind, h.round, h.next = kindHello, 17, 18
		got, err := readHello(decoded(h.encode()))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(h, got, cmp.AllowUnexported(hello{}, header{})); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	}
}

func TestRunHashTellsApart(t *testing.T) {
	seen := map[uint64][2]string{}
	for _, s := range [][2]string{{"a", "bc"}, {"ab", "c"}, {"abc", ""}, {"", "abc"}} {
		h := runHash(s[0], s[1])
		if old, ok := seen[h]; ok {
			t.Errorf("%q and %q have the same hash", old, s)
		}
		seen[h] = s
	}
}

// TestEveryFlippedBit: no damage to a single bit goes unseen.
func TestEveryFlippedBit(t *testing.T) {
	for _, good := range [][]byte{
		encodeData(7, 3, 5, mixing, []float64{1, 2}),
		encode(header{kind: kindAsk, run: 7, from: 3, round: 5, next: 4, seq: 9}, nil),
		goodHello(3).encode(),
	} {
		for bit := range 8 * len(good) {
			b := bytes.Clone(good)
			b[bit/8] ^= 1 << (bit % 8)
			if f := decoded(b); !errors.Is(f.err, errDamaged) {
				t.Errorf("bit %d flipped: error %v, want damage", bit, f.err)
			}
		}
		for n := range good {
			if f := decoded(good[:n]); !errors.Is(f.err, errDamaged) {
				t.Errorf("%d of %d bytes: error %v, want damage", n, len(good), f.err)
			}
		}
	}
}

// resealed returns the frame with one byte changed and the checksum to match, as no accident makes it.
func resealed(b []byte, at int, v byte) []byte {
	b = bytes.Clone(b)
	b[at] = v
	clear(b[checksumOffset : checksumOffset+4])
	return seal(b)
}

func TestUnknownForms(t *testing.T) {
	data := encodeData(7, 3, 5, mixing, []float64{1, 2})
	for _, c := range []struct {
		name  string
		frame []byte
		want  string
	}{
		{"magic", resealed(data, 0, 'x'), `frame "xsbo" of version 1, want "dsbo" of version 1`},
		{"version", resealed(data, 4, 9), `of version 9, want "dsbo" of version 1`},
		{"kind 0", resealed(data, 5, 0), "unknown kind of frame: 0"},
		{"kind 200", resealed(data, 5, 200), "unknown kind of frame: 200"},
		{"not zero", resealed(data, 6, 1), "unknown kind of frame: 2"},
		{"exchange", resealed(data, 31, 0x80), "want at most 4611686018427387904"},
		{"next", resealed(data, 39, 0x50), "want at most 4611686018427387904"},
	} {
		f := decoded(c.frame)
		if f.err == nil || !strings.Contains(f.err.Error(), c.want) || errors.Is(f.err, errDamaged) {
			t.Errorf("%s: error %v, want one that is no damage with %q", c.name, f.err, c.want)
		}
	}
	for k := range kindEnd {
		if k == kindData {
			continue
		}
		if f := decoded(encode(header{kind: k}, make([]byte, maxText+1))); !errors.Is(f.err, errDamaged) {
			t.Errorf("a long text of kind %v: error %v, want damage", k, f.err)
		}
	}
	if f := decoded(encode(header{kind: kindData}, make([]byte, 12))); !errors.Is(f.err, errDamaged) {
		t.Errorf("one and a half numbers: error %v, want damage", f.err)
	}
}

func TestKindsHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for k := range kindEnd {
		if seen[k.String()] {
			t.Errorf("kind %d has the name %q, as another one has", uint8(k), k)
		}
		seen[k.String()] = true
	}
}

func TestCodecRefusesOtherTypes(t *testing.T) {
	if _, err := (codec{}).Marshal("text"); err == nil {
		t.Error("a text was sent, want an error")
	}
	var s string
	if err := (codec{}).Unmarshal(mem.BufferSlice{mem.SliceBuffer("text")}, &s); err == nil {
		t.Error("a text was received, want an error")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encodeData(7, 3, 5, mixing, []float64{1, 2}))
	f.Add(encode(header{kind: kindAsk, run: 7, from: 3, round: 5, next: 4, seq: 9}, nil))
	f.Add(encode(header{kind: kindFail, from: 1}, []byte("disk full")))
	f.Add(goodHello(3).encode())
	f.Add([]byte("dsbo"))
	f.Fuzz(func(t *testing.T, b []byte) {
		// As it is, and with a checksum that lets it past the first gate.
		frames := [][]byte{b}
		if len(b) >= headerSize {
			frames = append(frames, resealed(b, 4, version))
		}
		for _, b := range frames {
			g := decoded(b)
			if g.err != nil {
				continue
			}
			var again []byte
			if g.kind == kindData {
				again = encodeData(g.run, g.from, g.round, g.next, g.data)
				if g.seq != 0 { // which no agent sends, and no agent reads
					continue
				}
			} else {
				again = encode(g.header, g.text)
			}
			if !bytes.Equal(again, b) {
				t.Errorf("% x was read as %+v, which is written % x", b, g.header, again)
			}
			if h, err := readHello(g); err == nil && !bytes.Equal(h.encode(), b) {
				t.Errorf("% x was read as hello %+v, which is written % x", b, h, h.encode())
			}
		}
	})
}
