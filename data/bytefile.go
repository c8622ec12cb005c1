package data

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"dsbo"
	"dsbo/internal/files"
	"dsbo/internal/kernel"
)

// firstChunk is the most memory that is allocated before the file has delivered as much, since a
// header may be wrong. MNIST fits.
const firstChunk = 64 << 20

// A byteFile is an IDX file of bytes whose header has been read. Its content can be read once.
type byteFile struct {
	io.Closer
	*files.Reader
	in *files.Input
}

// openBytes opens an IDX file of bytes in dims dimensions, plain or compressed with gzip.
func openBytes(dir, base string, dims int) (*byteFile, error) {
	name, err := findFile(dir, base)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, dsbo.ConfigErrorf("%w", err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, dsbo.ConfigErrorf("%w", err)
	}
	f, err := parseBytes(name, file, info.Size(), dims)
	if err != nil {
		file.Close()
		return nil, err
	}
	f.Closer = file
	return f, nil
}

// parseBytes reads the header of an IDX file of length bytes. It is our own reader, not GoMNIST's,
// which believes the header: a negative or huge count makes that panic or run out of memory. Here a
// header is an error whose array is longer than the most bytes that the file can have unpacked.
func parseBytes(name string, file io.ReaderAt, length int64, dims int) (*byteFile, error) {
	in, err := files.NewInput(name, file, length)
	if err != nil {
		return nil, err
	}
	r, err := in.Reader()
	if err != nil {
		return nil, err
	}
	f := &byteFile{in: in}
	if f.Reader, err = files.IDX(bufio.NewReaderSize(r, 1<<16)); err != nil {
		return nil, in.Error(err)
	}
	if f.Type != "u1" || len(f.Shape) != dims {
		return nil, f.fail("there must be bytes (u1) in %d dimensions; there are numbers of type %s in %d", dims,
			f.Type, len(f.Shape))
	}
	if err := f.Fits(in.Most()); err != nil {
		return nil, in.Error(err)
	}
	return f, nil
}

func (f *byteFile) path() string { return f.in.Name() }

func (f *byteFile) fail(format string, args ...any) error {
	return &files.Error{File: f.path(), Reason: fmt.Sprintf(format, args...)}
}

// readAll reads the content.
func (f *byteFile) readAll() ([]byte, error) {
	content, err := f.Bytes()
	if err != nil {
		return nil, f.in.Error(err)
	}
	return content, nil
}

// rows returns the content of the rows in each list; lists ascend and are disjoint. A common block
// of at most firstChunk bytes is cut up for the lists; a list that needs more grows as append does,
// with what the file really has.
func (f *byteFile) rows(lists [][]int) ([][]byte, error) {
	size := f.Len() / f.Shape[0]
	owner := make([]int32, f.Shape[0]) // the list of each row, counted from 1; 0: none
	content := make([][]byte, len(lists))
	all := 0
	for _, rows := range lists {
		all += len(rows) * size
	}
	memory := kernel.MakePages[byte](min(all, firstChunk))
	for k, rows := range lists {
		n := min(len(rows)*size, len(memory))
		content[k], memory = memory[:0:n], memory[n:]
		for _, row := range rows {
			owner[row] = int32(k + 1)
		}
	}
	err := f.Rows(func(row int) []byte {
		if owner[row] == 0 {
			return nil
		}
		to := &content[owner[row]-1]
		start := len(*to)
		*to = slices.Grow(*to, size)[:start+size]
		return (*to)[start:]
	})
	if err != nil {
		return nil, f.in.Error(err)
	}
	return content, nil
}

// findFile returns the path of a file in dir, with or without the ending .gz.
func findFile(dir, base string) (string, error) {
	plain := base[:len(base)-len(".gz")]
	for _, name := range []string{base, plain} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	if _, err := os.ReadDir(dir); err != nil {
		return "", err
	}
	return "", fmt.Errorf("no %s in %s", base, dir)
}
