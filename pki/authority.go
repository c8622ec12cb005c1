package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"time"

	"dsbo"
)

// authorityName is the base of the authority's file names.
const authorityName = "ca"

// An Authority signs the certificates of a run's agents.
type Authority struct{ pair tls.Certificate }

// NewAuthority returns an authority with a new key, valid between two times. The name is for people who read the
// certificate.
func NewAuthority(name string, from, until time.Time) (*Authority, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             from,
		NotAfter:              until,
		KeyUsage:              x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}
	pair, err := sign(template, nil)
	if err != nil {
		return nil, err
	}
	return &Authority{pair}, nil
}

// Issue returns the identity of an agent with a new key, valid between two times.
func (a *Authority) Issue(agent int, from, until time.Time) (*Identity, error) {
	if agent < 0 {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "the number of an agent must not be negative; it is %d", agent)
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: Name(agent)},
		DNSNames:    []string{Name(agent)},
		NotBefore:   from,
		NotAfter:    until,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	pair, err := sign(template, a)
	if err != nil {
		return nil, err
	}
	return &Identity{agent, pair, a.pair.Leaf}, nil
}

// sign makes a key and its certificate, signed by a, or by itself if a is nil.
func sign(template *x509.Certificate, a *Authority) (pair tls.Certificate, err error) {
	if !template.NotBefore.Before(template.NotAfter) {
		return pair, dsbo.Errorf(dsbo.ErrConfig,
			"the certificate of %s must end after it begins; it would begin at %s and end at %s",
			template.Subject.CommonName, template.NotBefore, template.NotAfter)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair, err
	}
	parent, signer := template, crypto.PrivateKey(key)
	if a != nil {
		parent, signer = a.pair.Leaf, a.pair.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return pair, err
	}
	leaf, err := x509.ParseCertificate(der)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, err
}

// Save writes ca.pem and ca-key.pem into the folder, where neither may exist.
func (a *Authority) Save(folder string) error { return savePair(folder, authorityName, a.pair) }

// SaveCertificate writes ca.pem alone: agents know each other by it, and nobody can issue more certificates.
func (a *Authority) SaveCertificate(folder string) error {
	return savePEM(certificateFile(folder, authorityName), "CERTIFICATE", a.pair.Certificate[0])
}

// LoadAuthority reads what [Authority.Save] wrote.
func LoadAuthority(folder string) (*Authority, error) {
	pair, err := loadPair(folder, authorityName)
	if err != nil {
		return nil, err
	}
	if !pair.Leaf.IsCA {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "%s must be the certificate of an authority; it is that of %q",
			certificateFile(folder, authorityName), pair.Leaf.Subject.CommonName)
	}
	return &Authority{pair}, nil
}
