// Package npy reads and writes NumPy's files of one array.
package npy

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"dsbo/internal/exactread"
)

// An Array is a matrix in C order, or a vector as one column. One of the slices holds its numbers: uint8 and float32
// as they are, all other types as float64.
type Array struct {
	Rows, Cols int
	Bytes      []uint8
	Float32s   []float32
	Float64s   []float64
}

// Read reads an array of float32, float64, bool or integers of any width and byte order, in C or Fortran order, up to the
// end of the input. An integer from 2^53 on, which float64 would round, is an error that names row and column.
func Read(r io.Reader) (*Array, error) {
	in := bufio.NewReader(r)
	h, err := readHeader(in)
	if err != nil {
		return nil, err
	}
	raw, err := exactread.Bytes(in, h.rows*h.cols*h.size, 1<<20)
	if err != nil {
		return nil, err
	}
	return h.array(raw)
}

// A header says what numbers follow it.
type header struct {
	rows, cols int
	order      binary.ByteOrder
	kind       byte // f, i, u or b
	size       int  // bytes a number
	fortran    bool
}

func readHeader(r io.Reader) (header, error) {
	start, err := readBytes(r, 8)
	if err != nil {
		return header{}, err
	}
	if string(start[:6]) != "\x93NUMPY" {
		return header{}, fmt.Errorf("not an NPY file: it must begin with %q; it begins with %q", "\x93NUMPY", start[:6])
	}
	if start[6] < 1 || start[6] > 3 {
		return header{}, fmt.Errorf("the NPY version must be 1 to 3; it is %d", start[6])
	}
	length, err := readBytes(r, min(2*int(start[6]), 4))
	if err != nil {
		return header{}, err
	}
	n := binary.LittleEndian.Uint32(append(length, 0, 0)[:4])
	const most = 1 << 16 // numpy writes about 100 bytes
	if n > most {
		return header{}, fmt.Errorf("the header must have at most %d bytes; it has %d", most, n)
	}
	text, err := readBytes(r, int(n))
	if err != nil {
		return header{}, err
	}
	return parseHeader(string(text))
}

// readBytes reads n bytes of the header.
func readBytes(r io.Reader, n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, fmt.Errorf("cut short: in the header%s", exactread.Reason(err))
	}
	return b, nil
}

// parseHeader reads the header's text, as in
// {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
func parseHeader(text string) (header, error) {
	var h header
	if err := h.parseType(entry(text, "descr")); err != nil {
		return header{}, err
	}
	switch order := entry(text, "fortran_order"); {
	case strings.HasPrefix(order, "True"):
		h.fortran = true
	case !strings.HasPrefix(order, "False"):
		return header{}, fmt.Errorf("fortran_order in the header must be True or False; it is %.20q", order)
	}
	if err := h.parseShape(entry(text, "shape")); err != nil {
		return header{}, err
	}
	return h, nil
}

// entry returns what follows a key in the header, "" if it is not there.
func entry(text, key string) string {
	_, rest, _ := strings.Cut(text, "'"+key+"'")
	rest, _ = strings.CutPrefix(strings.TrimSpace(rest), ":")
	return strings.TrimSpace(rest)
}

// parseType reads '<f8': byte order, kind and size.
func (h *header) parseType(text string) error {
	descr := text
	if quoted, ok := strings.CutPrefix(text, "'"); ok {
		descr, _, _ = strings.Cut(quoted, "'")
	}
	if len(descr) == 3 {
		h.order = binary.LittleEndian
		if descr[0] == '>' {
			h.order = binary.BigEndian
		}
		h.kind, h.size = descr[1], int(descr[2]-'0')
		if strings.IndexByte("<>|", descr[0]) >= 0 && strings.Contains(" f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 ", " "+descr[1:]+" ") {
			return nil
		}
	}
	return fmt.Errorf("numbers must be float32, float64, integers or bool; their type is %.40q", descr)
}

// parseShape reads (3, 4) or (3,).
func (h *header) parseShape(text string) error {
	inner, _, closed := strings.Cut(strings.TrimPrefix(text, "("), ")")
	dims := strings.Split(strings.TrimSuffix(strings.TrimSpace(inner), ","), ",")
	bad := func() error {
		return fmt.Errorf("the shape must have one or two positive dimensions; it is %.40q", text)
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
	h.rows, h.cols = shape[0], shape[1]
	if h.rows > math.MaxInt/h.size/h.cols {
		return bad()
	}
	return nil
}

// array turns the bytes of the numbers into an array.
func (h *header) array(raw []byte) (*Array, error) {
	made := &Array{Rows: h.rows, Cols: h.cols}
	switch {
	case h.kind == 'u' && h.size == 1:
		made.Bytes = decode(h, raw, func(b []byte) uint8 { return b[0] })
	case h.kind == 'f' && h.size == 4:
		made.Float32s = decode(h, raw, func(b []byte) float32 { return math.Float32frombits(h.order.Uint32(b)) })
	case h.kind == 'f':
		made.Float64s = decode(h, raw, func(b []byte) float64 { return math.Float64frombits(h.order.Uint64(b)) })
	default:
		made.Float64s = decode(h, raw, h.integer)
		for i, v := range made.Float64s {
			if math.Abs(v) >= 1<<53 {
				return nil, fmt.Errorf("integers must be less than 2^53 in magnitude; row %d, column %d has %.0f", i/h.cols, i%h.cols, v)
			}
		}
	}
	return made, nil
}

// decode reads the numbers in C order.
func decode[T any](h *header, raw []byte, number func([]byte) T) []T {
	numbers := make([]T, h.rows*h.cols)
	for i := range numbers {
		at := i
		if h.fortran {
			at = i%h.cols*h.rows + i/h.cols
		}
		numbers[i] = number(raw[at*h.size:][:h.size])
	}
	return numbers
}

// integer reads one number of kind i, u or b.
func (h *header) integer(b []byte) float64 {
	var v uint64
	for i := range b {
		if h.order == binary.BigEndian {
			v = v<<8 | uint64(b[i])
		} else {
			v |= uint64(b[i]) << (8 * i)
		}
	}
	if h.kind != 'i' {
		return float64(v)
	}
	unused := 64 - 8*h.size
	return float64(int64(v<<unused) >> unused)
}
