package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"unsafe"

	"dsbo/network"

	"google.golang.org/grpc/mem"
)

// Bounds of a frame's payload, by its kind. A vector has up to Config.mostWords.
const (
	// maxHello bounds a hello, the only thing read from an unidentified peer.
	maxHello = 4 << 10
	// maxFlood bounds a message to all, the longest of which has the answers of 1,024 agents.
	maxFlood = 8 << 20
)

// A kind is the purpose of a frame.
type kind uint8

const (
	kindHello  kind = 1 + iota // the first frame of a stream, in both directions
	kindAlive                  // a heartbeat, with the sender's activity
	kindFlood                  // a message to all, forwarded by neighbours
	kindVector                 // the vector of one exchange
	kindEnd                    // the first number that is no kind
)

// A frame is headerSize bytes and a payload. All numbers are little-endian:
//
//	 0  kind      1 byte
//	 1  zero      3
//	 4  exchange  4
//	 8  session   8, the first bytes of its id
//	16  purpose   8
type frame struct {
	kind     kind
	exchange int
	session  uint64
	purpose  uint64
	payload  []byte // begins at a multiple of 8 in memory; nobody else has it
	size     int    // with the header
}

const (
	headerSize = 24
	// maxExchange bounds the number of an exchange.
	maxExchange = math.MaxInt32
)

// A badFrame is the end of a connection whose neighbour has sent a forbidden frame.
type badFrame struct{ reason error }

func (b *badFrame) Error() string { return b.reason.Error() }

func (b *badFrame) Unwrap() error { return b.reason }

func badFramef(format string, args ...any) error { return &badFrame{fmt.Errorf(format, args...)} }

// newFrame returns the header of a frame that has room for a payload of n bytes after it, which
// begins at a multiple of 8 in memory.
func newFrame(h frame, payload int) []byte {
	b := alignedBytes(headerSize + payload)[:headerSize]
	b[0] = byte(h.kind)
	binary.LittleEndian.PutUint32(b[4:], uint32(h.exchange))
	binary.LittleEndian.PutUint64(b[8:], h.session)
	binary.LittleEndian.PutUint64(b[16:], h.purpose)
	return b
}

// decode reads a frame of size bytes into f, with a payload of its own memory. maxVector is the
// most bytes of a vector. Each error but r's own is a [*badFrame].
func (f *frame) decode(r io.Reader, size, maxVector int) error {
	if size < headerSize {
		return badFramef("a frame must have at least %d bytes; it has %d", headerSize, size)
	}
	var b [headerSize]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return err
	}
	exchange := binary.LittleEndian.Uint32(b[4:])
	*f = frame{kind: kind(b[0]), exchange: int(exchange), session: binary.LittleEndian.Uint64(b[8:]),
		purpose: binary.LittleEndian.Uint64(b[16:]), size: size}
	switch {
	case f.kind == 0 || f.kind >= kindEnd || b[1]|b[2]|b[3] != 0:
		return badFramef("frames that begin with %x are not known", b[:4])
	case exchange > maxExchange:
		return badFramef("the exchange of a frame must be at most %d; it is %d", maxExchange, exchange)
	}
	if most := maxPayload(f.kind, maxVector); size-headerSize > most {
		return badFramef("a frame of kind %d must have at most %d bytes; it has %d", f.kind, headerSize+most, size)
	}
	f.payload = alignedBytes(size - headerSize)
	_, err := io.ReadFull(r, f.payload)
	return err
}

// maxPayload returns the most bytes of a kind's payload: 0 of a heartbeat, which is a header.
func maxPayload(k kind, maxVector int) int {
	return [kindEnd]int{kindHello: maxHello, kindFlood: maxFlood, kindVector: maxVector}[k]
}

// encodeVector returns the frame of a vector of float64s, whose bytes are in the order of all
// machines of a run ([network.Program]).
func encodeVector(h frame, v []float64) []byte {
	h.kind = kindVector
	return append(newFrame(h, 8*len(v)), bytesOf(v)...)
}

// vectorOf returns the float64s of a payload, in its memory.
func vectorOf(payload []byte) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(payload))), len(payload)/8)
}

// alignedBytes returns n bytes that begin at a multiple of 8 in memory.
func alignedBytes(n int) []byte { return bytesOf(make([]float64, (n+7)/8))[:n] }

func bytesOf(v []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 8*len(v))
}

// A codec hands frames to gRPC as they are, without protocol buffers.
type codec struct{ maxVector int }

// Name implements encoding.CodecV2. It becomes part of the content type.
func (codec) Name() string { return "dsbo-frame" }

// Marshal implements encoding.CodecV2 for an encoded frame, which gRPC may read after it has
// returned: the bytes of a frame never change.
func (codec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

// Unmarshal implements encoding.CodecV2 for a *received. An error ends the stream.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	r, f := data.Reader(), v.(*received)
	f.fault = f.decode(r, data.Len(), c.maxVector)
	return errors.Join(f.fault, r.Close())
}

// A received frame carries its own error, since gRPC would turn a codec's error into a status.
type received struct {
	frame
	fault error // nil if it could be read
}

// An exchange's purpose goes with each vector, so that agents at different points find out. The
// lowest two bits are the kind of work, the others its details.
const (
	mixing  = iota
	handing // over a joining member's handover
	reducingWords
	workBits = 2

	// notFinite is part of the purpose of a vector that is mixed if its sender knows that not all
	// of its numbers are finite, as the numbers of a run that diverges.
	notFinite = 1 << workBits
)

// tagShift is where a masked sum has the tag of its masks in its purpose, above the length of a
// vector. Agents whose masks do not cancel so find out.
const tagShift = 46

// severalBits is above the number of bits of any word. With several kinds of words reduced together
// it takes that number's place, plus the number of kinds.
const severalBits = 64

// Where the purpose of a reduction has the bits of its words, 7 bits wide, and their number; the
// operation is below.
const (
	bitsShift   = 10
	lengthShift = 17
)

func reducing(op network.Op, bits, length int) uint64 {
	return reducingWords | uint64(op)<<workBits | uint64(bits)<<bitsShift | uint64(length)<<lengthShift
}

func taggedWith(purpose uint64, tag int) uint64 { return purpose | uint64(tag&0xffff)<<tagShift }

// purposeName names what an agent does, as in "agent 3 mixes". A purpose may be a neighbour's, and
// then any number.
func purposeName(purpose uint64) string {
	switch purpose & (1<<workBits - 1) {
	case mixing:
		return "mixes"
	case handing:
		return "hands over a state"
	}
	name := map[network.Op]string{network.Sum: "sums",
		network.Max: "takes the largest of"}[network.Op(purpose>>workBits)]
	words, bits := purpose&(1<<tagShift-1)>>lengthShift, purpose>>bitsShift&127
	text := fmt.Sprintf("%s %d words of %d bits", name, words, bits)
	if bits > severalBits && bits < network.Whole {
		text = fmt.Sprintf("%s %d words of %d kinds", name, words, bits-severalBits)
	}
	if tag := purpose >> tagShift; tag != 0 {
		text += fmt.Sprintf(" under masks %04x", tag)
	}
	return text
}

// sameWork reports whether two purposes are the same. Mixing matches mixing, of finite numbers or
// not.
func sameWork(a, b uint64) bool {
	return a == b || a&^notFinite == mixing && b&^notFinite == mixing
}
