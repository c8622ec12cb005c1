package files

import (
	"encoding/binary"
	"fmt"
	"io"
)

// idxTypes are the types of numbers by the third byte of an IDX file.
var idxTypes = map[byte]string{0x08: "u1", 0x09: "i1", 0x0b: "i2", 0x0c: "i4", 0x0d: "f4", 0x0e: "f8"}

// IsIDX reports whether a file that begins with these bytes can be IDX: two zeros, a type, and a
// number of dimensions.
func IsIDX(start []byte) bool {
	return len(start) >= 4 && start[0] == 0 && start[1] == 0 && idxTypes[start[2]] != "" && start[3] > 0
}

// IDX reads the header of an IDX file.
func IDX(in io.Reader) (*Reader, error) {
	var magic [4]byte
	if _, err := io.ReadFull(in, magic[:]); err != nil {
		return nil, fmt.Errorf("cut short: no magic number%s", ReadReason(err))
	}
	if !IsIDX(magic[:]) {
		return nil,
			fmt.Errorf(
				"an IDX file must begin with two zeros, a type from 0x08 to 0x0e and a number of dimensions; it "+
					"begins with 0x%x", magic)
	}
	r := &Reader{in: in, order: binary.BigEndian}
	r.setType(idxTypes[magic[2]])
	dims := make([]uint32, magic[3])
	if err := binary.Read(in, binary.BigEndian, dims); err != nil {
		return nil, fmt.Errorf("cut short: in the header%s", ReadReason(err))
	}
	var shape []int
	for _, d := range dims {
		shape = append(shape, int(d))
	}
	if !r.setShape(shape) {
		return nil, fmt.Errorf("dimensions must be positive, with less than 2^62 bytes; they are %d", dims)
	}
	return r, nil
}
