package grpc

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"unsafe"

	"dsbo/network/grpc/masks"
	"dsbo/network/membership/paxos"

	"golang.org/x/sys/cpu"
)

const (
	// maxPiece bounds a piece of what an agent takes over that comes in.
	maxPiece = 60 << 10
	// maxHandover bounds all of it.
	maxHandover = 1 << 30
)

const (
	// maxName bounds each text in a hello.
	maxName = 255
	// maxHello bounds a hello, with its header: nothing larger is read of one that has not said who
	// it is.
	maxHello = 1 << 10
)

// A kind says what a frame is for.
type kind uint8

const (
	kindHello   kind = 1 + iota // the first frame of a stream, in both directions
	kindVector                  // the vector of one exchange
	kindAlive                   // a heartbeat, and what the sender knows of the end of the run
	kindResend                  // the sender went back: the vectors from one exchange on have to come again
	kindFail                    // the run has failed, and why
	kindKey                     // the key of one agent's masks
	kindControl                 // a message of the council
	kindEpoch                   // the sender is in this epoch from here on
	kindAsk                     // a piece of what an agent that comes in takes over is wanted
	kindPiece                   // that piece
	kindEnd                     // the first number that is no kind
)

// A frame is headerSize bytes and a payload. All numbers are little-endian:
//
//	 0  magic     4 bytes
//	 4  version   1
//	 5  kind      1
//	 6  zero      2
//	 8  exchange  8
//	16  detail    8
const (
	headerSize = 24
	magic      = "dsbo"
	// version is the protocol's. An agent understands versions version-1 to version+1, but none
	// before leastVersion, the first in which a reduction is one exchange: what a frame of a later
	// version has and this one does not know is left out for those that lack the capability.
	version      = 6
	leastVersion = 6

	// maxText bounds the payload of all kinds but vectors and keys.
	maxText = 2048
	// maxNumber leaves room for sums.
	maxNumber = 1 << 62
)

type header struct {
	kind kind
	// exchange is the exchange of a vector, in an alive the round of the sender's report. In a
	// hello and a resend it is how many vectors the sender has sent, in a fail the number of the
	// agent that failed, in a key the agent whose key it is.
	exchange int
	// detail is the purpose of a vector. In a hello and a resend it is the exchange of the first
	// vector that the sender needs, in an alive the sender's radius, in a fail the kind of
	// the error.
	detail int
}

// A frame is one that was received. Its memory is used again by the next decode.
type frame struct {
	header
	version byte
	data    []byte // payload of a vector, which begins at a multiple of 8 in memory
	digest  uint64 // of data
	text    []byte // payload of the other kinds
	size    int    // in bytes, header included
	fault   error  // what is wrong with the frame; nil if it could be read
}

// encode returns a frame of a kind other than vector.
func encode(h header, text []byte) []byte {
	b := make([]byte, headerSize+len(text))
	h.encodeTo(b)
	copy(b[headerSize:], text)
	return b
}

// newFrame returns the header of a frame that has room for a payload of n bytes after it.
func newFrame(h header, payload int) []byte {
	b := alignedBytes(headerSize + payload)[:headerSize]
	h.encodeTo(b)
	return b
}

// encodeVector returns the frame of one exchange with float64s.
func encodeVector(exchange, purpose int, v []float64) []byte {
	var head [headerSize / 8]float64
	header{kindVector, exchange, purpose}.encodeTo(bytesOf(head[:]))
	b := bytesOf(append(head[:], v...)) // unlike make, append clears nothing that is written next
	if cpu.IsBigEndian {
		for i, x := range floatBits(v) {
			binary.LittleEndian.PutUint64(b[headerSize+8*i:], x)
		}
	}
	return b
}

// vectorOf returns the float64s of a payload, mostly in its memory.
func vectorOf(payload []byte) []float64 {
	v := unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(payload))), len(payload)/8)
	if cpu.IsBigEndian {
		v = slices.Clone(v)
		raw := bytesOf(v)
		for i := range v {
			floatBits(v)[i] = binary.LittleEndian.Uint64(raw[8*i:])
		}
	}
	return v
}

// encodeTo writes the header to the start of a frame.
func (h header) encodeTo(b []byte) {
	copy(b, magic)
	b[4] = version
	b[5] = byte(h.kind)
	binary.LittleEndian.PutUint64(b[8:], uint64(h.exchange))
	binary.LittleEndian.PutUint64(b[16:], uint64(h.detail))
}

// decode reads a frame of size bytes into f. It allocates no more than the payload.
func (f *frame) decode(r io.Reader, size int) error {
	f.data, f.text, f.size = f.data[:0], f.text[:0], size
	var b [headerSize]byte
	if size < headerSize {
		return fmt.Errorf("a frame must have at least %d bytes; it has %d", headerSize, size)
	}
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return err
	}
	if string(b[:4]) != magic {
		return fmt.Errorf("a frame must begin with %q; it begins with %q", magic, b[:4])
	}
	if f.version = b[4]; f.version < max(leastVersion, version-1) || f.version > version+1 {
		return fmt.Errorf(
			"the protocol must be of version %d to %d; it is of version %d: the programs of neighbours may be one "+
				"version apart",
			max(leastVersion, version-1), version+1, f.version)
	}
	exchange, detail := binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
	f.header = header{kind(b[5]), int(exchange), int(detail)}
	if f.kind == 0 || f.kind >= kindEnd || b[6] != 0 || b[7] != 0 {
		return fmt.Errorf("frames of kind %d are not known", f.kind)
	}
	if exchange > maxNumber || detail > maxNumber {
		return fmt.Errorf("the numbers of a frame must be at most %d; they are %d and %d", maxNumber, exchange, detail)
	}
	if f.kind == kindVector {
		return f.readVector(r, size-headerSize)
	}
	most := maxText
	switch f.kind {
	case kindHello:
		most = maxHello - headerSize
	case kindKey:
		most = masks.MaxText
	case kindControl:
		most = paxos.MaxMessage
	case kindPiece:
		most = maxPiece
	}
	if size > headerSize+most {
		return fmt.Errorf("a frame of kind %d must have at most %d bytes; it has %d", f.kind, headerSize+most, size)
	}
	f.text = resize(f.text, size-headerSize)
	_, err := io.ReadFull(r, f.text)
	return err
}

// digestSeed makes the digests of this process, which leave it nowhere.
var digestSeed = maphash.MakeSeed()

// readVector reads a payload of n bytes.
func (f *frame) readVector(r io.Reader, n int) error {
	if cap(f.data) < n {
		f.data = alignedBytes(n)
	}
	f.data = f.data[:n]
	if _, err := io.ReadFull(r, f.data); err != nil {
		return err
	}
	f.digest = maphash.Bytes(digestSeed, f.data)
	return nil
}

// alignedBytes returns n bytes that begin at a multiple of 8 in memory.
func alignedBytes(n int) []byte { return bytesOf(make([]float64, (n+7)/8))[:n] }

// bytesOf returns the memory of v.
func bytesOf(v []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 8*len(v))
}

// floatBits returns the memory of v as whole numbers: a float64 that is moved as such may lose
// the payload of a NaN on some machines.
func floatBits(v []float64) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(v))), len(v))
}

// resize returns n elements in the memory of s, if that is enough.
func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }
