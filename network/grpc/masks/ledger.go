package masks

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"dsbo"
	"dsbo/internal/disk"
)

// NonceLength is the length of a nonce in bytes: the nanoseconds since 1970 at which it was drawn,
// big-endian, and 16 random bytes.
const NonceLength = 24

// recordLength is the length of what a ledger keeps of a stream: its name and the digest of
// the words.
const recordLength = 8 + digestLength

const digestLength = 16

// ErrOtherWords is what a ledger refuses: the difference of two vectors under one stream is plain.
var ErrOtherWords = errors.New("other words were sent under the same masks before: an agent that repeats an " +
	"exchange must send the same to the bit, and does not")

// A Ledger knows under which streams of masks an agent has sent words, so that it never sends
// others under the same, and its nonce, which is in the name of each: who has lost the ledger has
// another nonce. It is a file, of which each stream takes 24 bytes; they are written before words
// are sent. What the system has not brought to the disk when the machine loses its power is lost.
type Ledger struct {
	nonce   []byte
	written bool                          // the nonce is in the file
	words   map[uint64][digestLength]byte // by stream
	path    string                        // "": the ledger is in memory alone
	file    disk.File                     // nil before the first stream of this process
}

// OpenLedger reads the ledger at path, or begins one with a fresh nonce: in memory where path is
// "".
func OpenLedger(path string) (*Ledger, error) {
	l := &Ledger{path: path, words: map[uint64][digestLength]byte{}}
	if path == "" {
		return l, l.begin()
	}
	data, err := disk.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l, l.begin()
	case err != nil:
		return nil, err
	case len(data) < NonceLength:
		return nil, dsbo.ConfigErrorf("%s must have at least %d bytes; it has %d", path, NonceLength,
			len(data))
	}
	l.nonce, l.written = data[:NonceLength], true
	for record := range recordsOf(data[NonceLength:]) {
		l.words[binary.LittleEndian.Uint64(record)] = [digestLength]byte(record[8:])
	}
	if cut := (len(data) - NonceLength) % recordLength; cut > 0 { // by a crash
		err = disk.WriteSecret(path, data[:len(data)-cut])
	}
	return l, err
}

// recordsOf returns the whole records in some bytes.
func recordsOf(data []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for ; len(data) >= recordLength && yield(data[:recordLength]); data = data[recordLength:] {
		}
	}
}

// newNonce returns a nonce that no other process has.
func newNonce() []byte {
	nonce := make([]byte, NonceLength)
	binary.BigEndian.PutUint64(nonce, uint64(time.Now().UnixNano()))
	_, _ = rand.Read(nonce[8:]) // which never fails
	return nonce
}

// begin makes a ledger of a fresh nonce.
func (l *Ledger) begin() error {
	l.adopt(newNonce())
	return l.writeNonce()
}

// adopt makes a ledger without streams the ledger of a nonce, which is written with the first
// stream.
func (l *Ledger) adopt(nonce []byte) { l.nonce, l.written = bytes.Clone(nonce), false }

// writeNonce has the file begin with the nonce.
func (l *Ledger) writeNonce() error {
	if l.written || l.path == "" {
		return nil
	}
	l.written = true
	return disk.WriteSecret(l.path, l.nonce)
}

// use notes the words that are to be sent under a stream, by their digest. The error, if others
// were, matches ErrOtherWords.
func (l *Ledger) use(stream uint64, digest [digestLength]byte) (err error) {
	if before, used := l.words[stream]; used {
		if before != digest {
			return ErrOtherWords
		}
		return nil
	}
	if l.path != "" {
		if l.file == nil {
			if err = l.writeNonce(); err != nil {
				return err
			}
			if l.file, err = disk.OpenFile(l.path, os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
				return err
			}
		}
		record := append(binary.LittleEndian.AppendUint64(nil, stream), digest[:]...)
		if _, err := l.file.Write(record); err != nil {
			return fmt.Errorf("%s: %w", l.path, err)
		}
	}
	l.words[stream] = digest
	return nil
}

// Close ends the use of the file.
func (l *Ledger) Close() error {
	if l == nil || l.file == nil {
		return nil
	}
	return l.file.Close()
}
