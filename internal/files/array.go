// Readers of arrays read files of one array, NumPy's .npy and IDX, number by number, and
// writes .npy.

package files

import (
	"encoding/binary"
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
	kind  byte             // f, i, u or b
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

// Bytes reads the whole array as the file's bytes. A false header costs no more memory than guess,
// or twice the file's length.
func (r *Reader) Bytes(guess int) ([]byte, error) {
	return readExactly(r.in, r.Len()*r.size, guess)
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
	r.decode(numbers)
	if r.kind == 'f' {
		return nil
	}
	for i, v := range numbers {
		if math.Abs(v) >= 1<<53 {
			return fmt.Errorf("integers must be less than 2^53 in magnitude; %s has %.0f", r.Place(at+i), v)
		}
	}
	return nil
}

// End returns an error if anything follows the array, or if the compressed input is damaged at
// its end.
func (r *Reader) End() error { return readEnd(r.in, r.Len()*r.size) }

// Place names the place of a number in the order of the file.
func (r *Reader) Place(i int) string {
	row, column := i/(r.Len()/r.Shape[0]), i%(r.Len()/r.Shape[0])
	if r.Fortran {
		row, column = i%r.Shape[0], i/r.Shape[0]
	}
	return fmt.Sprintf("row %d, column %d", row, column)
}

// decode decodes the bytes in raw.
func (r *Reader) decode(numbers []float64) {
	for i := range numbers {
		b := r.raw[i*r.size:][:r.size]
		switch {
		case r.kind == 'f' && r.size == 4:
			numbers[i] = float64(math.Float32frombits(r.order.Uint32(b)))
		case r.kind == 'f':
			numbers[i] = math.Float64frombits(r.order.Uint64(b))
		case r.size == 1 && r.kind != 'i':
			numbers[i] = float64(b[0])
		default:
			numbers[i] = r.integer(b)
		}
	}
}

// integer reads one number of kind i or u.
func (r *Reader) integer(b []byte) float64 {
	var v uint64
	for i := range b {
		if r.order == binary.BigEndian {
			v = v<<8 | uint64(b[i])
		} else {
			v |= uint64(b[i]) << (8 * i)
		}
	}
	if r.kind != 'i' {
		return float64(v)
	}
	unused := 64 - 8*r.size
	return float64(int64(v<<unused) >> unused)
}

func (r *Reader) setType(name string) {
	r.Type, r.kind, r.size = name, name[0], int(name[1]-'0')
}

// setShape sets a shape, and reports whether it can be one.
func (r *Reader) setShape(shape []int) bool {
	size := float64(r.size) // a product that may not fit in an int
	for _, d := range shape {
		if d < 1 {
			return false
		}
		size *= float64(d)
	}
	r.Shape = shape
	return size <= math.MaxInt/2
}
