package linalg

import (
	"encoding/binary"
	"io"
	"slices"
)

// Write writes the bits of v, least significant byte first, a few numbers at a time.
func Write(w io.Writer, v []float64) error {
	var buffer []byte
	for part := range slices.Chunk(v, 512) {
		buffer, _ = binary.Append(buffer[:0], binary.LittleEndian, part) // which float64s always can
		if _, err := w.Write(buffer); err != nil {
			return err
		}
	}
	return nil
}
