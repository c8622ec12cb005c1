package files

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
)

// Bounds of the unpacked size of a gzip file: tables of text shrink to a fifth or a
// tenth.
const (
	unwrapTimes = 200
	unwrapPlus  = 64 << 20
	// mostUnwrapped bounds what a table from gzip takes: 16 GiB, if each value has two bytes.
	mostUnwrapped = 4 << 30
)

// An Input is the content of a file, gzip unwrapped. It can be read several times.
type Input struct {
	name   string
	file   io.ReaderAt
	length int64
	zipped bool
	limit  int64 // of the unwrapped content
}

// NewInput is a file of length bytes whose name is for errors. What is not a gzip file is taken as
// it is.
func NewInput(name string, file io.ReaderAt, length int64) (*Input, error) {
	in := &Input{name: name, file: file, length: length, limit: length}
	var magic [2]byte
	if n, err := file.ReadAt(magic[:], 0); n < 2 && err != io.EOF {
		return nil, in.Error(err)
	}
	if in.zipped = magic == [2]byte{0x1f, 0x8b}; in.zipped {
		in.limit = min(Limit(length), mostUnwrapped)
	}
	return in, nil
}

// Limit returns the most bytes that a compressed file of length bytes may expand to: 64 MiB and 200
// times its length.
func Limit(length int64) int64 {
	return unwrapPlus + unwrapTimes*min(length, (math.MaxInt64-unwrapPlus)/unwrapTimes)
}

// Name returns the name of the file.
func (in *Input) Name() string { return in.name }

// Most returns the number of bytes that the content does not exceed: its length, or the limit of
// what gzip may unwrap to.
func (in *Input) Most() int64 { return in.limit }

// Reader returns a reader of the content from its beginning. It fails with a [*Error] where the
// gzip header is damaged; what the reader fails with later is to be made one by [Input.Error].
func (in *Input) Reader() (io.Reader, error) {
	plain := io.NewSectionReader(in.file, 0, in.length)
	if !in.zipped {
		return plain, nil
	}
	z, err := gzip.NewReader(plain)
	if err != nil {
		return nil, in.Fail(0, "", "damaged gzip header%s", ReadReason(err))
	}
	return &unzipped{in: in, z: z}, nil
}

// ReaderAt returns the content for formats that do not read it from its beginning to its end, and
// its length. What gzip compressed is unwrapped in memory.
func (in *Input) ReaderAt() (io.ReaderAt, int64, error) {
	if !in.zipped {
		return in.file, in.length, nil
	}
	r, err := in.Reader()
	if err != nil {
		return nil, 0, err
	}
	content, err := io.ReadAll(r)
	if err != nil {
		return nil, 0, in.Error(err)
	}
	return bytes.NewReader(content), int64(len(content)), nil
}

// Error is an [*Error] of this file with the reason of another error.
func (in *Input) Error(err error) error { return in.Fail(0, "", "%v", err) }

// Fail is an [*Error] of this file, at a line and in a column if they are not 0 and "".
func (in *Input) Fail(line int, column, format string, args ...any) error {
	return &Error{File: in.name, Line: line, Column: column, Reason: fmt.Sprintf(format, args...)}
}

// An unzipped reader reports faults of a gzip file, and stops where it becomes too long.
type unzipped struct {
	in   *Input
	z    io.Reader
	done int64
}

var errCut = errors.New("the gzip data are cut short")

// Read implements [io.Reader], up to the limit of unwrapped bytes.
func (u *unzipped) Read(p []byte) (int, error) {
	n, err := u.z.Read(p)
	u.done += int64(n)
	switch {
	case u.done > u.in.limit:
		return 0, fmt.Errorf("a compressed file of %d bytes may unwrap to %d; it has more (gunzip it first)",
			u.in.length, u.in.limit)
	case err == io.ErrUnexpectedEOF:
		return n, errCut // not to be taken for an end
	}
	return n, err
}
