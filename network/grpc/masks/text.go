package masks

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"dsbo/network/pki"
)

const (
	// KeyLength is the length of a public key in bytes.
	KeyLength = 32
	// textLength is the length of a key with its nonce.
	textLength = KeyLength + NonceLength
	// MaxText bounds a key with its signature and its certificate.
	MaxText = 8192
)

// A signedKey is the public key of an agent's masks, and the nonce of its streams. Without
// certificates they are alone.
type signedKey struct{ public, nonce, signature, certificate []byte }

func (k signedKey) encode() []byte {
	b := slices.Concat(k.public, k.nonce)
	if len(k.certificate) == 0 {
		return b
	}
	b = binary.LittleEndian.AppendUint16(b, uint16(len(k.signature)))
	return append(append(b, k.signature...), k.certificate...)
}

// readKey reads what encode has written.
func readKey(b []byte) (k signedKey, err error) {
	wrong := fmt.Errorf(
		"a key must have %d bytes, or these, a signature with its length, and a certificate; it has %d in all",
		textLength, len(b))
	if len(b) < textLength {
		return k, wrong
	}
	k.public, k.nonce, b = b[:KeyLength], b[KeyLength:textLength], b[textLength:]
	if len(b) == 0 {
		return k, nil
	}
	if len(b) < 2 {
		return k, wrong
	}
	n := int(binary.LittleEndian.Uint16(b))
	if b = b[2:]; n == 0 || n >= len(b) {
		return k, wrong
	}
	k.signature, k.certificate = b[:n], b[n:]
	return k, nil
}

// streamName is a text that no two runs, agents and purposes share.
func (c *Config) streamName(purpose string, agent int) string {
	return fmt.Sprintf("dsbo %s of agent %d in run %q with settings %q", purpose, agent, c.Run, c.Hash)
}

// signedText is what an agent signs for its key and its nonce.
func (c *Config) signedText(agent int, k signedKey) []byte {
	return slices.Concat([]byte(c.streamName("public key and nonce", agent)+"\n"), k.public, k.nonce)
}

// verify returns an error unless a key belongs to an agent of this run, and when its
// certificate expires.
func (c *Config) verify(id *pki.Identity, agent int, k signedKey) (expires time.Time, err error) {
	if id == nil {
		if len(k.certificate) > 0 {
			return expires, errors.New("it must be alone, as there are no certificates; it comes with one")
		}
		return expires, nil
	}
	if len(k.certificate) == 0 {
		return expires, errors.New("it must come with a certificate; it is alone")
	}
	return id.Verify(agent, k.certificate, c.signedText(agent, k), k.signature, time.Now())
}
