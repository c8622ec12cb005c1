package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"time"

	"dsbo"
)

// authorityName is the base of the authority's file names.
const authorityName = "ca"

// An Authority signs the certificates of a run's agents.
type Authority struct {
	pair tls.Certificate
	all  []*x509.Certificate // its own, and the certificates of other authorities that agents accept too
}

// NewAuthority returns an authority with a new key, valid between two times. The name is for people
// who read the certificate.
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
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	cert, err := signCertificate(template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &Authority{tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert},
		[]*x509.Certificate{cert}}, nil
}

// Issue returns the identity of an agent with a new key, valid between two times and in some runs,
// but not for longer than the authority's own certificate is.
func (a *Authority) Issue(agent int, from, until time.Time, runs ...string) (*Identity, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	cert, err := a.certify(agent, key.Public(), from, until, runs)
	if err != nil {
		return nil, err
	}
	return &Identity{
		Agent: agent, certificate: tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert},
		trusted: a.Trust(), expires: earlierOf(cert.NotAfter, a.pair.Leaf.NotAfter),
	}, nil
}

// Renew returns a new certificate for one signed by this authority, or another one of its ca.pem:
// the same key and runs, valid between two times. The former one may have expired.
func (a *Authority) Renew(cert *x509.Certificate, from, until time.Time) (*x509.Certificate, error) {
	agent, err := Agent(cert)
	if err != nil {
		return nil, dsbo.ConfigErrorf("%w", err)
	}
	for _, authority := range a.all {
		if cert.CheckSignatureFrom(authority) == nil {
			return a.certify(agent, cert.PublicKey, from, until, RunsOf(cert))
		}
	}
	return nil, dsbo.ConfigErrorf(
		"the certificate of %s must be signed by an authority of ca.pem, to be renewed; it is signed by %q",
		Name(agent), cert.Issuer.CommonName)
}

// Trust returns the authorities of ca.pem.
func (a *Authority) Trust() *Trust { return &Trust{authorities: a.all} }

// Expires returns when the authority's certificate expires, and with it all that it has signed.
func (a *Authority) Expires() time.Time { return a.pair.Leaf.NotAfter }

// certify returns the certificate of an agent's public key, valid between two times and in some
// runs. An agent both listens and connects, so that it has both usages.
func (a *Authority) certify(agent int, public crypto.PublicKey, from, until time.Time,
	runs []string) (*x509.Certificate, error) {
	if agent < 0 {
		return nil, dsbo.ConfigErrorf("the number of an agent must not be negative; it is %d", agent)
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: Name(agent)},
		DNSNames:    []string{Name(agent)},
		NotBefore:   from,
		NotAfter:    until,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, run := range runs {
		template.URIs = append(template.URIs, runURI(run))
	}
	return signCertificate(template, a.pair.Leaf, public, a.pair.PrivateKey)
}

// SaveHost writes <name>.pem and <name>-key.pem into the folder, where neither may exist: the
// certificate of a server that is no agent, such as a relay, at a host's name or IP address, with
// a new key.
func (a *Authority) SaveHost(folder, name, host string, from, until time.Time) error {
	key, err := newKey()
	if err != nil {
		return err
	}
	template := &x509.Certificate{Subject: pkix.Name{CommonName: host}, NotBefore: from, NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	cert, err := signCertificate(template, a.pair.Leaf, key.Public(), a.pair.PrivateKey)
	if err != nil {
		return err
	}
	return savePair(folder, name, key, cert)
}

// LoadHost reads the certificate and the key of a server that is no agent, <name>.pem and
// <name>-key.pem in a folder. Errors match dsbo.ErrConfig.
func LoadHost(folder, name string) (*tls.Certificate, error) {
	pair, err := loadPair(folder, name)
	return &pair, err
}

func newKey() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

// signCertificate makes the certificate of a public key, signed by the key of parent.
func signCertificate(template, parent *x509.Certificate, public crypto.PublicKey,
	signer crypto.PrivateKey) (*x509.Certificate, error) {
	if !template.NotBefore.Before(template.NotAfter) {
		return nil, dsbo.ConfigErrorf(
			"the certificate of %s must end after it begins; it would begin at %s and end at %s",
			template.Subject.CommonName, template.NotBefore, template.NotAfter)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, signer)
	if err != nil {
		return nil, fmt.Errorf("the certificate of %s: %w", template.Subject.CommonName, err)
	}
	return x509.ParseCertificate(der)
}

// Save writes ca.pem and ca-key.pem into the folder, where neither may exist.
func (a *Authority) Save(folder string) error {
	return savePair(folder, authorityName, a.pair.PrivateKey, a.all...)
}

// SaveCertificate writes ca.pem alone, which must not exist: agents know each other by it, and
// nobody can issue more certificates.
func (a *Authority) SaveCertificate(folder string) error {
	return savePEM(certificateFile(folder, authorityName), certificatesPEM(a.all...))
}

// LoadAuthority reads what [Authority.Save] wrote. Where ca.pem has several certificates, for a
// roll-over, the first belongs to the key.
func LoadAuthority(folder string) (*Authority, error) {
	pair, err := loadPair(folder, authorityName)
	if err != nil {
		return nil, err
	}
	all, err := loadAuthorities(certificateFile(folder, authorityName))
	if err != nil {
		return nil, err
	}
	return &Authority{pair, all}, nil
}
