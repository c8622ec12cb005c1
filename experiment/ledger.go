package experiment

import (
	"crypto/hmac"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"dsbo"
	"dsbo/internal/files"
)

// A rowKind is a kind of an agent's rows that answers are about. A row is of one kind alone, so
// that each kind has the whole budget.
type rowKind uint8

// The kinds of rows, and their number.
const (
	trainingRows rowKind = iota
	validationRows
	testRows
	rowKinds = 3
)

// String returns the kind's name.
func (r rowKind) String() string { return [rowKinds]string{"training", "validation", "test"}[r] }

const (
	secretLen = 32
	nameLen   = 16 // bytes of a name in the file, the first of which is the kind of rows
)

// A noiseLedger is an agent's file of a secret, and of the names of the answers given so far. An
// answer's noise is a function of the secret and the whole question: a resumed run repeats its
// answers, which reveals nothing more, and no two questions ever get the same noise. An answer's
// name is on disk before the answer is given.
//
// The secret allows its holder to subtract the noise. The file belongs to the agent alone, and is
// removed when the run is over. A Ledger belongs to one goroutine at a time.
type noiseLedger struct {
	file   files.File
	secret [secretLen]byte
	given  map[[nameLen]byte]bool
	counts [rowKinds]int
}

// openNoiseLedger opens the ledger in a file, or creates it with a new secret.
func openNoiseLedger(path string) (*noiseLedger, error) {
	file, err := files.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	l := &noiseLedger{file: file, given: map[[nameLen]byte]bool{}}
	if err := l.read(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return l, nil
}

// read reads the secret and the names, or writes a new secret to a file without a whole one. A
// partial name at the end, left by a process that was killed, is cut off: its answer was not given.
func (l *noiseLedger) read() error {
	all, err := io.ReadAll(l.file)
	if err != nil {
		return err
	}
	if len(all) < secretLen { // new, or cut short; no answer is given before the secret is on disk
		crand.Read(l.secret[:])
		if err := l.truncate(0); err != nil {
			return err
		}
		if _, err := l.file.Write(l.secret[:]); err != nil {
			return err
		}
		return l.file.Sync()
	}
	copy(l.secret[:], all)
	names := all[secretLen:]
	for ; len(names) >= nameLen; names = names[nameLen:] {
		if names[0] >= byte(rowKinds) {
			return dsbo.ConfigErrorf("it must hold the names of answers; byte %d is no kind of rows",
				len(all)-len(names))
		}
		l.countAnswer([nameLen]byte(names))
	}
	return l.truncate(int64(len(all) - len(names)))
}

// truncate ends the file after a number of bytes, where the next name is written.
func (l *noiseLedger) truncate(size int64) error {
	if err := l.file.Truncate(size); err != nil {
		return err
	}
	return l.file.Sync()
}

// countAnswer counts the name of an answer.
func (l *noiseLedger) countAnswer(name [nameLen]byte) {
	if !l.given[name] {
		l.given[name] = true
		l.counts[name[0]]++
	}
}

// Keyed returns a digest of data that is useless without the secret. A plain digest would reveal
// the last row to anyone who knows all other rows.
func (l *noiseLedger) Keyed(digest string) string {
	mac := hmac.New(sha256.New, l.secret[:])
	mac.Write([]byte("digest of rows\n" + digest))
	return hex.EncodeToString(mac.Sum(nil))
}

// noise returns the random source of an answer's noise. Its seed is a keyed digest of the question,
// everything that the answer depends on, so that a repeated question has the same noise. The
// answer's name, another digest, which does not reveal the seed, is on disk before noise returns,
// so that a crash cannot make answers uncounted. An answer that is new and beyond the most is
// refused with [dsbo.ErrConfig].
func (l *noiseLedger) noise(of rowKind, question []byte, most int) (*rand.Rand, error) {
	mac := hmac.New(sha256.New, l.secret[:])
	mac.Write([]byte{byte(of)})
	mac.Write(question)
	seed := [sha256.Size]byte(mac.Sum(nil))
	mac.Write([]byte("name"))
	name := [nameLen]byte(mac.Sum(nil))
	name[0] = byte(of)
	if !l.given[name] {
		if l.counts[of] >= most {
			return nil, dsbo.ConfigErrorf(
				"the privacy budget has %d answers about %s rows, and all are given", most, of)
		}
		if _, err := l.file.Write(name[:]); err != nil {
			return nil, err
		}
		if err := l.file.Sync(); err != nil {
			return nil, err
		}
		l.countAnswer(name)
	}
	return rand.New(rand.NewChaCha8(seed)), nil
}
