package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"path/filepath"
	"time"

	"dsbo"
)

const (
	authorityFile    = "ca.pem"
	authorityKeyFile = "ca-key.pem"
)

// An Authority signs the certificates of a run's agents.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

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
	key, cert, err := sign(template, nil)
	if err != nil {
		return nil, err
	}
	return &Authority{cert, key}, nil
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
	key, cert, err := sign(template, a)
	if err != nil {
		return nil, err
	}
	return newIdentity(agent, cert, key, a.cert), nil
}

// sign makes a key and its certificate, signed by a, or by itself if a is nil.
func sign(template *x509.Certificate, a *Authority) (*ecdsa.PrivateKey, *x509.Certificate, error) {
	if !template.NotBefore.Before(template.NotAfter) {
		return nil, nil, dsbo.Errorf(dsbo.ErrConfig,
			"the certificate of %s must end after it begins; it would begin at %s and end at %s",
			template.Subject.CommonName, template.NotBefore, template.NotAfter)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if a == nil {
		a = &Authority{template, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, err
	}
	return key, cert, nil
}

// Save writes ca.pem and ca-key.pem into the folder, where neither may exist.
func (a *Authority) Save(folder string) error {
	return savePair(filepath.Join(folder, authorityFile), filepath.Join(folder, authorityKeyFile), a.cert, a.key)
}

// SaveCertificate writes ca.pem alone: agents know each other by it, and nobody can issue more certificates.
func (a *Authority) SaveCertificate(folder string) error {
	return savePEM(filepath.Join(folder, authorityFile), &pem.Block{Type: certificateType, Bytes: a.cert.Raw})
}

// LoadAuthority reads what [Authority.Save] wrote.
func LoadAuthority(folder string) (*Authority, error) {
	path := filepath.Join(folder, authorityFile)
	cert, err := loadCertificate(path)
	if err != nil {
		return nil, err
	}
	if !cert.IsCA {
		return nil, dsbo.Errorf(dsbo.ErrConfig,
			"%s must be the certificate of an authority; it is that of %q", path, cert.Subject.CommonName)
	}
	key, err := loadKey(filepath.Join(folder, authorityKeyFile), cert)
	if err != nil {
		return nil, err
	}
	return &Authority{cert, key}, nil
}
