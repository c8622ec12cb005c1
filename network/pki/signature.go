package pki

import (
	"crypto/sha256"
	"crypto/x509"
	"slices"
	"sync"
	"time"
)

// signatureAlgorithms are the signature algorithms by kind of key.
var signatureAlgorithms = map[x509.PublicKeyAlgorithm]x509.SignatureAlgorithm{
	x509.ECDSA: x509.ECDSAWithSHA256, x509.RSA: x509.SHA256WithRSA, x509.Ed25519: x509.PureEd25519,
}

// checkSignature returns an error unless signature is of text by the certificate's key, with its
// algorithm in [signatureAlgorithms]. It remembers the last good signatures, and this process's
// own: agents are shown the same answers and warrants again and again, and each repetition costs
// only a hash of the text.
func checkSignature(by *x509.Certificate, text, signature []byte) error {
	d := digestOf(by, text, signature)
	if known, _ := good.value(d); known {
		return nil
	}
	err := by.CheckSignature(signatureAlgorithms[by.PublicKeyAlgorithm], text, signature)
	if err == nil {
		good.note(d, true)
	}
	return err
}

// good are the signatures that are remembered, and proofs what was verified of certificates.
var (
	good   memory[bool]
	proofs memory[proof]
)

// A proof of a chain of certificates is that its first one was valid throughout a time.
type proof struct {
	certificate *x509.Certificate
	from, until time.Time
}

// A memory has what is known of some digests.
type memory[V any] struct {
	mu sync.Mutex
	of map[digest]V
}

// mostRemembered bounds a memory.
const mostRemembered = 1 << 15

type digest = [sha256.Size]byte

func (m *memory[V]) value(d digest) (v V, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, known = m.of[d]
	return v, known
}

func (m *memory[V]) note(d digest, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.of)%mostRemembered == 0 { // at the start, and when it is full: all are forgotten at once
		m.of = map[digest]V{}
	}
	m.of[d] = v
}

// digestOf returns a hash of all that it depends on whether a signature is good. What is not of one
// length is hashed by itself, so that no two have one hash.
func digestOf(by *x509.Certificate, text, signature []byte) digest {
	words, key := sha256.Sum256(text), sha256.Sum256(by.RawSubjectPublicKeyInfo)
	return sha256.Sum256(slices.Concat(words[:], key[:], signature))
}
