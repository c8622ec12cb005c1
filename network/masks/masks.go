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
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"unsafe"

	"dsbo/network"
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

// Masks are the streams that an agent shares with the other members of one session. They belong to
// one goroutine at a time.
type Masks struct {
	agent   int
	members []int
	ciphers []cipher.Block // shared with each member, in their order; nil for the agent itself
	noise   cipher.Block   // of the agent's own stream
	tag     int            // of the session, the members and their keys
	last    int            // the exchange that was masked last; −1: none was
}

// tagBits is the length of the tag of masks.
const tagBits = 24

// maskChunk bytes of a stream are made at a time.
const maskChunk = 4096

// An unsigned is a type of the numbers of a stream.
type unsigned interface{ uint16 | uint32 | uint64 }

func bytesOf[T unsigned](numbers []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), len(numbers)*int(unsafe.Sizeof(T(0))))
}

// Mask adds to the words of all parts of a sum the streams that this agent shares with higher
// agents, and subtracts those with lower ones, each word or whole number mod 2^bits. The sum
// over all members stays the same. Exchanges ascend: an exchange that is not above the one
// before is an error, and leaves the words as they are, which must not be sent then. tag is a
// digest of tagBits bits of the session, the members' keys, the exchange and what the sum is
// bound to: agents with another one have streams that do not cancel.
func (m *Masks) Mask(exchange int, bound [32]byte, parts []network.Reduction) (tag int, err error) {
	if exchange <= m.last {
		return 0, fmt.Errorf("an exchange is masked once, in order: %d must be above %d", exchange, m.last)
	}
	m.last = exchange
	name := nameOf(exchange, bound)
	size := 64
	if len(parts) == 1 {
		size = parts[0].Bits
	}
	switch { // streams cost the most: the fewest bytes that mask all bits of each word
	case size <= 16:
		addStreams[uint16](m, name[:], parts)
	case size <= 32:
		addStreams[uint32](m, name[:], parts)
	default:
		addStreams[uint64](m, name[:], parts)
	}
	return m.tag ^ int(binary.LittleEndian.Uint64(name[:])&(1<<tagBits-1)), nil
}

// addStreams is Mask with a number of type T of each stream for each word. The bytes of a stream
// are numbers in the order of the machine, which is in what agents compare when they meet
// (package arithmetic).
func addStreams[T unsigned](m *Masks, name []byte, parts []network.Reduction) {
	streams := make([]cipher.Stream, len(m.ciphers))
	for j, block := range m.ciphers {
		if block != nil {
			streams[j] = cipher.NewCTR(block, start(block, name))
		}
	}
	most := 0
	for _, x := range parts {
		most = max(most, len(x.Words))
	}
	numbers := make([]T, min(most, maskChunk/int(unsafe.Sizeof(T(0)))))
	for _, x := range parts {
		carries := make([]uint64, len(streams)) // from chunk to chunk of a whole number
		for words := x.Words; len(words) > 0; { // a chunk stays in the processor's cache
			chunk := words[:min(len(words), len(numbers))]
			raw := bytesOf(numbers[:len(chunk)])
			for j, stream := range streams {
				if stream == nil {
					continue
				}
				clear(raw)
				stream.XORKeyStream(raw, raw) // the stream itself
				if subtract := m.members[j] < m.agent; x.Bits >= network.Whole {
					carries[j] = addWhole(chunk, numbers[:len(chunk)], subtract, carries[j])
				} else {
					addNumbers(chunk, numbers[:len(chunk)], subtract)
				}
			}
			words = words[len(chunk):]
		}
	}
}

// nameOf returns the name of an exchange whose masks are bound to something.
func nameOf(exchange int, bound [32]byte) [sha256.Size]byte {
	return sha256.Sum256(append(binary.BigEndian.AppendUint64(nil, uint64(exchange)), bound[:]...))
}

// Noise sets words to numbers that this agent alone can compute, others for each session, exchange,
// and what the exchange is bound to.
func (m *Masks) Noise(exchange int, bound [32]byte, words []uint64) {
	name := nameOf(exchange, bound)
	raw := bytesOf(words)
	clear(raw)
	cipher.NewCTR(m.noise, start(m.noise, name[:])).XORKeyStream(raw, raw)
}

// start returns where the counter of a stream begins: a number that only those who have the key can
// compute from the name, CBC-MAC. Names have one length.
func start(block cipher.Block, name []byte) []byte {
	at := make([]byte, aes.BlockSize)
	for part := range slices.Chunk(name, aes.BlockSize) {
		subtle.XORBytes(at, at, part)
		block.Encrypt(at, at)
	}
	return at
}

// addNumbers adds to each word, or subtracts from it, a number, mod 2^64. There is a loop for each,
// without a condition inside, as sums spend their time here.
func addNumbers[T unsigned](words []uint64, numbers []T, subtract bool) {
	words = words[:len(numbers)]
	if subtract {
		for i, v := range numbers {
			words[i] -= uint64(v)
		}
		return
	}
	for i, v := range numbers {
		words[i] += uint64(v)
	}
}

// addWhole is addNumbers for words of a whole number, to which carry is carried from below. It
// returns what is carried on.
func addWhole[T unsigned](words []uint64, numbers []T, subtract bool, carry uint64) uint64 {
	add := bits.Add64
	if subtract {
		add = bits.Sub64
	}
	for i, v := range numbers {
		words[i], carry = add(words[i], uint64(v), carry)
	}
	return carry
}
