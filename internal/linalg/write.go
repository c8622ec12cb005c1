package linalg

import (
	"encoding/binary"
	"io"
	"slices"

	"dsbo/internal/kernel"
)

// writeBuffers are scratch of Write: a checkpoint has thousands of short vectors.
var writeBuffers kernel.Spares[[]byte]

// Write writes the bits of v, least significant byte first, a few numbers at a time.
func Write(w io.Writer, v []float64) error {
	buffer := writeBuffers.Get()
	defer writeBuffers.Add(buffer)
	for part := range slices.Chunk(v, 512) {
		*buffer, _ = binary.Append((*buffer)[:0], binary.LittleEndian, part) // which float64s always can
		if _, err := w.Write(*buffer); err != nil {
			return err
		}
	}
	return nil
}
