package session

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"unsafe"
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
