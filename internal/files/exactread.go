// This file reads inputs whose length is announced, and trusts no announcement.

package files

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// readExactly reads want bytes and checks that no more follow. It allocates as bytes arrive,
// beginning with at most guess, so that a false want costs no more memory than the input is long.
func readExactly(r io.Reader, want, guess int) ([]byte, error) {
	buf := make([]byte, 0, min(want, guess))
	for len(buf) < want {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, min(want-len(buf), max(len(buf), 4096)))
		}
		n, err := io.ReadFull(r, buf[len(buf):min(want, cap(buf))])
		buf = buf[:len(buf)+n]
		if err != nil {
			return nil, fmt.Errorf("cut short: there must be %d bytes of data; there are %d%s", want, len(buf),
				ReadReason(err))
		}
	}
	return buf, readEnd(r, want)
}

// readEnd returns an error if more follows than the bytes that were announced and read. Reading to
// the end also makes gzip check its sum.
func readEnd(r io.Reader, announced int) error {
	n, err := io.ReadFull(r, make([]byte, 1))
	if n > 0 {
		return fmt.Errorf("too long: more than the %d bytes that its header announces", announced)
	}
	if err != io.EOF {
		return fmt.Errorf("damaged at its end%s", ReadReason(err))
	}
	return nil
}

// ReadReason returns an error's text in parentheses, or "" if the error is only the end of the
// input.
func ReadReason(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ""
	}
	return fmt.Sprintf(" (%v)", err)
}
