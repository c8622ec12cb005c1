package grpc

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// maxName bounds a run id and a configuration hash, so that a hello fits a frame.
const maxName = 255

// A hello opens a stream. Its header says how far the sender is and what it wants next.
type hello struct {
	header
	to     int // whom the sender takes the receiver for
	run    string
	config string
}

// runHash names a run in each frame.
func runHash(run, config string) uint64 {
	h := sha256.New()
	for _, s := range []string{run, config} {
		h.Write(appendName(nil, s))
	}
	return binary.LittleEndian.Uint64(h.Sum(nil))
}

func appendName(b []byte, s string) []byte {
	b = binary.LittleEndian.AppendUint16(b, uint16(len(s)))
	return append(b, s...)
}

func (h hello) encode() []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(h.to))
	b = appendName(b, h.run)
	b = appendName(b, h.config)
	h.kind = kindHello
	return encode(h.header, b)
}

// readHello reads the hello in a frame.
func readHello(f *frame) (hello, error) {
	if f.err != nil {
		return hello{}, f.err
	}
	if f.kind != kindHello {
		return hello{}, fmt.Errorf("the stream begins with a frame of kind %s, want hello", f.kind)
	}
	h := hello{header: f.header}
	b := f.text
	short := errors.New("a hello of the wrong length")
	if len(b) < 4 {
		return hello{}, short
	}
	h.to = int(binary.LittleEndian.Uint32(b))
	b = b[4:]
	for _, dst := range []*string{&h.run, &h.config} {
		if len(b) < 2 {
			return hello{}, short
		}
		n := int(binary.LittleEndian.Uint16(b))
		b = b[2:]
		if n > maxName || n > len(b) {
			return hello{}, short
		}
		*dst, b = string(b[:n]), b[n:]
	}
	if len(b) > 0 {
		return hello{}, short
	}
	if h.header.run != runHash(h.run, h.config) {
		return hello{}, errors.New("a hello whose hash is not that of its run")
	}
	return h, nil
}
