package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"dsbo"
	"dsbo/internal/files"
)

// A Request is a site's request to the authority: a certificate for the public key of a private one
// that never leaves the site. It is signed by that key.
type Request struct {
	// Key is the kind of the key, such as "ECDSA P-256". Fingerprint is the SHA-256 of the public
	// one, in hexadecimal: what the site reads to the authority over the phone. `openssl req -in
	// agent-3.csr -pubkey -noout | openssl pkey -pubin -outform der | sha256sum` prints the same.
	Key, Fingerprint string
}

// MakeRequest writes agent-<i>.csr into the folder, the request for the key in agent-<i>-key.pem,
// which it makes if there is none. It returns the request.
func MakeRequest(folder string, agent int) (*Request, error) {
	key, err := siteKey(folder, agent)
	if err != nil {
		return nil, err
	}
	kind, err := keyKind(key.Public())
	if err != nil {
		return nil, dsbo.ConfigErrorf("%s: %w", keyFile(folder, Name(agent)), err)
	}
	template := &x509.CertificateRequest{Subject: pkix.Name{CommonName: Name(agent)}, DNSNames: []string{Name(agent)}}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	if err != nil {
		return nil, err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	return &Request{kind, fmt.Sprintf("%x", sha256.Sum256(public))},
		files.WriteBytes(filepath.Join(folder, Name(agent)+".csr"), text)
}

// siteKey reads the agent's key in a folder, or makes and saves one if there is none.
func siteKey(folder string, agent int) (crypto.Signer, error) {
	key, err := load(keyFile(folder, Name(agent)), parseKey)
	if !errors.Is(err, fs.ErrNotExist) { // a key that cannot be read is not replaced
		return key, err
	}
	made, err := newKey()
	if err != nil {
		return nil, err
	}
	return made, saveKey(folder, Name(agent), made)
}

// parseKey reads the private key in a PEM block, in one of the forms that programs write.
func parseKey(text []byte) (crypto.Signer, error) {
	block, rest := pem.Decode(text)
	for block != nil && block.Type == "EC PARAMETERS" { // which openssl writes before a key
		block, rest = pem.Decode(rest)
	}
	if block == nil {
		return nil, errors.New("there must be a PEM block, a private key; there is none")
	}
	if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
		if signer, ok := key.(crypto.Signer); ok {
			return signer, nil
		}
	}
	if key, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	return nil, fmt.Errorf("the PEM block must be a private key without a password, ECDSA, Ed25519 or RSA; it is a %s",
		block.Type)
}

// leastRSA is the least length of an RSA key, in bits.
const leastRSA = 2048

// keyKind returns what a public key is, and an error unless agents can use it.
func keyKind(public any) (string, error) {
	switch k := public.(type) {
	case *ecdsa.PublicKey:
		return "ECDSA " + k.Curve.Params().Name, nil
	case ed25519.PublicKey:
		return "Ed25519", nil
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits < leastRSA {
			return "", fmt.Errorf("an RSA key must have at least %d bits; it has %d", leastRSA, bits)
		}
		return fmt.Sprintf("RSA %d", k.N.BitLen()), nil
	}
	return "", fmt.Errorf("the key must be ECDSA, Ed25519 or RSA; it is a %T", public)
}
