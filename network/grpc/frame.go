package grpc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// A kind says what a frame is for.
type kind uint8

const (
	kindHello kind = 1 + iota // the first frame of a stream, in both directions
	kindData                  // the vector of one exchange
	kindPing                  // how far the sender is
	kindAsk                   // the same, and the frames from next on are to be sent again
	kindDone                  // the same of an agent that has finished
	kindFail                  // the run has failed, and why
	kindEnd                   // the first number that is no kind
)

func (k kind) String() string {
	names := [...]string{"unknown", "hello", "data", "ping", "ask", "done", "fail"}
	if k >= kindEnd {
		k = 0
	}
	return names[k]
}

// A frame is headerSize bytes and a payload. All numbers are little-endian:
//
//	 0  magic      4 bytes
//	 4  version    1
//	 5  kind       1
//	 6  zero       2
//	 8  run        8  hash of run id and configuration
//	16  from       4  the sender
//	20  length     4  of the payload
//	24  round      8
//	32  next       8
//	40  checksum   4  CRC-32C of all the other bytes
//	44  seq        4
const (
	headerSize     = 48
	checksumOffset = 40
	magic          = "dsbo"
	version        = 1

	// maxText bounds the payload of all kinds but data.
	maxText = 1024
	// maxRound leaves room for sums.
	maxRound = 1 << 62
)

// errDamaged marks a frame that is not as it was sent.
var errDamaged = errors.New("damaged frame")

type header struct {
	kind kind
	run  uint64
	from int
	// round is the exchange of a data frame. In the other kinds it is how many exchanges the
	// sender has put on this stream and before: the frames up to there that have not come are lost.
	round int
	// seq counts the frames of a stream other than data and hello, from 1, so that one which comes late does
	// not undo what a later one said.
	seq uint32
	// next is the first exchange that the sender has not received. In a data frame, which is the same for all
	// neighbours, it is what the exchange is for: mixing, or gathering rows of some length. When the run has failed,
	// round is the agent that failed and next its error's kind.
	next int
}

// A frame is one that was received. Its memory is used again by the next decode.
type frame struct {
	header
	sum  uint32
	data []float64 // payload of a data frame
	text []byte    // payload of the other kinds
	size int       // in bytes, header included
	err  error     // why it cannot be used; matches errDamaged if it was damaged on its way
}

// encode returns a frame of a kind other than data.
func encode(h header, text []byte) []byte {
	b := make([]byte, headerSize+len(text))
	h.put(b, len(text))
	copy(b[headerSize:], text)
	return seal(b)
}

// encodeData returns the frame of one exchange.
func encodeData(run uint64, from, round, purpose int, v []float64) []byte {
	var head [headerSize / 8]float64
	h := header{kind: kindData, run: run, from: from, round: round, next: purpose}
	h.put(bytesOf(head[:]), 8*len(v))
	b := bytesOf(append(head[:], v...)) // unlike make, append clears nothing that is written next
	if cpu.IsBigEndian {
		for i, x := range floatBits(v) {
			binary.LittleEndian.PutUint64(b[headerSize+8*i:], x)
		}
	}
	return seal(b)
}

// vectorOf returns the vector of a frame that encodeData has made, mostly in the frame's memory.
func vectorOf(frame []byte) []float64 {
	payload := frame[headerSize:]
	v := unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(payload))), len(payload)/8)
	if cpu.IsBigEndian {
		v = slices.Clone(v)
		for i := range v {
			floatBits(v)[i] = binary.LittleEndian.Uint64(payload[8*i:])
		}
	}
	return v
}

// put writes all but the checksum to the start of a frame.
func (h header) put(b []byte, payload int) {
	copy(b, magic)
	b[4] = version
	b[5] = byte(h.kind)
	binary.LittleEndian.PutUint64(b[8:], h.run)
	binary.LittleEndian.PutUint32(b[16:], uint32(h.from))
	binary.LittleEndian.PutUint32(b[20:], uint32(payload))
	binary.LittleEndian.PutUint64(b[24:], uint64(h.round))
	binary.LittleEndian.PutUint64(b[32:], uint64(h.next))
	binary.LittleEndian.PutUint32(b[44:], h.seq)
}

// seal writes the checksum of a frame whose checksum is zero.
func seal(b []byte) []byte {
	binary.LittleEndian.PutUint32(b[checksumOffset:], crc32.Checksum(b, castagnoli()))
	return b
}

// castagnoli returns the table of the checksum, which crc32 makes once.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// checksum returns the one that stands in a sealed frame.
func checksum(b []byte) uint32 { return binary.LittleEndian.Uint32(b[checksumOffset:]) }

// decode reads a frame of size bytes into f and sets f.err if that is not possible. It allocates
// no more than the payload.
func (f *frame) decode(r io.Reader, size int) {
	f.header, f.sum, f.data, f.text, f.size = header{}, 0, f.data[:0], f.text[:0], size
	f.err = f.read(r, size)
}

func (f *frame) read(r io.Reader, size int) error {
	var b [headerSize]byte
	if size < headerSize {
		return fmt.Errorf("%w: %d bytes, want at least %d", errDamaged, size, headerSize)
	}
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	payload := size - headerSize
	if length := binary.LittleEndian.Uint32(b[20:]); int64(length) != int64(payload) {
		return fmt.Errorf("%w: the header says %d bytes of payload, but there are %d", errDamaged, length, payload)
	}
	f.kind = kind(b[5])
	f.sum = checksum(b[:])
	clear(b[checksumOffset : checksumOffset+4])
	sum := crc32.Update(0, castagnoli(), b[:])
	sum, err := f.readPayload(r, payload, sum)
	if err != nil {
		return err
	}
	if sum != f.sum {
		return fmt.Errorf("%w: checksum %08x, want %08x", errDamaged, sum, f.sum)
	}
	return f.readHeader(b[:])
}

// readHeader reads the header of a frame whose checksum is right.
func (f *frame) readHeader(b []byte) error {
	if string(b[:4]) != magic || b[4] != version {
		return fmt.Errorf("frame %q of version %d, want %q of version %d", b[:4], b[4], magic, version)
	}
	if f.kind == 0 || f.kind >= kindEnd || b[6] != 0 || b[7] != 0 {
		return fmt.Errorf("unknown kind of frame: %d", f.kind)
	}
	f.run = binary.LittleEndian.Uint64(b[8:])
	f.from = int(binary.LittleEndian.Uint32(b[16:]))
	round, next := binary.LittleEndian.Uint64(b[24:]), binary.LittleEndian.Uint64(b[32:])
	if round > maxRound || next > maxRound {
		return fmt.Errorf("exchange %d or %d in a frame, want at most %d", round, next, maxRound)
	}
	f.round, f.next = int(round), int(next)
	f.seq = binary.LittleEndian.Uint32(b[44:])
	return nil
}

// readPayload reads n bytes to where they belong and returns the checksum with them.
func (f *frame) readPayload(r io.Reader, n int, sum uint32) (uint32, error) {
	var dst []byte
	if f.kind == kindData {
		if n%8 != 0 {
			return 0, fmt.Errorf("%w: %d bytes of numbers, want a multiple of 8", errDamaged, n)
		}
		f.data = resize(f.data, n/8)
		dst = bytesOf(f.data)
	} else {
		if n > maxText {
			return 0, fmt.Errorf("%w: %d bytes in a frame of kind %s, want at most %d", errDamaged, n, f.kind, maxText)
		}
		f.text = resize(f.text, n)
		dst = f.text
	}
	for len(dst) > 0 { // in pieces, so that the checksum reads them from the cache
		piece := dst[:min(len(dst), 32<<10)]
		if _, err := io.ReadFull(r, piece); err != nil {
			return 0, fmt.Errorf("%w: %w", errDamaged, err)
		}
		sum = crc32.Update(sum, castagnoli(), piece)
		dst = dst[len(piece):]
	}
	if cpu.IsBigEndian {
		raw := bytesOf(f.data)
		for i := range f.data {
			floatBits(f.data)[i] = binary.LittleEndian.Uint64(raw[8*i:])
		}
	}
	return sum, nil
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// bytesOf returns the memory of v.
func bytesOf(v []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 8*len(v))
}

// floatBits returns the memory of v as whole numbers: a float64 that is moved as such may lose
// the payload of a NaN on some machines.
func floatBits(v []float64) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(v))), len(v))
}
