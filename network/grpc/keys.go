package grpc

import (
	"bytes"
	"context"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"dsbo"
	"dsbo/network/membership"
)

// keys are those of the masks: an agent's own, and the others' as they become known. The mixer's lock guards them.
type keys struct {
	agent        int
	own          *ecdh.PrivateKey
	ownFrame     []byte         // this agent's key frame; nil if sums are not masked
	ownPublished bool           // whether the frame is among those that spread
	published    []publishedKey // in the order in which they came: every stream carries them all
	public       [][]byte       // by agent; nil while not known
	expiry       []time.Time    // by agent; when the certificate of the key expires
	members      []int          // of the epoch
	epoch        int            // its number
	missing      int            // other members whose key is not known
	secrets      [][]byte       // those shared with each agent; nil while its key is not known
	ciphers      []cipher.Block // of the streams shared with each agent; nil until all keys are known
}

// A publishedKey is the key of an agent, as it travels.
type publishedKey struct {
	agent int
	frame []byte // nil if a later one of the agent has taken its place
}

const (
	keyLength = 32
	// maxKeyText bounds a key with its signature and its certificate.
	maxKeyText = 8192
)

// A signedKey is the public key of an agent's masks. Without certificates the key is alone.
type signedKey struct{ public, signature, certificate []byte }

func (k signedKey) encode() []byte {
	b := bytes.Clone(k.public)
	if len(k.certificate) == 0 {
		return b
	}
	b = binary.LittleEndian.AppendUint16(b, uint16(len(k.signature)))
	return append(append(b, k.signature...), k.certificate...)
}

// readKey reads what encode has written.
func readKey(b []byte) (k signedKey, err error) {
	wrong := fmt.Errorf("a key must have %d bytes, or these, a signature with its length, and a certificate; it has %d in all", keyLength, len(b))
	if len(b) < keyLength {
		return k, wrong
	}
	k.public, b = b[:keyLength], b[keyLength:]
	if len(b) == 0 {
		return k, nil
	}
	if len(b) < 2 {
		return k, wrong
	}
	n := int(binary.LittleEndian.Uint16(b))
	if b = b[2:]; n == 0 || n >= len(b) {
		return k, wrong
	}
	k.signature, k.certificate = b[:n], b[n:]
	return k, nil
}

// keyName is a text that no two runs, agents and purposes share.
func (c *Config) keyName(purpose string, agent int) string {
	return fmt.Sprintf("dsbo %s of agent %d in run %q with settings %q", purpose, agent, c.Run, c.Hash)
}

// signedText is what an agent signs for its key.
func (c *Config) signedText(agent int, public []byte) []byte {
	return append([]byte(c.keyName("public key", agent)+"\n"), public...)
}

// keyDerivationName is what an agent's key depends on beside its secret: the run, and what the agent computes with and from.
func (c *Config) keyDerivationName() string {
	p := c.Program
	return fmt.Sprintf("%s of program %q, %q from %x", c.keyName("key", c.Agent), p.Version, p.Arithmetic, c.Fingerprint)
}

// newKeys makes this agent's key. With masks off there is none.
func newKeys(c *Config) (k keys, err error) {
	n, founders := c.agents(), c.Matrix.N()
	k = keys{agent: c.Agent, public: make([][]byte, n), expiry: make([]time.Time, n), secrets: make([][]byte, n), ciphers: make([]cipher.Block, n),
		members: membership.First(founders).Members, missing: founders - 1}
	if c.Unmasked {
		return k, nil
	}
	secret, name := c.Secret, c.keyDerivationName()
	switch {
	case c.Identity != nil:
		derived, err := c.Identity.Derive(name)
		if err != nil {
			return k, err
		}
		secret = append(derived, secret...)
	case len(secret) == 0:
		secret = make([]byte, keyLength)
		_, _ = rand.Read(secret) // which never fails
	}
	private, err := hkdf.Key(sha256.New, secret, nil, name, keyLength)
	if err != nil {
		return k, err
	}
	if k.own, err = ecdh.X25519().NewPrivateKey(private); err != nil {
		return k, err
	}
	k.public[c.Agent] = k.own.PublicKey().Bytes()
	return k, k.certify(c)
}

// setEpoch has the masks be those of an epoch: streams that only its members share, and that no other epoch has.
func (k *keys) setEpoch(c *Config, e membership.Epoch) error {
	k.members, k.epoch, k.missing = e.Members, e.Number, 0
	clear(k.ciphers)
	for _, i := range e.Members {
		if i != k.agent && k.public[i] == nil {
			k.missing++
		}
	}
	if k.missing > 0 || k.own == nil {
		return nil
	}
	return k.makeCiphers(c)
}

// certify makes this agent's key frame, with the certificate that it has now.
func (k *keys) certify(c *Config) (err error) {
	signed := signedKey{public: k.public[c.Agent]}
	if c.Identity != nil {
		signed.certificate, k.expiry[c.Agent] = c.Identity.Certificate(), c.Identity.Expires()
		if signed.signature, err = c.Identity.Sign(c.signedText(c.Agent, signed.public)); err != nil {
			return err
		}
	}
	k.ownFrame = encode(header{kindKey, c.Agent, 0}, signed.encode())
	return nil
}

// publishOwnKey has all neighbours learn this agent's key, with those that this agent knows.
func (m *Mixer) publishOwnKey() {
	if !m.keys.ownPublished {
		m.keys.ownPublished = true
		m.publishKey(m.config.Agent, m.keys.ownFrame)
	}
}

// publishKey adds a key frame to those that all streams have, in place of a former one of the agent.
func (m *Mixer) publishKey(agent int, frame []byte) {
	for i, f := range m.keys.published {
		if f.agent == agent {
			m.keys.published[i].frame = nil
		}
	}
	m.keys.published = append(m.keys.published, publishedKey{agent, frame})
	for _, e := range m.edges {
		e.wake()
	}
}

// learnKey takes in the key of an agent that a neighbour passes on. One that is wrong ends the run for all, or the stream where there is
// a council. A neighbour that has come back may be the only one that needs keys, so that this agent's goes with the first one that comes.
func (m *Mixer) learnKey(neighbour, agent int, text []byte) error {
	err := m.admitKey(agent, text)
	if err == nil {
		return nil
	}
	err = dsbo.Errorf(dsbo.ErrPeer, "the key of agent %d, which came from agent %d, is refused: %w", agent, neighbour, err)
	if m.chamber != nil {
		return err
	}
	m.failLocked(err)
	return nil
}

func (m *Mixer) admitKey(agent int, text []byte) error {
	k, c := &m.keys, &m.config
	if k.own == nil {
		return errors.New("there must be none, as sums are not masked")
	}
	if agent >= len(k.public) {
		return fmt.Errorf("agents must be 0 to %d", len(k.public)-1)
	}
	signed, err := readKey(text)
	if err != nil {
		return err
	}
	if before := k.public[agent]; before != nil {
		if !bytes.Equal(before, signed.public) {
			return errOtherKey
		}
		m.publishOwnKey()
		m.renewKey(agent, signed, text)
		return nil
	}
	if k.expiry[agent], err = c.verifyKey(agent, signed); err != nil {
		return err
	}
	if k.secrets[agent], err = k.sharedSecret(signed.public); err != nil {
		return err
	}
	k.public[agent] = bytes.Clone(signed.public)
	m.publishOwnKey()
	m.publishKey(agent, encode(header{kindKey, agent, 0}, text))
	if !slices.Contains(k.members, agent) {
		return nil
	}
	if k.missing--; k.missing > 0 {
		return nil
	}
	m.notifyWaiter()
	return k.makeCiphers(c)
}

// renewKey passes on the key of an agent that is known where its certificate expires later than the one before: who comes back when
// that has expired gets this one.
func (m *Mixer) renewKey(agent int, signed signedKey, text []byte) {
	if m.keys.publishes(agent, signed.certificate) { // it comes once from each neighbour, and with each process: looking is cheaper than verifying
		return
	}
	if until, err := m.config.verifyKey(agent, signed); err == nil && until.After(m.keys.expiry[agent]) {
		m.keys.expiry[agent] = until
		m.publishKey(agent, encode(header{kindKey, agent, 0}, text))
	}
}

// publishes reports whether the key that is passed on for an agent has this certificate.
func (k *keys) publishes(agent int, certificate []byte) bool {
	return slices.ContainsFunc(k.published, func(p publishedKey) bool {
		if p.agent != agent || p.frame == nil {
			return false
		}
		known, err := readKey(p.frame[headerSize:])
		return err == nil && bytes.Equal(known.certificate, certificate)
	})
}

// errOtherKey is what is wrong with an agent that comes back and is not what it was.
var errOtherKey = errors.New("it is another one than before: an agent's data, its program and its certificate's key, or without " +
	"certificates its secret, must stay the same during a run")

// checkOwnKey returns an error if the neighbour that says hello is known in this run by another key.
func (m *Mixer) checkOwnKey(h hello) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if before := m.keys.public[h.from]; before != nil && h.key != string(before) {
		return fmt.Errorf("the key of agent %d is refused: %w", h.from, errOtherKey)
	}
	return nil
}

// verifyKey returns an error unless a key is that of an agent, in this run, and until when its certificate says so.
func (c *Config) verifyKey(agent int, k signedKey) (until time.Time, err error) {
	if c.Identity == nil {
		if len(k.certificate) > 0 {
			return until, errors.New("it must be alone, as there are no certificates; it comes with one")
		}
		return until, nil
	}
	if len(k.certificate) == 0 {
		return until, errors.New("it must come with a certificate; it is alone")
	}
	return c.Identity.Verify(agent, k.certificate, c.signedText(agent, k.public), k.signature, time.Now())
}

// awaitKeys waits until the keys of all agents are known, or a neighbour turns out to do something else.
func (m *Mixer) awaitKeys(ctx context.Context, purpose int) error {
	m.mu.Lock()
	m.publishOwnKey()
	if m.keys.missing > 0 {
		m.setActivity(asking)
	}
	m.mu.Unlock()
	return m.awaitAll(ctx, purpose, func() bool { return m.keys.missing == 0 })
}
