package grpc

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"dsbo"
	"dsbo/network/grpc/holdup"
	"dsbo/network/grpc/masks"
)

// masking returns what the keys of this agent's masks depend on.
func (c *Config) masking() masks.Config {
	p := c.Program
	return masks.Config{
		Agent: c.Agent, Agents: c.agents(), Founders: c.Matrix.N(), Run: c.Run, Hash: c.Hash, Off: c.Unmasked,
		Secret:  c.Secret,
		Noisy:   c.Noisy,
		Program: fmt.Sprintf("program %q, %q from %x", p.Version, p.Arithmetic, c.Fingerprint),
	}
}

// handleKey takes in the key of an agent that the neighbour passes on. A wrong key ends the run for
// all, or the stream where there is a council.
func (e *edge) handleKey(f *frame) error {
	m, agent := e.m, f.exchange
	published, err := m.keys.AddKey(agent, f.text)
	if err == nil && agent == m.config.Agent {
		e.confirmed = bytes.Clone(f.text)
	}
	m.neighbours.passKeysOn(published)
	if err == nil {
		m.flow.notifyWaiter()
		return nil
	}
	err = dsbo.Errorf(dsbo.ErrPeer, "the key of agent %d, which came from agent %d, is refused: %w", agent, e.id, err)
	if m.chamber != nil {
		return err
	}
	m.failLocked(err)
	return nil
}

// checkKey returns an error if the neighbour that says hello is known in this run by another key.
func (m *Mixer) checkKey(h hello) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.keys.Check(h.from, h.key); err != nil {
		return fmt.Errorf("the key of agent %d is refused: %w", h.from, err)
	}
	return nil
}

// awaitStreams waits until the keys of all members are known and the neighbours have this agent's,
// or a neighbour turns out to do something else. It returns the masks of this exchange, bound to
// something. A neighbour that knows another nonce of this agent says so before.
func (m *Mixer) awaitStreams(ctx context.Context, purpose int, bound [32]byte) (s masks.Streams, err error) {
	complete := func() bool {
		_, some := m.keys.Missing()
		return !some && !slices.ContainsFunc(m.view.edges, func(e *edge) bool { return !m.keys.Confirms(e.confirmed) })
	}
	m.mu.Lock()
	m.neighbours.passKeysOn(m.keys.Announce())
	if !complete() {
		m.watch.Begin(holdup.AwaitingKeys)
	}
	m.mu.Unlock()
	err = m.flow.awaitAll(ctx, purpose, func() bool {
		if !complete() {
			return false
		}
		s = m.keys.Streams(m.flow.round, bound)
		return true
	})
	return s, err
}
