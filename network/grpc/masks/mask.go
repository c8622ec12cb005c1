package masks

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"unsafe"
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
// epoch, the two, and the public keys of all members in their order. Where one agent's key is
// another, so are the streams of all: the sums then have other terms from everybody.
func (k *Keys) makeCiphers() error {
	var all string
	for _, i := range k.members {
		all += string(k.public[i])
	}
	for _, other := range k.members {
		secret := k.secrets[other]
		if secret == nil {
			continue
		}
		pair := fmt.Sprintf("%s and %d with keys ", k.config.streamName(k.purpose(), min(other, k.config.Agent)),
			max(other, k.config.Agent))
		key, err := hkdf.Key(sha256.New, secret, nil, pair+all, 16)
		if err != nil {
			return err
		}
		if k.ciphers[other], err = aes.NewCipher(key); err != nil {
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

// Mask adds to the words the streams that this agent shares with higher agents, and subtracts those
// with lower ones, mod 2^bits. The sum over all agents stays the same. The exchange at which the
// reduction begins names the streams.
func (k *Keys) Mask(words []uint64, bits, exchange int) {
	switch {
	case bits <= 16:
		addStreams[uint16](k, words, exchange)
	case bits <= 32:
		addStreams[uint32](k, words, exchange)
	default:
		addStreams[uint64](k, words, exchange)
	}
}

// addStreams is Mask with a number of type T of each stream for each word. The bytes of a stream
// are numbers in the order of the machine, which is in what agents compare when they meet
// (package arithmetic).
func addStreams[T uint16 | uint32 | uint64](k *Keys, words []uint64, exchange int) {
	var iv [aes.BlockSize]byte // the exchange, and the count of blocks
	binary.BigEndian.PutUint64(iv[:], uint64(exchange))
	streams := make([]cipher.Stream, len(k.ciphers))
	for other, block := range k.ciphers {
		if block != nil {
			streams[other] = cipher.NewCTR(block, iv[:])
		}
	}
	numbers := make([]T, min(len(words), maskChunk/int(unsafe.Sizeof(T(0)))))
	for len(words) > 0 { // a chunk stays in the processor's cache while the streams are added
		chunk := words[:min(len(words), len(numbers))]
		raw := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), len(chunk)*int(unsafe.Sizeof(T(0))))
		for other, stream := range streams {
			if stream != nil {
				clear(raw)
				stream.XORKeyStream(raw, raw)
				addNumbers(chunk, numbers[:len(chunk)], other < k.config.Agent)
			}
		}
		words = words[len(chunk):]
	}
}

// addNumbers adds to each word, or subtracts from it, a number.
func addNumbers[T uint16 | uint32 | uint64](words []uint64, numbers []T, subtract bool) {
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
