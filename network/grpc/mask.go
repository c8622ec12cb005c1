package grpc

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
)

// share returns the cipher of the streams that this agent shares with another one: AES-256, its key by HKDF with SHA-256 from
// the X25519 secret of the two, under a name that has the run and both public keys, that of the lower agent first.
func (k *keys) share(c *Config, other int, public []byte) (cipher.Block, error) {
	theirs, err := ecdh.X25519().NewPublicKey(public)
	if err != nil {
		return nil, err
	}
	secret, err := k.own.ECDH(theirs)
	if err != nil {
		return nil, err
	}
	lower, higher := k.public[k.agent], public
	if other < k.agent {
		lower, higher = higher, lower
	}
	name := c.keyName("masks", min(other, k.agent)) + string(lower) + string(higher)
	key, err := hkdf.Key(sha256.New, secret, nil, name, 32)
	if err != nil {
		return nil, err
	}
	return aes.NewCipher(key)
}

// maskChunk bytes of a stream are made at a time.
const maskChunk = 4096

// mask adds to the words the streams that this agent shares with higher agents, and subtracts those with lower ones, mod
// 2^bits. The sum over all agents stays the same. The exchange at which the reduction begins names the streams.
func (k *keys) mask(words []uint64, bits, exchange int) {
	width := laneBytes(bits)
	var iv [aes.BlockSize]byte // the exchange, and the count of blocks
	binary.BigEndian.PutUint64(iv[:], uint64(exchange))
	var zero, lanes [maskChunk]byte
	for other, block := range k.ciphers {
		if block == nil {
			continue
		}
		stream := cipher.NewCTR(block, iv[:])
		for rest := words; len(rest) > 0; {
			n := min(len(rest), maskChunk/width)
			stream.XORKeyStream(lanes[:n*width], zero[:n*width])
			addLanes(rest[:n], lanes[:n*width], width, other < k.agent)
			rest = rest[n:]
		}
	}
}

// laneBytes returns how many bytes of a stream a word of so many bits takes.
func laneBytes(bits int) int {
	switch {
	case bits <= 16:
		return 2
	case bits <= 32:
		return 4
	}
	return 8
}

// addLanes adds a whole number of so many bytes to each word, or subtracts it.
func addLanes(words []uint64, lanes []byte, width int, subtract bool) {
	sign := uint64(0)
	if subtract {
		sign = ^uint64(0) // (v ^ sign) − sign is −v
	}
	switch width {
	case 2:
		for i := range words {
			words[i] += uint64(binary.LittleEndian.Uint16(lanes[2*i:])) ^ sign - sign
		}
	case 4:
		for i := range words {
			words[i] += uint64(binary.LittleEndian.Uint32(lanes[4*i:])) ^ sign - sign
		}
	default:
		for i := range words {
			words[i] += binary.LittleEndian.Uint64(lanes[8*i:]) ^ sign - sign
		}
	}
}
