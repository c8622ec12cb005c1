package files

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
)

// WriteNPY writes float64s in a shape, the last index running fastest. The product of the shape
// must be the count of numbers.
func WriteNPY(w io.Writer, numbers []float64, shape ...int) error {
	dims, total := make([]string, len(shape)), 1
	for i, n := range shape {
		dims[i], total = fmt.Sprint(n), total*n
	}
	if total != len(numbers) {
		return fmt.Errorf("%d numbers in the shape %v", len(numbers), shape)
	}
	text := strings.Join(dims, ", ")
	if len(shape) == 1 {
		text += ","
	}
	text = fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%s)}", text)
	// numbers begin at a multiple of 16, after 10 bytes of magic, version and length
	text += strings.Repeat(" ", 16-(10+len(text))%16)
	out := append([]byte("\x93NUMPY\x01\x00"), byte(len(text)), byte(len(text)>>8))
	out = append(out, text...)
	for _, v := range numbers {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	}
	_, err := w.Write(out)
	return err
}
