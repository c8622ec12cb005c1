// Package masks has the keys and streams of secure sums in one session: each two members share a
// stream of numbers, which one adds to its words of a sum and the other one subtracts. The sum over
// all members stays the same to the last bit, and the words of fewer than all are noise.
//
// A member draws a [Key] in memory for each answer to a proposal, and its signed answer has the
// public half. When the session begins, [Key.Session] makes its [Masks] and forgets the private
// half, so that no two sessions have a stream in common, and whoever takes a member's certificate
// later opens nothing that was sent before.
//
// A stream hides one vector: the difference of two under one stream would be plain. The stream's
// name has the session's id, which is in no two sessions, the exchange, and what the sum is
// bound to; [Masks.Mask] masks an exchange once. Sums of an exchange that is done again in a
// later session have streams of that session.
package masks

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// publicLength is the length of a public key in bytes.
const publicLength = 32

// keyLength is the length of the key of a stream, AES-128, in bytes.
const keyLength = 16

// A Key is a member's X25519 key for one session. It is in memory alone.
type Key struct {
	private *ecdh.PrivateKey // nil once a session has it
	public  []byte
}

// NewKey draws a key at random.
func NewKey() (*Key, error) {
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	return &Key{private, private.PublicKey().Bytes()}, nil
}

// Public returns the public half, publicLength bytes.
func (k *Key) Public() []byte { return bytes.Clone(k.public) }

// errUsed is what a key returns that a session has had.
var errUsed = errors.New("a key of masks is for one session; it is used")

// Session returns the masks of an agent in the session with an id, given the session's members,
// ascending, and their public keys in the same order. The private half is forgotten, whether the
// masks are made or not. Errors name the member whose key is wrong.
func (k *Key) Session(id [32]byte, agent int, members []int, publics [][]byte) (*Masks, error) {
	private := k.private
	if k.private = nil; private == nil {
		return nil, errUsed
	}
	own, is := slices.BinarySearch(members, agent)
	switch {
	case len(members) != len(publics):
		return nil, fmt.Errorf("each of %d members must have one key; there are %d", len(members), len(publics))
	case !is || !bytes.Equal(publics[own], k.public):
		return nil, fmt.Errorf("the session must have agent %d with the key that it drew; it has not", agent)
	}
	m := &Masks{agent: agent, members: members, last: -1, ciphers: make([]cipher.Block, len(members))}
	// A member that was told other keys or members has other streams, and another tag.
	names := fmt.Appendf(nil, "dsbo masks of %v\n", members)
	all := sha256.Sum256(slices.Concat(names, id[:], slices.Concat(publics...)))
	m.tag = int(binary.LittleEndian.Uint64(all[:]) & (1<<tagBits - 1))
	for j, other := range members {
		if j == own {
			continue
		}
		theirs, err := ecdh.X25519().NewPublicKey(publics[j])
		var secret []byte
		if err == nil {
			secret, err = private.ECDH(theirs)
		}
		if err != nil {
			return nil, fmt.Errorf("the key of agent %d: %w", other, err)
		}
		pair := fmt.Sprintf("dsbo masks of %d and %d with keys %x", min(agent, other), max(agent, other), all)
		if m.ciphers[j], err = newCipher(secret, id, pair); err != nil {
			return nil, err
		}
	}
	secret := make([]byte, publicLength)
	_, _ = rand.Read(secret) // which never fails
	var err error
	m.noise, err = newCipher(secret, id, "dsbo noise")
	return m, err
}

// newCipher returns AES-128 with a key from a secret, for a purpose in a session.
func newCipher(secret []byte, id [32]byte, purpose string) (cipher.Block, error) {
	key, err := hkdf.Key(sha256.New, secret, id[:], purpose, keyLength)
	if err != nil {
		return nil, err
	}
	return aes.NewCipher(key)
}
