package data

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"io"
	"math"

	"dsbo/internal/exactread"
)

// The first four bytes of the files: unsigned bytes (8) in 3 or 1 dimensions.
const (
	imagesMagic = 0x00000803
	labelsMagic = 0x00000801
)

// deflateMost is more than the factor by which gzip can shrink anything (1032).
const deflateMost = 1100

// firstChunk is the most that is allocated on the word of a header; MNIST fits.
const firstChunk = 64 << 20

// An idxFile is the content of one file: data in row-major order of dims.
type idxFile struct {
	name string
	dims []int
	data []byte
}

// readIDX reads an IDX file, plain or compressed with gzip, that is length bytes long. It is our
// own reader, not GoMNIST's, which believes the header: a negative or huge count makes that panic
// or run out of memory. Errors are a *FileError.
func readIDX(in io.Reader, name string, length int64, magic uint32) (idxFile, error) {
	fail := func(format string, args ...any) (idxFile, error) {
		return idxFile{}, fileError(name, 0, format, args...)
	}
	r := bufio.NewReader(in)
	most := float64(length)
	if start, _ := r.Peek(2); len(start) == 2 && start[0] == 0x1f && start[1] == 0x8b {
		z, err := gzip.NewReader(r)
		if err != nil {
			return fail("damaged gzip header%s", exactread.Reason(err))
		}
		r, most = bufio.NewReader(z), deflateMost*float64(length)
	}

	header := make([]uint32, 1+int(magic&0xff))
	if err := binary.Read(r, binary.BigEndian, header[:1]); err != nil {
		return fail("cut short: no magic number%s", exactread.Reason(err))
	}
	if header[0] != magic {
		return fail("magic number must be 0x%08x; it is 0x%08x", magic, header[0])
	}
	if err := binary.Read(r, binary.BigEndian, header[1:]); err != nil {
		return fail("cut short: in the header%s", exactread.Reason(err))
	}
	f := idxFile{name: name}
	size := 1.0 // a product that may not fit in an int
	for _, d := range header[1:] {
		size *= float64(d)
		f.dims = append(f.dims, int(d))
	}
	if size == 0 {
		return fail("no rows: dimensions %v", f.dims)
	}
	if size > min(most, math.MaxInt32) {
		return fail("header announces %.0f bytes (dimensions %v): a file of %d bytes cannot hold them", size, f.dims, length)
	}
	var err error
	if f.data, err = exactread.Bytes(r, int(size), firstChunk); err != nil {
		return fail("%v", err)
	}
	return f, nil
}
