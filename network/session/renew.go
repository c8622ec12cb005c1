package session

import (
	"crypto/tls"
	"time"

	"dsbo"
	"dsbo/network/pki"
	"dsbo/network/register"

	"google.golang.org/grpc/credentials"
)

// identity returns the certificate of now, as a member of the run; nil: there is none.
func (l *links) identity() *pki.Identity { return l.member.Load() }

func (l *links) rule() register.Rule { return l.config.rule(l.identity()) }

// renew gives this agent another certificate, or other authorities, and remakes all its
// connections. The key may change unless Config.Keys has it. Anything else is an error that matches
// dsbo.ErrConfig, and changes nothing.
func (l *links) renew(id *pki.Identity) error {
	c := l.config
	switch {
	case l.identity() == nil:
		return dsbo.ConfigErrorf("agent %d began without a certificate, and must go on without one", c.Agent)
	case id.Agent != c.Agent:
		return dsbo.ConfigErrorf("the certificate must be that of agent %d; it is that of agent %d",
			c.Agent, id.Agent)
	}
	id, err := id.InRun(c.Run, c.Keys)
	if err != nil {
		return err
	}
	l.member.Store(id)
	l.mu.Lock()
	defer l.mu.Unlock()
	for conn := range l.conns {
		conn.drop(errRenewed)
	}
	return nil
}

// serverSettings are the settings of a listener, each of whose connections has the certificate of
// its time.
func (l *links) serverSettings() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			now := l.identity().Server()
			now.NextProtos = []string{"h2"} // which gRPC adds to the settings that it is given, and requires
			return now, nil
		},
	}
}

// keyOf returns the SHA-256 of the public key with which the other side of a connection came, in
// hexadecimal; "" if it has none.
func keyOf(auth credentials.AuthInfo) string {
	theirs := stateOf(auth).PeerCertificates
	if len(theirs) == 0 {
		return ""
	}
	return pki.KeyDigest(theirs[0])
}

// connectionExpiry returns when the first certificate of a connection expires, of either side; the
// zero time if it has none.
func connectionExpiry(own *pki.Identity, auth credentials.AuthInfo) time.Time {
	theirs := pki.ExpiryOf(stateOf(auth).VerifiedChains)
	if own != nil && own.Expires().Before(theirs) {
		return own.Expires()
	}
	return theirs
}
