package pki

import (
	"bytes"
	"crypto"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"time"
)

// Certificate returns the certificate in DER. The slice must not be changed.
func (id *Identity) Certificate() []byte { return id.certificate.Certificate[0] }

// Derive returns 32 bytes that only the holder of the certificate's key can compute, the same each time, and others for each
// purpose: HKDF with SHA-256 of the private key in PKCS #8, with the purpose as its info.
func (id *Identity) Derive(purpose string) ([]byte, error) {
	key, err := x509.MarshalPKCS8PrivateKey(id.certificate.PrivateKey)
	if err != nil {
		return nil, err
	}
	return hkdf.Key(sha256.New, key, nil, purpose, sha256.Size)
}

// Sign returns the signature of a message by the certificate's key, which [Identity.Verify] checks. What is signed must begin
// with words that say what it is for, as the same key opens TLS connections.
func (id *Identity) Sign(message []byte) ([]byte, error) {
	signer, ok := id.certificate.PrivateKey.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("the key of %s cannot sign", Name(id.Agent))
	}
	if signatures[id.certificate.Leaf.PublicKeyAlgorithm] == x509.PureEd25519 {
		return signer.Sign(nil, message, crypto.Hash(0))
	}
	digest := sha256.Sum256(message)
	return signer.Sign(rand.Reader, digest[:], crypto.SHA256)
}

// signatures are what the kinds of keys sign with.
var signatures = map[x509.PublicKeyAlgorithm]x509.SignatureAlgorithm{
	x509.ECDSA: x509.ECDSAWithSHA256, x509.RSA: x509.SHA256WithRSA, x509.Ed25519: x509.PureEd25519,
}

// Verify returns an error unless an agent has signed the message: the certificate, in DER, must be that of the agent, signed by
// the authority of id and valid at the time now, and the signature must be of its key.
func (id *Identity) Verify(agent int, certificate, message, signature []byte, now time.Time) error {
	cert, err := x509.ParseCertificate(certificate)
	if err != nil {
		return err
	}
	if !bytes.Equal(cert.Raw, certificate) {
		return fmt.Errorf("bytes follow the certificate of %q", cert.Subject.CommonName)
	}
	if err := verify(cert, agent, id.pool(), now); err != nil {
		return err
	}
	return cert.CheckSignature(signatures[cert.PublicKeyAlgorithm], message, signature)
}
