package pki

import (
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"dsbo"
)

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
