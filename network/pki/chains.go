package pki

import (
	"crypto/x509"
	"errors"
	"sync"
	"time"
)

// chains are certificates that were found good: the certificate of an agent that signs many
// messages is verified once. The zero value has none.
type chains struct {
	mu   sync.Mutex
	good map[chainKey]goodChain
}

type chainKey struct {
	agent int
	der   string // with intermediate certificates
}

// A goodChain is good from the time at which it was found so until it expires.
type goodChain struct {
	leaf         *x509.Certificate
	since, until time.Time
}

// maxChains bounds how many are kept in mind.
const maxChains = 4096

// chainOf returns the chain of an agent's certificate that is good at the time now.
func (t *Trust) chainOf(agent int, der []byte, now time.Time) (goodChain, error) {
	c, key := &t.chains, chainKey{agent, string(der)}
	c.mu.Lock()
	known, ok := c.good[key]
	c.mu.Unlock()
	if ok && !now.Before(known.since) && !now.After(known.until) {
		return known, nil
	}
	// A parsed certificate is a view of its bytes, which are the caller's to use again.
	found, err := t.verify(agent, []byte(key.der), now)
	if err != nil {
		return found, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.good == nil || len(c.good) >= maxChains {
		c.good = map[chainKey]goodChain{}
	}
	c.good[key] = found
	return found, nil
}

// verify verifies a chain that is not known.
func (t *Trust) verify(agent int, der []byte, now time.Time) (found goodChain, err error) {
	chain, err := x509.ParseCertificates(der)
	if err != nil {
		return found, err
	}
	if len(chain) == 0 {
		return found, errors.New("there must be a certificate; there is none")
	}
	found.leaf, found.since = chain[0], now
	if found.until, err = verifyChain(chain, agent, poolOf(t.authorities), now); err != nil {
		return found, err
	}
	return found, t.member.check(agent, chain[0])
}
