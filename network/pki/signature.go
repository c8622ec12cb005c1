package pki

import (
	"crypto/sha256"
	"crypto/x509"
	"slices"
	"sync"
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
	good.Lock()
	known := good.digests[d]
	good.Unlock()
	if known {
		return nil
	}
	err := by.CheckSignature(signatureAlgorithms[by.PublicKeyAlgorithm], text, signature)
	if err == nil {
		remember(d)
	}
	return err
}

// noteSignature notes that a signature is good, as this process has made it.
func noteSignature(by *x509.Certificate, text, signature []byte) {
	remember(digestOf(by, text, signature))
}

func remember(d digest) {
	good.Lock()
	defer good.Unlock()
	if len(good.digests)%mostRemembered == 0 { // at the start, and when it is full: all are forgotten at once
		good.digests = map[digest]bool{}
	}
	good.digests[d] = true
}

// good are the signatures that are remembered.
var good struct {
	sync.Mutex
	digests map[digest]bool
}

// mostRemembered bounds them.
const mostRemembered = 1 << 15

type digest = [sha256.Size]byte

// digestOf returns a hash of all that it depends on whether a signature is good. What is not of one
// length is hashed by itself, so that no two have one hash.
func digestOf(by *x509.Certificate, text, signature []byte) digest {
	words, key := sha256.Sum256(text), sha256.Sum256(by.RawSubjectPublicKeyInfo)
	return sha256.Sum256(slices.Concat(words[:], key[:], signature))
}
