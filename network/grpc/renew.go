package grpc

import (
	"crypto/tls"
	"time"

	"dsbo"
	"dsbo/network/pki"

	"google.golang.org/grpc/credentials"
)

// Renew gives this agent another certificate, or other authorities: all its connections are made
// again with them, and no vector is lost. The key must be the key of the certificate before, as the
// masks follow from it: else the error matches dsbo.ErrConfig and all stays as it was.
func (m *Mixer) Renew(id *pki.Identity) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &m.config
	switch {
	case c.Identity == nil:
		return dsbo.ConfigErrorf("agent %d began without a certificate, and must go on without one", c.Agent)
	case id.Agent != c.Agent:
		return dsbo.ConfigErrorf("the certificate must be that of agent %d; it is that of agent %d",
			c.Agent, id.Agent)
	case !id.SameKey(c.Identity):
		return dsbo.ConfigErrorf(
			"the key of %s must stay the same during a run, as masks follow from it; it is another one",
			pki.Name(c.Agent))
	}
	id, err := id.InRun(c.Run, c.Keys)
	if err != nil {
		return err
	}
	c.Identity = id
	published, err := m.keys.Certify(id)
	if err != nil {
		return err
	}
	m.neighbours.passKeysOn(published)
	for _, e := range m.neighbours.edges {
		if e.session != nil {
			e.session.drop(errRenewed)
		}
	}
	return nil
}

// serverSettings are the settings of a listener, each of whose connections has the certificate of
// its time.
func (l *links) serverSettings() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			now := l.m.identity().Server()
			now.NextProtos = []string{"h2"} // which gRPC adds to the settings that it is given, and requires
			return now, nil
		},
	}
}

// connectionExpiry returns when the first certificate of a connection expires, of either side; the
// zero time if it has none.
func (l *links) connectionExpiry(auth credentials.AuthInfo) time.Time {
	id := l.m.identity()
	info, ok := auth.(credentials.TLSInfo)
	if id == nil || !ok {
		return time.Time{}
	}
	theirs := pki.ExpiryOf(info.State.VerifiedChains)
	if own := id.Expires(); own.Before(theirs) {
		return own
	}
	return theirs
}
