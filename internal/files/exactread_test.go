package files

import (
	"bytes"
	"testing"
	"testing/iotest"
)

func TestReadExactly(t *testing.T) {
	content := make([]byte, 50000)
	for i := range content {
		content[i] = byte(i * i >> 4)
	}
	for _, guess := range []int{0, 1, 5000, 49999, 50000, 1 << 20} {
		got, err := readExactly(iotest.HalfReader(bytes.NewReader(content)), len(content), guess)
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("guess %d: %d bytes, %v", guess, len(got), err)
		}
		if cap(got) > 2*len(content) {
			t.Errorf("guess %d: %d bytes of memory", guess, cap(got))
		}
		if _, err := readExactly(bytes.NewReader(content), len(content)+1, guess); err == nil ||
			err.Error() != "cut short: there must be 50001 bytes of data; there are 50000" {
			t.Errorf("guess %d: error %v for a short input", guess, err)
		}
		if _, err := readExactly(bytes.NewReader(content), len(content)-1, guess); err == nil ||
			err.Error() != "too long: more than the 49999 bytes that its header announces" {
			t.Errorf("guess %d: error %v for a long input", guess, err)
		}
	}
}
