// Readers of arrays read files of one array, NumPy's .npy and IDX, number by number, and
// writes .npy.

package files

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// A Reader reads the numbers of an array.
type Reader struct {
	Shape   []int  // all larger than 0; their product times the size of a number is an int
	Type    string // f4, f8, i1 to i8, u1 to u8, or b1: kind, and bytes a number
	Fortran bool   // the first index runs fastest, not the last one

	in    io.Reader        // where numbers come from
	order binary.ByteOrder // of the bytes of a number
	size  int              // bytes a number
	done  int              // bytes read
	raw   []byte           // scratch
}

// Len returns how many numbers the header announces.
func (r *Reader) Len() int {
	n := 1
	for _, d := range r.Shape {
		n *= d
	}
	return n
}

// Fits returns an error if the header announces more bytes than the most that the file can hold.
func (r *Reader) Fits(most int64) error {
	if n := r.Len() * r.size; int64(n) > most {
		return fmt.Errorf("header announces %d bytes (dimensions %v): a file of at most %d bytes cannot hold them",
			n, r.Shape, most)
	}
	return nil
}

// Bytes reads the whole array as the file's bytes. A false header costs no more memory than twice
// the file's length.
func (r *Reader) Bytes() ([]byte, error) {
	all, err := io.ReadAll(io.LimitReader(r.in, int64(r.Len()*r.size)))
	if r.done = len(all); err != nil || r.done < r.Len()*r.size {
		return nil, r.shortError(cmp.Or(err, io.EOF))
	}
	return all, r.End()
}

// Rows reads the whole array as its bytes in the file, each row into the memory of its length that
// into returns for it. nil: the row is passed over. It takes the memory of one row beside that.
func (r *Reader) Rows(into func(row int) []byte) error {
	other := make([]byte, r.Len()/r.Shape[0]*r.size)
	for i := range r.Shape[0] {
		row := into(i)
		if row == nil {
			row = other
		}
		n, err := io.ReadFull(r.in, row)
		if r.done += n; err != nil {
			return r.shortError(err)
		}
	}
	return r.End()
}

// shortError is the error of a file that ends too early.
func (r *Reader) shortError(err error) error {
	return fmt.Errorf("cut short: there must be %d bytes of data; there are %d%s", r.Len()*r.size, r.done,
		ReadReason(err))
}

// Next reads the next numbers in the order of the file. There must be as many. An integer from 2^53
// on, which float64 would round, is an error that names its place.
func (r *Reader) Next(numbers []float64) error {
	want := len(numbers) * r.size
	r.raw = slices.Grow(r.raw[:0], want)[:want]
	n, err := io.ReadFull(r.in, r.raw)
	at := r.done / r.size
	r.done += n
	if err != nil {
		return r.shortError(err)
	}
	for i := range numbers {
		numbers[i] = r.number(r.raw[i*r.size:][:r.size])
		if v := numbers[i]; r.Type[0] != 'f' && math.Abs(v) >= 1<<53 {
			return fmt.Errorf("integers must be less than 2^53 in magnitude; %s has %.0f", r.Place(at+i), v)
		}
	}
	return nil
}

// End returns an error if anything follows the array, or if the compressed input is damaged at
// its end: reading to the end makes gzip check its sum.
func (r *Reader) End() error {
	n, err := io.ReadFull(r.in, make([]byte, 1))
	if n > 0 {
		return fmt.Errorf("too long: more than the %d bytes that its header announces", r.Len()*r.size)
	}
	if err != io.EOF {
		return fmt.Errorf("damaged at its end%s", ReadReason(err))
	}
	return nil
}

// ReadReason returns an error's text in parentheses, or "" if the error is only the end of the
// input.
func ReadReason(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ""
	}
	return fmt.Sprintf(" (%v)", err)
}

// Place names the place of a number in the order of the file: its row and column, from 1.
func (r *Reader) Place(i int) string {
	row, column := i/(r.Len()/r.Shape[0]), i%(r.Len()/r.Shape[0])
	if r.Fortran {
		row, column = i%r.Shape[0], i/r.Shape[0]
	}
	return fmt.Sprintf("row %d, column %d", row+1, column+1)
}

// number returns the number that some bytes are.
func (r *Reader) number(b []byte) float64 {
	bits := uint64(b[0])
	switch r.size {
	case 2:
		bits = uint64(r.order.Uint16(b))
	case 4:
		bits = uint64(r.order.Uint32(b))
	case 8:
		bits = r.order.Uint64(b)
	}
	switch unused := 64 - 8*r.size; {
	case r.Type == "f4":
		return float64(math.Float32frombits(uint32(bits)))
	case r.Type == "f8":
		return math.Float64frombits(bits)
	case r.Type[0] == 'i':
		return float64(int64(bits<<unused) >> unused)
	}
	return float64(bits)
}

func (r *Reader) setType(name string) { r.Type, r.size = name, int(name[1]-'0') }

// setShape sets a shape, and reports whether it can be one.
func (r *Reader) setShape(shape []int) bool {
	r.Shape = shape
	_, fits := sizeOf(shape, r.size)
	return fits
}

// sizeOf returns the bytes of an array, and whether there is at least one number and memory could
// have them.
func sizeOf(shape []int, size int) (int, bool) {
	for _, n := range shape {
		if n < 1 || size > math.MaxInt/2/n {
			return 0, false
		}
		size *= n
	}
	return size, true
}
