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

	"dsbo/internal/disk"
)

// A Request is what an agent's site asks of the authority: a certificate for the public key of a
// private one that never leaves the site. It is signed by that key.
type Request struct {
	Agent int // whose certificate is asked for

	csr *x509.CertificateRequest
}

// MakeRequest writes agent-<i>.csr into the folder, the request for the key in agent-<i>-key.pem,
// which it makes if there is none. It returns the request.
func MakeRequest(folder string, agent int) (*Request, error) {
	key, err := siteKey(folder, agent)
	if err != nil {
		return nil, err
	}
	template := &x509.CertificateRequest{Subject: pkix.Name{CommonName: Name(agent)}, DNSNames: []string{Name(agent)}}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	if err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: requestBlock, Bytes: der})
	if err := disk.WriteBytes(requestFile(folder, Name(agent)), text); err != nil {
		return nil, err
	}
	return ParseRequest(text)
}

// siteKey reads the agent's key, or makes one.
func siteKey(folder string, agent int) (crypto.Signer, error) {
	key, err := load(keyFile(folder, Name(agent)), parseKey)
	if !errors.Is(err, fs.ErrNotExist) {
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

// LoadRequest reads a request, of [MakeRequest] or of another program, and checks it as
// [ParseRequest] does.
func LoadRequest(path string) (*Request, error) { return load(path, ParseRequest) }

// ParseRequest reads a request in PEM: it must be signed by its own key, which must be strong
// enough, and ask for the one DNS name of an agent and for nothing else.
func ParseRequest(text []byte) (*Request, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != requestBlock && block.Type != "NEW "+requestBlock {
		return nil, fmt.Errorf("there must be a PEM block, a %s", requestBlock)
	}
	csr, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, err
	}
	if err := csr.CheckSignature(); err != nil {
		return nil, fmt.Errorf("it must be signed by its own key: %w", err)
	}
	agent, ok := agentOf(csr.DNSNames)
	if !ok || len(csr.DNSNames) > 1 || len(csr.IPAddresses)+len(csr.EmailAddresses)+len(csr.URIs) > 0 {
		return nil, fmt.Errorf("it must ask for one DNS name such as agent-0, and no other; it asks for %q",
			requestedNames(csr))
	}
	if _, err := keyKind(csr.PublicKey); err != nil {
		return nil, err
	}
	return &Request{agent, csr}, nil
}

// requestedNames returns all names of a request, as text.
func requestedNames(csr *x509.CertificateRequest) []string {
	names := append([]string{}, csr.DNSNames...)
	for _, ip := range csr.IPAddresses {
		names = append(names, ip.String())
	}
	names = append(names, csr.EmailAddresses...)
	for _, u := range csr.URIs {
		names = append(names, u.String())
	}
	return names
}

// KeyKind returns the kind of the request's key, such as "ECDSA P-256".
func (r *Request) KeyKind() string {
	kind, _ := keyKind(r.csr.PublicKey) // which ParseRequest has checked
	return kind
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

// Fingerprint returns the SHA-256 of the request's public key, in hexadecimal: what the site reads
// to the authority over the phone. `openssl req -in agent-3.csr -pubkey -noout | openssl pkey
// -pubin -outform der | sha256sum` prints the same.
func (r *Request) Fingerprint() string {
	return fmt.Sprintf("%x", sha256.Sum256(r.csr.RawSubjectPublicKeyInfo))
}
