package table

import (
	"compress/gzip"
	"fmt"
	"io"
	"math"

	"dsbo/internal/exactread"
)

// startBytes is how much of a file a [Format] sees to know it.
const startBytes = 64 << 10

// The most that gzip unwraps to, unless Options.Limit says otherwise: tables of text shrink to a fifth or a tenth.
const (
	unwrapTimes = 200
	unwrapPlus  = 64 << 20
)

// An Input is the content of a file, gzip unwrapped. It can be read several times.
type Input struct {
	name   string
	file   io.ReaderAt
	length int64
	zipped bool
	limit  int64 // of the unwrapped content
}

// Name returns the name of the file.
func (in *Input) Name() string { return in.name }

// Most returns the number of bytes that the content does not exceed: its length, or the limit of what gzip may unwrap to.
func (in *Input) Most() int64 { return in.limit }

// Reader returns a reader of the content from its beginning. Its errors are [*FileError] for a damaged gzip.
func (in *Input) Reader() (io.Reader, error) {
	plain := io.NewSectionReader(in.file, 0, in.length)
	if !in.zipped {
		return plain, nil
	}
	z, err := gzip.NewReader(plain)
	if err != nil {
		return nil, in.fail(0, "", "damaged gzip header%s", exactread.Reason(err))
	}
	return &unzipped{in: in, z: z}, nil
}

// unwrap finds out whether the file is compressed.
func (in *Input) unwrap(limit int64) error {
	var magic [2]byte
	if n, err := in.file.ReadAt(magic[:], 0); n < 2 && err != io.EOF {
		return in.fail(0, "", "%v", err)
	}
	if magic != [2]byte{0x1f, 0x8b} {
		return nil
	}
	in.zipped, in.limit = true, limit
	if limit == 0 {
		in.limit = math.MaxInt64
		if in.length < (math.MaxInt64-unwrapPlus)/unwrapTimes {
			in.limit = unwrapPlus + unwrapTimes*in.length
		}
	}
	return nil
}

// start returns the first bytes of the content.
func (in *Input) start() ([]byte, error) {
	r, err := in.Reader()
	if err != nil {
		return nil, err
	}
	start := make([]byte, startBytes)
	n, err := io.ReadFull(r, start)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, in.readError(err)
	}
	return start[:n], nil
}

// fail is a [*FileError] of this file.
func (in *Input) fail(line int, column, format string, args ...any) error {
	return &FileError{File: in.name, Line: line, Column: column, Reason: fmt.Sprintf(format, args...)}
}

// readError is what a reader's error, other than one of the end, says of this file.
func (in *Input) readError(err error) error {
	if file, ok := err.(*FileError); ok {
		return file
	}
	return in.fail(0, "", "%v", err)
}

// An unzipped reader says what is wrong with a gzip file, and stops where it becomes too long.
type unzipped struct {
	in   *Input
	z    io.Reader
	done int64
}

func (u *unzipped) Read(p []byte) (int, error) {
	n, err := u.z.Read(p)
	u.done += int64(n)
	switch {
	case u.done > u.in.limit:
		return 0, u.in.fail(0, "", "a compressed file of %d bytes may unwrap to %d; it has more", u.in.length, u.in.limit)
	case err == io.ErrUnexpectedEOF:
		return n, u.in.fail(0, "", "cut short: the gzip data end after %d unwrapped bytes", u.done)
	case err != nil && err != io.EOF:
		return n, u.in.fail(0, "", "damaged gzip data after %d unwrapped bytes (%v)", u.done, err)
	}
	return n, err
}
