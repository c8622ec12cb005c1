package files

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// npyMagic is the first bytes of an .npy file.
const npyMagic = "\x93NUMPY"

// IsNPY reports whether a file that begins with these bytes can be NPY.
func IsNPY(start []byte) bool {
	return strings.HasPrefix(string(start[:min(len(start), len(npyMagic))]), npyMagic)
}

// ReadNPY returns all of a file of a vector or matrix, in C order, and its shape.
func ReadNPY(file []byte) (numbers []float64, shape []int, err error) {
	r, err := NPY(bytes.NewReader(file))
	if err == nil {
		err = r.Fits(int64(len(file)))
	}
	if err != nil {
		return nil, nil, err
	}
	numbers = make([]float64, r.Len())
	if err := cmp.Or(r.Next(numbers), r.End()); err != nil {
		return nil, nil, err
	}
	if !r.Fortran {
		return numbers, r.Shape, nil
	}
	rows := r.Shape[0]
	cols := len(numbers) / rows
	moved := make([]float64, len(numbers))
	for i, v := range numbers {
		moved[i%rows*cols+i/rows] = v
	}
	return moved, r.Shape, nil
}

// NPY reads the header of an .npy file of a vector or matrix: float32, float64, bool or integers of
// any width and byte order.
func NPY(in io.Reader) (*Reader, error) {
	start, err := readBytes(in, 8)
	if err != nil {
		return nil, err
	}
	if !IsNPY(start) {
		return nil, fmt.Errorf("not an NPY file: it must begin with %q; it begins with %q", npyMagic, start[:6])
	}
	if start[6] < 1 || start[6] > 3 {
		return nil, fmt.Errorf("the NPY version must be 1 to 3; it is %d", start[6])
	}
	length, err := readBytes(in, min(2*int(start[6]), 4))
	if err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(append(length, 0, 0)[:4])
	const most = 1 << 16 // numpy writes about 100 bytes
	if n > most {
		return nil, fmt.Errorf("the header must have at most %d bytes; it has %d", most, n)
	}
	text, err := readBytes(in, int(n))
	if err != nil {
		return nil, err
	}
	r := &Reader{in: in}
	return r, r.parseHeader(string(text))
}

// readBytes reads n bytes of the header.
func readBytes(r io.Reader, n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, fmt.Errorf("cut short: in the header%s", ReadReason(err))
	}
	return b, nil
}

// parseHeader reads the header's text, as in
// {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
func (r *Reader) parseHeader(text string) error {
	if err := r.parseType(entry(text, "descr")); err != nil {
		return err
	}
	switch order := entry(text, "fortran_order"); {
	case strings.HasPrefix(order, "True"):
		r.Fortran = true
	case !strings.HasPrefix(order, "False"):
		return fmt.Errorf("fortran_order in the header must be True or False; it is %.20q", order)
	}
	return r.parseShape(entry(text, "shape"))
}

// entry returns the text after a key in the header, "" if the key is missing.
func entry(text, key string) string {
	_, rest, _ := strings.Cut(text, "'"+key+"'")
	rest, _ = strings.CutPrefix(strings.TrimSpace(rest), ":")
	return strings.TrimSpace(rest)
}

// parseType reads '<f8': byte order, kind and size.
func (r *Reader) parseType(text string) error {
	descr := text
	if quoted, ok := strings.CutPrefix(text, "'"); ok {
		descr, _, _ = strings.Cut(quoted, "'")
	}
	if len(descr) == 3 && strings.IndexByte("<>|", descr[0]) >= 0 &&
		strings.Contains(" f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 ", " "+descr[1:]+" ") {
		r.order = binary.LittleEndian
		if descr[0] == '>' {
			r.order = binary.BigEndian
		}
		r.setType(descr[1:])
		return nil
	}
	return fmt.Errorf("numbers must be float32, float64, integers or bool; their type is %.40q", descr)
}

// parseShape reads (3, 4) or (3,).
func (r *Reader) parseShape(text string) error {
	inner, rest, closed := strings.Cut(strings.TrimPrefix(text, "("), ")")
	dims := strings.Split(strings.TrimSuffix(strings.TrimSpace(inner), ","), ",")
	fits := strings.HasPrefix(text, "(") && closed && len(dims) <= 2
	var shape []int
	for _, d := range dims {
		n, err := strconv.Atoi(strings.TrimSpace(d))
		fits = fits && err == nil
		shape = append(shape, n)
	}
	if !fits || !r.setShape(shape) {
		return fmt.Errorf("the shape must have one or two positive dimensions; it is %.40q",
			strings.TrimSuffix(text, rest))
	}
	return nil
}
