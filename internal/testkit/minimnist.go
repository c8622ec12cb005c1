// WriteMNIST makes a small data set in the four files of MNIST, for the tests of commands.

package testkit

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// WriteMNIST writes a number of training and test pictures to a folder, the same each time: for
// each digit a blot of its own, with noise. A fifth of the labels is drawn at random, so that the
// best penalty is not the smallest one.
func WriteMNIST(dir string, train, test int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(11, 13))
	for _, part := range []struct {
		name string
		n    int
	}{{"train", train}, {"t10k", test}} {
		pixels, labels := pictures(r, part.n)
		images := append(head(2051, part.n, 28, 28), pixels...)
		if err := os.WriteFile(filepath.Join(dir, part.name+"-images-idx3-ubyte"), images, 0o644); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, part.name+"-labels-idx1-ubyte"),
			append(head(2049, part.n), labels...), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// head returns the beginning of a file of MNIST: its kind, and the sizes of its array.
func head(magic uint32, dims ...int) []byte {
	b := binary.BigEndian.AppendUint32(nil, magic)
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, uint32(d))
	}
	return b
}

// pictures draws n noisy pictures of a blob whose row depends on the digit; a fifth of the labels
// are random.
func pictures(r *rand.Rand, n int) (pixels, labels []byte) {
	pixels, labels = make([]byte, n*784), make([]byte, n)
	for i := range n {
		digit := i % 10
		labels[i] = byte(digit)
		if r.IntN(5) == 0 {
			labels[i] = byte(r.IntN(10))
		}
		picture := pixels[i*784 : (i+1)*784]
		for range 60 {
			row, col := 4+2*digit+r.IntN(5)-2, 14+r.IntN(11)-5
			picture[row*28+col] = byte(128 + r.IntN(128))
		}
		for range 30 {
			picture[r.IntN(784)] = byte(r.IntN(256))
		}
	}
	return pixels, labels
}
