package pki

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"dsbo"
)

// An Identity is the certificate and the key that an agent shows to others, and the authorities of
// which one must have signed theirs.
type Identity struct {
	Agent int // whose identity this is

	*trusted                    // of those whose certificates this agent accepts
	certificate tls.Certificate // with intermediate ones, if there are any
	expires     time.Time
}

const namePrefix = "agent-"

// Name returns the DNS name in an agent's certificate, agent-<i>.
func Name(agent int) string { return namePrefix + strconv.Itoa(agent) }

// Agent returns the agent whose certificate this is. Of the certificate's DNS names one, and no
// other, must have the form that [Name] gives. The subject's common name does not matter.
func Agent(cert *x509.Certificate) (agent int, err error) {
	found := 0
	for _, name := range cert.DNSNames {
		digits, is := strings.CutPrefix(name, namePrefix)
		if i, err := strconv.Atoi(digits); is && err == nil && i >= 0 && Name(i) == name {
			agent, found = i, found+1
		}
	}
	if found != 1 {
		return 0, fmt.Errorf("the certificate of %q must have one DNS name such as agent-0; it has %q",
			cert.Subject.CommonName, cert.DNSNames)
	}
	return agent, nil
}

// Expires returns when the certificate expires, or one of those that it was signed by if that
// expires first.
func (id *Identity) Expires() time.Time { return id.expires }

// Server returns the settings by which this agent accepts connections: TLS 1.3, from whoever has a
// certificate that one of the authorities has signed. The function [Agent] of the connection's
// first peer certificate returns whose it is.
func (id *Identity) Server() *tls.Config {
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{id.certificate},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    poolOf(id.authorities),
		// With a ticket an agent could reconnect without a certificate that is valid at that time.
		SessionTicketsDisabled: true,
	}
}

// Client returns the settings by which this agent connects to another one, and to nobody else.
func (id *Identity) Client(to int) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		// The certificate is sent to a server with another authority as well, whose refusal then
		// gives the reason.
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &id.certificate, nil
		},
		RootCAs:    poolOf(id.authorities),
		ServerName: Name(to),
	}
}

// ToHost returns the settings by which this agent connects to a server that is no agent, such as a
// relay, of which it gets a host's name. One of the system's authorities or of this agent's must
// have signed the server's certificate. The agent shows none of its own. protocols are as in
// tls.Config.NextProtos.
func (id *Identity) ToHost(host string, protocols ...string) *tls.Config {
	roots, err := x509.SystemCertPool()
	if err != nil { // such as where there are none
		roots = x509.NewCertPool()
	}
	for _, c := range id.authorities {
		roots.AddCert(c)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: host, NextProtos: protocols}
}

func poolOf(certificates []*x509.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, c := range certificates {
		pool.AddCert(c)
	}
	return pool
}

// Save writes agent-<i>.pem and agent-<i>-key.pem into the folder, where neither may exist.
func (id *Identity) Save(folder string) error {
	return savePair(folder, Name(id.Agent), id.certificate.PrivateKey, id.certificate.Leaf)
}

// Load reads an agent's identity from a folder with ca.pem, agent-<i>.pem and agent-<i>-key.pem. A
// certificate that other agents would refuse at the time now is an error that gives the reason. All
// errors match dsbo.ErrConfig.
func Load(folder string, agent int, now time.Time) (*Identity, error) {
	trust, err := LoadTrust(folder)
	if err != nil {
		return nil, err
	}
	pair, err := loadPair(folder, Name(agent))
	if err != nil {
		return nil, err
	}
	id := &Identity{Agent: agent, certificate: pair, trusted: trust}
	chain, err := x509.ParseCertificates(id.Certificate())
	if err == nil {
		id.expires, err = verifyChain(chain, agent, poolOf(id.authorities), now)
	}
	if err != nil {
		return nil, dsbo.ConfigErrorf("%s: %w", certificateFile(folder, Name(agent)), err)
	}
	return id, nil
}

// verifyChain returns an error unless the first certificate of a chain belongs to an agent, signed
// by an authority in roots, through the others if need be, and valid at the time now. It returns
// until when that is so.
func verifyChain(chain []*x509.Certificate, agent int, roots *x509.CertPool,
	now time.Time) (until time.Time, err error) {
	cert := chain[0]
	if err := checkName(cert, agent); err != nil {
		return until, err
	}
	until = cert.NotAfter
	// Verify is content with one of several usages, but an agent needs both.
	for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		options := x509.VerifyOptions{Roots: roots, Intermediates: poolOf(chain[1:]), CurrentTime: now,
			KeyUsages: []x509.ExtKeyUsage{usage}}
		chains, err := cert.Verify(options)
		if err != nil {
			return until, err
		}
		until = earlierOf(until, ExpiryOf(chains))
	}
	return until, nil
}

func checkName(cert *x509.Certificate, agent int) error {
	if named, err := Agent(cert); err != nil {
		return err
	} else if named != agent {
		return fmt.Errorf("it must be the certificate of agent %d; it is that of agent %d", agent, named)
	}
	return nil
}

// ExpiryOf returns when the last of some chains expires, such as the chains that a TLS connection
// has verified. A chain expires with the first of its certificates. Without chains it is zero.
func ExpiryOf(chains [][]*x509.Certificate) (until time.Time) {
	for _, chain := range chains {
		first := slices.MinFunc(chain, func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
		if first.NotAfter.After(until) {
			until = first.NotAfter
		}
	}
	return until
}

func earlierOf(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// runPrefix is what the URI of a run in a certificate begins with: dsbo:run:<name>.
const runPrefix = "dsbo:run:"

func runURI(run string) *url.URL {
	return &url.URL{Scheme: "dsbo", Opaque: "run:" + url.PathEscape(run)}
}

// RunsOf returns the runs that a certificate names, in order.
func RunsOf(cert *x509.Certificate) (runs []string) {
	for _, u := range cert.URIs {
		if name, is := strings.CutPrefix(u.String(), runPrefix); is {
			if run, err := url.PathUnescape(name); err == nil {
				runs = append(runs, run)
			}
		}
	}
	return runs
}

// KeyDigest returns the SHA-256 of a certificate's public key, in hexadecimal: of the same bytes as
// Fingerprint of a [Request].
func KeyDigest(cert *x509.Certificate) string {
	return fmt.Sprintf("%x", sha256.Sum256(cert.RawSubjectPublicKeyInfo))
}

// A binding decides whether an authority's certificate belongs to a run.
type binding struct {
	run  string
	keys []string // by agent, digests of public keys that are pinned; "" and beyond the end: none
}

// check returns an error unless the certificate of an agent belongs to the run: its key is the
// pinned one, or none is pinned and it names the run.
func (m *binding) check(agent int, cert *x509.Certificate) error {
	if m == nil {
		return nil
	}
	if agent < len(m.keys) && m.keys[agent] != "" {
		if digest := KeyDigest(cert); digest != m.keys[agent] {
			return fmt.Errorf("the key of %s must be the one that the run has for it, SHA-256 %s; it is %s",
				Name(agent), m.keys[agent], digest)
		}
		return nil
	}
	if runs := RunsOf(cert); !slices.Contains(runs, m.run) {
		return fmt.Errorf("the certificate of %s must name run %q (URI %v), or its key be pinned; the runs that it "+
			"names: %q", Name(agent), m.run, runURI(m.run), runs)
	}
	return nil
}

// InRun returns the identity with which its agent takes part in a run: it accepts those alone whose
// certificates name the run or, of agents whose public keys are pinned, who have that key, whatever
// run their certificates name. keys are the SHA-256 of public keys in hexadecimal, by agent; "" is
// no key. The error, where the identity itself is none of the run, matches dsbo.ErrConfig.
func (id *Identity) InRun(run string, keys []string) (*Identity, error) {
	member := *id
	member.trusted = id.trusted.InRun(run, keys)
	if err := member.member.check(id.Agent, id.certificate.Leaf); err != nil {
		return nil, dsbo.ConfigErrorf("%w", err)
	}
	return &member, nil
}

// Peer returns the agent on the other side of a TLS connection, whose verified certificates these
// are, the agent's own first. With [Identity.InRun] it is one of the run.
func (id *Identity) Peer(certificates []*x509.Certificate) (agent int, err error) {
	if agent, err = Agent(certificates[0]); err != nil {
		return 0, err
	}
	return agent, id.member.check(agent, certificates[0])
}
