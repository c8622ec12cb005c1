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
	return crypto.SignMessage(signer, rand.Reader, message, hash)
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
// the time now, and the signature must be of its key. It remembers what it has found good: agents
// are shown the same answers again and again, and each repetition costs only a hash.
func (t *Trust) Verify(agent int, certificate, message, signature []byte, now time.Time) error {
	d := t.digestOf(agent, certificate, message, signature)
	proofs.Lock()
	p, known := proofs.of[d]
	proofs.Unlock()
	if known && !now.Before(p.from) && !now.After(p.until) {
		return nil
	}
	p, err := t.prove(agent, certificate, message, signature, now)
	if err != nil {
		return err
	}
	proofs.Lock()
	defer proofs.Unlock()
	if len(proofs.of)%mostRemembered == 0 { // at the start, and when it is full: all are forgotten at once
		proofs.of = map[digest]proof{}
	}
	proofs.of[d] = p
	return nil
}

// prove is Verify without what is remembered.
func (t *Trust) prove(agent int, chain, message, signature []byte, now time.Time) (p proof, err error) {
	certificates, err := x509.ParseCertificates(chain)
	if err != nil {
		return p, err
	}
	if len(certificates) == 0 {
		return p, errors.New("there must be a certificate; there is none")
	}
	p.from = now
	if p.until, err = verifyChain(certificates, agent, poolOf(t.authorities), now); err != nil {
		return p, err
	}
	if err := checkSignature(certificates[0], message, signature); err != nil {
		return p, err
	}
	return p, t.member.check(agent, certificates[0])
}

// signatureAlgorithms are the signature algorithms by kind of key.
var signatureAlgorithms = map[x509.PublicKeyAlgorithm]x509.SignatureAlgorithm{
	x509.ECDSA: x509.ECDSAWithSHA256, x509.RSA: x509.SHA256WithRSA, x509.Ed25519: x509.PureEd25519,
}

func checkSignature(by *x509.Certificate, text, signature []byte) error {
	return by.CheckSignature(signatureAlgorithms[by.PublicKeyAlgorithm], text, signature)
}

// A proof is that a signature was good throughout a time. It has no certificate, as each would be
// a copy of some 10 KB.
type proof struct{ from, until time.Time }

// mostRemembered bounds proofs.
const mostRemembered = 1 << 15

type digest = [sha256.Size]byte

// proofs are what was verified.
var proofs struct {
	sync.Mutex
	of map[digest]proof
}

// digestOf returns a hash of all that a proof depends on. What is not of one length is hashed by
// itself, so that no two have one hash.
func (t *Trust) digestOf(agent int, chain, message, signature []byte) digest {
	text := binary.LittleEndian.AppendUint64(nil, uint64(agent))
	parts := [][]byte{chain, message, signature}
	if m := t.member; m != nil { // what binds the certificate to the run
		parts = append(parts, []byte(m.run), nil)
		if agent < len(m.keys) {
			parts[len(parts)-1] = []byte(m.keys[agent])
		}
	}
	for _, part := range parts {
		d := sha256.Sum256(part)
		text = append(text, d[:]...)
	}
	for _, a := range t.authorities {
		text = append(text, a.Raw...) // whose length is in it
	}
	return sha256.Sum256(text)
}
