package pki

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"strconv"
	"strings"
	"time"

	"dsbo"
)

// An Identity is the certificate and the key that an agent shows to others, and the authority that must have signed
// theirs.
type Identity struct {
	Agent int // whose identity this is

	certificate tls.Certificate
	authority   *x509.Certificate
}

const namePrefix = "agent-"

// Name returns the DNS name in an agent's certificate, agent-<i>.
func Name(agent int) string { return namePrefix + strconv.Itoa(agent) }

// Agent returns the agent whose certificate this is. The certificate must have one DNS name, of the form that [Name]
// gives.
func Agent(cert *x509.Certificate) (int, error) {
	if len(cert.DNSNames) == 1 {
		if digits, ok := strings.CutPrefix(cert.DNSNames[0], namePrefix); ok {
			if i, err := strconv.Atoi(digits); err == nil && i >= 0 && Name(i) == cert.DNSNames[0] {
				return i, nil
			}
		}
	}
	return 0, fmt.Errorf(
		"the certificate of %q must have one DNS name such as agent-0; it has %q", cert.Subject.CommonName, cert.DNSNames)
}

// Expires returns when the certificate expires, or that of the authority if it expires first.
func (id *Identity) Expires() time.Time {
	end := id.certificate.Leaf.NotAfter
	if id.authority.NotAfter.Before(end) {
		return id.authority.NotAfter
	}
	return end
}

// Server returns the settings by which this agent accepts connections: TLS 1.3, from whoever has a certificate that
// the authority has signed. The function [Agent] of the connection's first peer certificate returns whose it is.
func (id *Identity) Server() *tls.Config {
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{id.certificate},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    id.pool(),
		// With a ticket an agent could reconnect without a certificate that is valid at that time.
		SessionTicketsDisabled: true,
	}
}

// Client returns the settings by which this agent connects to another one, and to nobody else.
func (id *Identity) Client(to int) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		// The certificate is sent to a server with another authority as well, whose refusal then gives the reason.
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &id.certificate, nil },
		RootCAs:              id.pool(),
		ServerName:           Name(to),
	}
}

func (id *Identity) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(id.authority)
	return pool
}

// Save writes agent-<i>.pem and agent-<i>-key.pem into the folder, where neither may exist.
func (id *Identity) Save(folder string) error {
	return savePair(folder, Name(id.Agent), id.certificate)
}

// Load reads an agent's identity from a folder that holds ca.pem, agent-<i>.pem and agent-<i>-key.pem. A certificate
// that other agents would refuse at the time now is an error that gives the reason. All errors match dsbo.ErrConfig.
func Load(folder string, agent int, now time.Time) (*Identity, error) {
	authority, err := loadCertificate(certificateFile(folder, authorityName))
	if err != nil {
		return nil, err
	}
	pair, err := loadPair(folder, Name(agent))
	if err != nil {
		return nil, err
	}
	id := &Identity{agent, pair, authority}
	if err := verify(pair.Leaf, agent, id.pool(), now); err != nil {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "%s: %w", certificateFile(folder, Name(agent)), err)
	}
	return id, nil
}

// verify returns an error unless a certificate is that of an agent, signed by an authority in roots, and valid at the time now.
func verify(cert *x509.Certificate, agent int, roots *x509.CertPool, now time.Time) error {
	if named, err := Agent(cert); err != nil {
		return err
	} else if named != agent {
		return fmt.Errorf("it must be the certificate of agent %d; it is that of agent %d", agent, named)
	}
	// Verify is content with one of several usages, but an agent needs both.
	for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		options := x509.VerifyOptions{Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{usage}}
		if _, err := cert.Verify(options); err != nil {
			return err
		}
	}
	return nil
}
