package pki

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"dsbo"
)

// An Identity is what an agent shows to others and checks them by.
type Identity struct {
	Agent int // whose it is

	certificate tls.Certificate
	authority   *x509.Certificate
}

const namePrefix = "agent-"

// Name returns the DNS name in agent i's certificate.
func Name(agent int) string { return namePrefix + strconv.Itoa(agent) }

// Agent returns the agent whose certificate this is. The certificate must have one DNS name, of
// the form that [Name] gives.
func Agent(cert *x509.Certificate) (int, error) {
	if len(cert.DNSNames) == 1 {
		if digits, ok := strings.CutPrefix(cert.DNSNames[0], namePrefix); ok {
			if i, err := strconv.Atoi(digits); err == nil && i >= 0 && Name(i) == cert.DNSNames[0] {
				return i, nil
			}
		}
	}
	return 0, fmt.Errorf("the certificate of %q names %q, want one name such as agent-0", cert.Subject.CommonName, cert.DNSNames)
}

// Expires returns the end of the certificate, or of the authority's if that comes first.
func (id *Identity) Expires() time.Time {
	end := id.certificate.Leaf.NotAfter
	if id.authority.NotAfter.Before(end) {
		return id.authority.NotAfter
	}
	return end
}

// Server returns the settings by which this agent accepts others: TLS 1.3, with a certificate that
// the authority has signed. Whose it is, [Agent] tells of the connection's first peer certificate.
func (id *Identity) Server() *tls.Config {
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{id.certificate},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    id.pool(),
		// A ticket would let an agent come back without showing a certificate that is valid then.
		SessionTicketsDisabled: true,
	}
}

// Client returns the settings by which this agent connects to another one and to nobody else.
func (id *Identity) Client(to int) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		// Also shown to one who trusts another authority, whose refusal then says so.
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

func agentFiles(folder string, agent int) (cert, key string) {
	base := filepath.Join(folder, Name(agent))
	return base + ".pem", base + "-key.pem"
}

// Save writes agent-<i>.pem and agent-<i>-key.pem into the folder. It refuses to overwrite a file.
func (id *Identity) Save(folder string) error {
	cert, key := agentFiles(folder, id.Agent)
	return savePair(cert, key, id.certificate.Leaf, id.certificate.PrivateKey)
}

// Load reads agent i's identity from a folder that holds ca.pem, agent-<i>.pem and
// agent-<i>-key.pem. A certificate that the others would refuse now is an error that says why. All
// errors match dsbo.ErrConfig.
func Load(folder string, agent int, now time.Time) (*Identity, error) {
	authority, err := loadCertificate(filepath.Join(folder, authorityFile))
	if err != nil {
		return nil, err
	}
	certFile, keyFile := agentFiles(folder, agent)
	cert, err := loadCertificate(certFile)
	if err != nil {
		return nil, err
	}
	key, err := loadKey(keyFile, cert)
	if err != nil {
		return nil, err
	}
	id := &Identity{
		Agent:       agent,
		certificate: tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert},
		authority:   authority,
	}
	if err := id.check(now); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", dsbo.ErrConfig, certFile, err)
	}
	return id, nil
}

func (id *Identity) check(now time.Time) error {
	cert := id.certificate.Leaf
	if named, err := Agent(cert); err != nil {
		return err
	} else if named != id.Agent {
		return fmt.Errorf("it is the certificate of agent %d, want that of agent %d", named, id.Agent)
	}
	// Each extended usage is checked on its own: one that fits is enough for Verify.
	for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		_, err := cert.Verify(x509.VerifyOptions{
			Roots:       id.pool(),
			CurrentTime: now,
			KeyUsages:   []x509.ExtKeyUsage{usage},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
