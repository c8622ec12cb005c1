package grpc

import (
	"time"

	"dsbo/network/membership"
)

// A notary signs what this agent says in the council by the key of its certificate, and checks what
// others have signed.
type notary struct{ m *Mixer }

// Sign implements [paxos.Notary].
func (n notary) Sign(text []byte) (s membership.Signature, err error) {
	s.Agent = n.m.config.Agent
	id := n.m.identity()
	if id == nil {
		return membership.SignOpenly(s.Agent, text), nil
	}
	s.Certificate = id.Certificate()
	s.Signature, err = id.Sign(text)
	return s, err
}

// Verify implements [paxos.Notary].
func (n notary) Verify(text []byte, s membership.Signature, at time.Time) error {
	id := n.m.identity()
	if id == nil {
		return membership.VerifyOpenly(text, s)
	}
	_, err := id.Verify(s.Agent, s.Certificate, text, s.Signature, at)
	return err
}
