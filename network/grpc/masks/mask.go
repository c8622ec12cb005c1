package masks

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"unsafe"

	"dsbo/network"
)

// sharedSecret returns the X25519 secret of this agent and the one with that public key.
func (k *Keys) sharedSecret(public []byte) ([]byte, error) {
	theirs, err := ecdh.X25519().NewPublicKey(public)
	if err != nil {
		return nil, err
	}
	return k.own.ECDH(theirs)
}

// makeCiphers makes the cipher of the streams that this agent shares with each other one: AES-128,
// its key by HKDF with SHA-256 from the secret of the two, under a name that has the run, the
// epoch, the two, and the public keys and nonces of all members in their order. Where one agent's
// key or nonce is another, so are the streams of all: the sums then have other terms from
// everybody.
func (k *Keys) makeCiphers() (err error) {
	k.used = false
	var all string
	for _, i := range k.members {
		all += string(k.public[i]) + string(k.nonces[i])
	}
	set := sha256.Sum256([]byte(k.purpose() + all))
	k.tag = binary.LittleEndian.Uint64(set[:]) & (1<<tagBits - 1)
	k.ciphers = make([]cipher.Block, len(k.secrets)) // streams in use keep their own
	for _, other := range k.members {
		secret := k.secrets[other]
		if secret == nil {
			continue
		}
		pair := fmt.Sprintf("%s and %d with keys ", k.config.streamName(k.purpose(), min(other, k.config.Agent)),
			max(other, k.config.Agent))
		if k.ciphers[other], err = newCipher(secret, pair+all); err != nil {
			return err
		}
	}
	return nil
}

// purpose names what a stream is for: the masks of one epoch.
func (k *Keys) purpose() string {
	if k.epoch == 0 {
		return "masks"
	}
	return fmt.Sprintf("masks in epoch %d", k.epoch)
}

// maskChunk bytes of a stream are made at a time.
const maskChunk = 4096

// tagBits is the length of what tells the keys and nonces of members from others.
const tagBits = 24

// digestOf returns the digest of the words of a stream, which tells nothing of them without this
// agent's key: the tag of AES-GCM for them as additional data, with a nonce for each stream.
func (k *Keys) digestOf(stream uint64, words []uint64, bits int) [digestLength]byte {
	nonce := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, stream), uint32(bits))
	raw := bytesOf(words)
	return [digestLength]byte(k.digests.Seal(nil, nonce, nil, raw))
}

// An unsigned is a type of the numbers of a stream.
type unsigned interface{ uint16 | uint32 | uint64 }

// bytesOf returns the memory of numbers.
func bytesOf[T unsigned](numbers []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), len(numbers)*int(unsafe.Sizeof(T(0))))
}

// Streams are the masks of a reduction. They stay as they are when keys, nonces or members change.
type Streams struct {
	keys     *Keys
	ciphers  []cipher.Block
	exchange int
	name     [sha256.Size]byte // of the exchange and what masks are bound to
	// Tag is a digest of the members' keys and nonces and of the name, of 24 bits: agents with
	// others have streams that do not cancel.
	Tag int
}

// Streams returns the masks of the reduction that begins at an exchange, once no key is missing:
// one that is repeated under another number, or bound to something else, has streams of its own.
// This agent's nonce stays the same from then on.
func (k *Keys) Streams(exchange int, bound [32]byte) Streams {
	k.used = true
	name := nameOf(exchange, bound)
	return Streams{k, k.ciphers, exchange, name,
		int(k.tag ^ binary.LittleEndian.Uint64(name[:])&(1<<tagBits-1))}
}

// Mask adds to the words, of all parts of a sum, the streams that this agent shares with higher
// agents, and subtracts those with lower ones, each word or whole number mod 2^bits. The sum over
// all agents stays the same. The error matches [ErrOtherWords] where other words were
// masked by them before, which stay as they are then.
func (s Streams) Mask(words []uint64, parts []network.Reduction) error {
	k := s.keys
	if !slices.ContainsFunc(s.ciphers, func(b cipher.Block) bool { return b != nil }) { // it is alone
		return nil
	}
	size := 64
	if len(parts) == 1 {
		size = parts[0].Bits
	}
	stream := uint64(s.Tag)<<(64-tagBits) | uint64(s.exchange)
	if err := k.config.Ledger.use(stream, k.digestOf(stream, words, size)); err != nil {
		return err
	}
	switch {
	case size <= 16:
		addStreams[uint16](s, len(words), parts)
	case size <= 32:
		addStreams[uint32](s, len(words), parts)
	default:
		addStreams[uint64](s, len(words), parts)
	}
	return nil
}

// addStreams is Mask with a number of type T of each stream for each word. The bytes of a stream
// are numbers in the order of the machine, which is in what agents compare when they meet
// (package arithmetic).
func addStreams[T unsigned](s Streams, most int, parts []network.Reduction) {
	streams := make([]cipher.Stream, len(s.ciphers))
	for other, block := range s.ciphers {
		if block != nil {
			streams[other] = cipher.NewCTR(block, start(block, s.name[:]))
		}
	}
	numbers := make([]T, min(most, maskChunk/int(unsafe.Sizeof(T(0)))))
	for _, x := range parts {
		carries := make([]uint64, len(streams))
		for words := x.Words; len(words) > 0; { // a chunk stays in the processor's cache
			chunk := words[:min(len(words), len(numbers))]
			raw := bytesOf(numbers[:len(chunk)])
			for other, stream := range streams {
				if stream == nil {
					continue
				}
				clear(raw)
				stream.XORKeyStream(raw, raw)
				if subtract := other < s.keys.config.Agent; x.Bits >= network.Whole {
					carries[other] = addWhole(chunk, numbers[:len(chunk)], subtract, carries[other])
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

// Noise sets words to numbers that this agent alone can compute, others for each nonce, epoch,
// exchange, and what the exchange is bound to. It leaves them as they are where sums are not
// masked.
func (k *Keys) Noise(exchange int, bound [32]byte, words []uint64) {
	if k.own == nil {
		return
	}
	name := nameOf(exchange, bound)
	run := sha256.Sum256(append([]byte(k.purpose()), k.nonces[k.config.Agent]...))
	raw := bytesOf(words)
	clear(raw)
	cipher.NewCTR(k.noise, start(k.noise, append(run[:], name[:]...))).XORKeyStream(raw, raw)
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

// addNumbers adds to each word, or subtracts from it, a number.
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
