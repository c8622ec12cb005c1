package table

import (
	"bytes"
	"compress/gzip"
	"errors"
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

// NewInput is a file of length bytes whose name is for errors. limit is that of [Options]. What is not a gzip file is taken as it is.
func NewInput(name string, file io.ReaderAt, length, limit int64) (*Input, error) {
	in := &Input{name: name, file: file, length: length, limit: length}
	var magic [2]byte
	if n, err := file.ReadAt(magic[:], 0); n < 2 && err != io.EOF {
		return nil, in.Error(err)
	}
	if magic != [2]byte{0x1f, 0x8b} {
		return in, nil
	}
	in.zipped, in.limit = true, unwrappedLimit(length, limit)
	return in, nil
}

// unwrappedLimit is the most that a compressed file of length bytes may hold; limit is that of Options.
func unwrappedLimit(length, limit int64) int64 {
	if limit == 0 {
		limit = unwrapPlus + unwrapTimes*min(length, (math.MaxInt64-unwrapPlus)/unwrapTimes)
	}
	return limit
}

// Name returns the name of the file.
func (in *Input) Name() string { return in.name }

// Most returns the number of bytes that the content does not exceed: its length, or the limit of what gzip may unwrap to.
func (in *Input) Most() int64 { return in.limit }

// Reader returns a reader of the content from its beginning. It fails with a [*FileError] where the gzip header is damaged; what the
// reader fails with later is to be made one by [Input.Error].
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

// ReaderAt returns the content for formats that do not read it from its beginning to its end, and its length. What gzip compressed is
// unwrapped in memory.
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

// start returns the first bytes of the content.
func (in *Input) start() ([]byte, error) {
	r, err := in.Reader()
	if err != nil {
		return nil, err
	}
	start := make([]byte, startBytes)
	n, err := io.ReadFull(r, start)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, in.Error(err)
	}
	return start[:n], nil
}

// Error is a [*FileError] of this file with the reason of another error.
func (in *Input) Error(err error) error { return in.fail(0, "", "%v", err) }

// fail is a [*FileError] of this file.
func (in *Input) fail(line int, column, format string, args ...any) error {
	return &FileError{File: in.name, Line: line, Column: column, Reason: fmt.Sprintf(format, args...)}
}

// An unzipped reader says what is wrong with a gzip file, and stops where it becomes too long.
type unzipped struct {
	in   *Input
	z    io.Reader
	done int64
}

var errCut = errors.New("the gzip data are cut short")

func (u *unzipped) Read(p []byte) (int, error) {
	n, err := u.z.Read(p)
	u.done += int64(n)
	switch {
	case u.done > u.in.limit:
		return 0, fmt.Errorf("a compressed file of %d bytes may unwrap to %d; it has more", u.in.length, u.in.limit)
	case err == io.ErrUnexpectedEOF:
		return n, errCut // not to be taken for an end
	}
	return n, err
}
