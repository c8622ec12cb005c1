package pki

import (
	"crypto"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Certificate returns the certificate in DER, and then the intermediate ones that lead to an
// authority, if there are any.
func (id *Identity) Certificate() []byte { return slices.Concat(id.certificate.Certificate...) }

// Derive returns 32 bytes that only the holder of the certificate's key can compute, the same each
// time, and others for each purpose: HKDF with SHA-256 of the private key in PKCS #8, with the
// purpose as its info.
func (id *Identity) Derive(purpose string) ([]byte, error) {
	key, err := x509.MarshalPKCS8PrivateKey(id.certificate.PrivateKey)
	if err != nil {
		return nil, err
	}
	return hkdf.Key(sha256.New, key, nil, purpose, sha256.Size)
}

// Sign returns the signature of a message by the certificate's key, which [Trust.Verify] checks.
// The message must begin with words that name its purpose, since the same key opens TLS
// connections.
func (id *Identity) Sign(message []byte) ([]byte, error) {
	return sign(id.certificate, message)
}

// sign returns the signature of a message by a certificate's key. The kind of key decides the
// algorithm ([signatureAlgorithms]).
func sign(pair tls.Certificate, message []byte) ([]byte, error) {
	signer, ok := pair.PrivateKey.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("the key of %q cannot sign", pair.Leaf.Subject.CommonName)
	}
	hash := crypto.SHA256
	if signatureAlgorithms[pair.Leaf.PublicKeyAlgorithm] == x509.PureEd25519 {
		hash = 0 // of the message itself
	}
	signature, err := crypto.SignMessage(signer, rand.Reader, message, hash)
	if err == nil { // so that its check by this process costs a hash alone
		good.note(digestOf(pair.Leaf, message, signature), true)
	}
	return signature, err
}

// Trust is the authorities that are known: the authorities of a ca.pem.
type Trust struct {
	authorities []*x509.Certificate
	member      *binding // of whose run certificates must be; nil: of any
}

// trusted is Trust as what an identity embeds, which callers cannot set.
type trusted = Trust

// LoadTrust reads ca.pem in a folder. Errors match dsbo.ErrConfig.
func LoadTrust(folder string) (*Trust, error) {
	all, err := loadAuthorities(certificateFile(folder, authorityName))
	if err != nil {
		return nil, err
	}
	return &Trust{authorities: all}, nil
}

// InRun returns a trust in certificates that name a run, or have the key of its agent in keys, as
// of [Identity.InRun].
func (t *Trust) InRun(run string, keys []string) *Trust {
	return &Trust{authorities: t.authorities, member: &binding{run, keys}}
}

// AuthorityKeys returns the SHA-256 of the authorities' public keys, in hexadecimal.
func (t *Trust) AuthorityKeys() (keys []string) {
	for _, a := range t.authorities {
		keys = append(keys, KeyDigest(a))
	}
	return keys
}

// Verify returns an error unless an agent has signed the message: the certificate, in DER and with
// intermediate ones after it, must be the agent's, signed by one of the authorities and valid at
// the time now, and the signature must be of its key.
func (t *Trust) Verify(agent int, certificate, message, signature []byte, now time.Time) error {
	valid, err := t.prove(agent, certificate, now)
	if err == nil {
		err = t.member.check(agent, valid)
	}
	if err != nil {
		return err
	}
	return checkSignature(valid, message, signature)
}

// prove returns an agent's certificate, the first of a chain, if it is valid at the time now. It
// remembers until when one is that was verified.
func (t *Trust) prove(agent int, chain []byte, now time.Time) (*x509.Certificate, error) {
	all := sha256.Sum256(chain)
	text := binary.LittleEndian.AppendUint64(all[:], uint64(agent))
	for _, a := range t.authorities {
		text = append(text, a.Raw...) // whose length is in it
	}
	d := sha256.Sum256(text)
	p, known := proofs.value(d)
	if known && !now.Before(p.from) && !now.After(p.until) {
		return p.certificate, nil
	}
	certificates, err := x509.ParseCertificates(chain)
	if err != nil {
		return nil, err
	}
	if len(certificates) == 0 {
		return nil, errors.New("there must be a certificate; there is none")
	}
	p = proof{certificate: certificates[0], from: now}
	if p.until, err = verifyChain(certificates, agent, poolOf(t.authorities), now); err == nil {
		proofs.note(d, p)
	}
	return p.certificate, err
}

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
