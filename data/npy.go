package data

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"dsbo/ad"
)

// ReadNPY reads a matrix, or a vector as one column, that numpy.save wrote: float32, float64,
// bool and integers of any width and byte order, in C or Fortran order. float32 and uint8 keep
// their size in memory; the others become float64.
//
// Errors are a [*FileError]; for a number that is not finite, or an integer from 2^53 on, which
// float64 would round, it names row and column.
func ReadNPY(r io.Reader) (*ad.Table, error) {
	name := nameOf(r)
	in := bufio.NewReader(r)
	a, err := readNPYHeader(in)
	if err != nil {
		return nil, &FileError{File: name, Reason: err.Error()}
	}
	raw, err := readExactly(in, a.rows*a.cols*a.size, 1<<20)
	if err != nil {
		return nil, &FileError{File: name, Reason: err.Error()}
	}
	t, err := a.table(raw)
	if err != nil {
		return nil, &FileError{File: name, Reason: err.Error()}
	}
	return t, nil
}

// An array is what the header of an NPY file says.
type array struct {
	rows, cols int
	order      binary.ByteOrder
	kind       byte // f, i, u or b
	size       int  // bytes a number
	fortran    bool
}

func readNPYHeader(r io.Reader) (array, error) {
	start := make([]byte, 8)
	if _, err := io.ReadFull(r, start); err != nil {
		return array{}, fmt.Errorf("cut short: in the header%s", because(err))
	}
	if string(start[:6]) != "\x93NUMPY" {
		return array{}, fmt.Errorf("not an NPY file: begins with %q, want %q", start[:6], "\x93NUMPY")
	}
	length := make([]byte, 2)
	if start[6] >= 2 {
		length = make([]byte, 4)
	}
	if start[6] < 1 || start[6] > 3 {
		return array{}, fmt.Errorf("NPY version %d, want 1 to 3", start[6])
	}
	if _, err := io.ReadFull(r, length); err != nil {
		return array{}, fmt.Errorf("cut short: in the header%s", because(err))
	}
	n := binary.LittleEndian.Uint32(append(length, 0, 0)[:4])
	const most = 1 << 16 // numpy writes about 100 bytes
	if n > most {
		return array{}, fmt.Errorf("header of %d bytes, want at most %d", n, most)
	}
	header := make([]byte, n)
	if _, err := io.ReadFull(r, header); err != nil {
		return array{}, fmt.Errorf("cut short: in the header%s", because(err))
	}
	return parseNPYHeader(string(header))
}

// parseNPYHeader reads the header's text, as in
// {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
func parseNPYHeader(text string) (array, error) {
	var a array
	if err := a.parseType(entry(text, "descr")); err != nil {
		return array{}, err
	}
	switch order := entry(text, "fortran_order"); {
	case strings.HasPrefix(order, "True"):
		a.fortran = true
	case !strings.HasPrefix(order, "False"):
		return array{}, fmt.Errorf("fortran_order %.20q in the header, want True or False", order)
	}
	if err := a.parseShape(entry(text, "shape")); err != nil {
		return array{}, err
	}
	return a, nil
}

// entry returns what follows a key in the header, "" if it is not there.
func entry(text, key string) string {
	_, rest, _ := strings.Cut(text, "'"+key+"'")
	rest, _ = strings.CutPrefix(strings.TrimSpace(rest), ":")
	return strings.TrimSpace(rest)
}

// parseType reads '<f8': byte order, kind and size.
func (a *array) parseType(text string) error {
	descr := text
	if quoted, ok := strings.CutPrefix(text, "'"); ok {
		descr, _, _ = strings.Cut(quoted, "'")
	}
	if len(descr) == 3 {
		a.order = binary.LittleEndian
		if descr[0] == '>' {
			a.order = binary.BigEndian
		}
		a.kind, a.size = descr[1], int(descr[2]-'0')
		if strings.IndexByte("<>|", descr[0]) >= 0 && strings.Contains(" f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 ", " "+descr[1:]+" ") {
			return nil
		}
	}
	return fmt.Errorf("numbers of type %.40q, want float32, float64, integers or bool", descr)
}

// parseShape reads (3, 4) or (3,).
func (a *array) parseShape(text string) error {
	inner, _, closed := strings.Cut(strings.TrimPrefix(text, "("), ")")
	dims := strings.Split(strings.TrimSuffix(strings.TrimSpace(inner), ","), ",")
	bad := func() error {
		return fmt.Errorf("shape %.40q: want one or two positive dimensions", text)
	}
	if !strings.HasPrefix(text, "(") || !closed || len(dims) > 2 {
		return bad()
	}
	shape := [2]int{0, 1}
	for i, d := range dims {
		n, err := strconv.Atoi(strings.TrimSpace(d))
		if err != nil || n < 1 {
			return bad()
		}
		shape[i] = n
	}
	a.rows, a.cols = shape[0], shape[1]
	if a.rows > math.MaxInt/a.size/a.cols {
		return bad()
	}
	return nil
}

// table turns the bytes of the numbers into a table.
func (a *array) table(raw []byte) (*ad.Table, error) {
	switch {
	case a.kind == 'u' && a.size == 1:
		return ad.ByteTable(a.rows, a.cols, decode(a, raw, func(b []byte) uint8 { return b[0] }), 1)
	case a.kind == 'f' && a.size == 4:
		return ad.Float32Table(a.rows, a.cols, decode(a, raw, func(b []byte) float32 {
			return math.Float32frombits(a.order.Uint32(b))
		}))
	case a.kind == 'f':
		return ad.FloatTable(a.rows, a.cols, decode(a, raw, func(b []byte) float64 {
			return math.Float64frombits(a.order.Uint64(b))
		}))
	}
	numbers := decode(a, raw, a.integer)
	for i, v := range numbers {
		if math.Abs(v) >= 1<<53 {
			return nil, fmt.Errorf("integer %.0f in row %d, column %d: want less than 2^53 in magnitude", v, i/a.cols, i%a.cols)
		}
	}
	return ad.FloatTable(a.rows, a.cols, numbers)
}

// decode reads the numbers in C order.
func decode[T any](a *array, raw []byte, number func([]byte) T) []T {
	numbers := make([]T, a.rows*a.cols)
	for i := range numbers {
		at := i
		if a.fortran {
			at = i%a.cols*a.rows + i/a.cols
		}
		numbers[i] = number(raw[at*a.size:][:a.size])
	}
	return numbers
}

// integer reads one number of kind i, u or b.
func (a *array) integer(b []byte) float64 {
	var v uint64
	switch a.size {
	case 1:
		v = uint64(b[0])
	case 2:
		v = uint64(a.order.Uint16(b))
	case 4:
		v = uint64(a.order.Uint32(b))
	case 8:
		v = a.order.Uint64(b)
	}
	if a.kind != 'i' {
		return float64(v)
	}
	unused := 64 - 8*a.size
	return float64(int64(v<<unused) >> unused)
}
