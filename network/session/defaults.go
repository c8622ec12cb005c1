package session

import (
	"time"

	"dsbo/network/pki"
	"dsbo/network/register"
	"dsbo/network/relay"
)

func orDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// withDefaults returns c with its zeros replaced, as the comments of its fields have it, and lines
// of the log at a bounded rate.
func (c Config) withDefaults() Config {
	orDefault(&c.MaxFloats, 1<<24)
	orDefault(&c.SilentAfter, 5*time.Second)
	orDefault(&c.Heartbeat, min(500*time.Millisecond, c.SilentAfter/4))
	orDefault(&c.Grace, 2*c.SilentAfter)
	orDefault(&c.PeerTimeout, 20*time.Minute)
	c.PeerTimeout = max(c.PeerTimeout, 2*c.AbsentAfter) // else a meeting ends before it does without an agent
	orDefault(&c.ComputeTimeout, max(24*time.Hour, c.PeerTimeout))
	orDefault(&c.StragglerDeadline, c.ComputeTimeout)
	orDefault(&c.Instance, uint64(time.Now().UnixNano()))
	c.Log = pki.LimitLog(c.Log)
	if c.Admission != "" {
		c.admissionNeighbours, _ = c.rule(c.Identity).Admission(c.Agent, c.Admission) // newWarrants has the error
	}
	if c.Dial == nil {
		c.Dial = relay.Dialer{}.Dial
	}
	if c.Wrap == nil {
		c.Wrap = func(_ int, s Sender) Sender { return s }
	}
	return c
}

// rule returns the rule of decision, which all agents have; id is this agent's certificate, nil
// without.
func (c *Config) rule(id *pki.Identity) register.Rule {
	r := register.Rule{Run: c.Run, Hash: c.Hash, Matrix: c.Matrix, Quorum: c.Quorum, FewMembers: c.FewMembers,
		LeastMembers: c.LeastMembers, Masked: !c.Unmasked}
	if id != nil {
		r.Authority = id
	}
	return r
}

// tagKey returns the key of the tag of this agent's data, which is its certificate's; nil: there is
// no certificate.
func (c *Config) tagKey() ([]byte, error) {
	if c.Identity == nil {
		return nil, nil
	}
	return c.Identity.Derive("dsbo tag of data")
}
