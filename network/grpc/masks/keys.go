package masks

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"dsbo/network/membership"
	"dsbo/network/pki"
)

// A Config is what the keys of a run depend on.
type Config struct {
	Agent    int    // the number of this agent
	Agents   int    // the most agents that there may be
	Founders int    // the members at the start, agents 0 to Founders−1
	Run      string // the name of the run
	Hash     string // of the settings that all agents share
	Program  string // what this agent computes with, and from: another program or data have another key
	Off      bool   // sums are not masked, and there are no keys
	// Ledger has this agent's nonce and the streams that it has used. nil: they are in memory, and
	// the agent cannot come back.
	Ledger *Ledger
	// Noisy says that words follow from noise of this process's folder: who has lost it must not go
	// on under the nonce of before.
	Noisy bool
	// Secret is mixed into this agent's key, which without a certificate depends on it alone. With
	// neither, the key is drawn at random.
	Secret []byte
}

// Keys are an agent's own key and the keys of others as they become known.
type Keys struct {
	config    Config           // whose agent's keys they are
	identity  *pki.Identity    // nil: there are no certificates
	own       *ecdh.PrivateKey // this agent's private key
	ownText   []byte           // this agent's key as it travels; nil if sums are not masked
	announced bool             // the own key is among the published ones
	published []Published      // in the order in which they came: every stream carries all of them
	public    [][]byte         // by agent; nil while not known
	nonces    [][]byte         // by agent; nil while not known
	used      bool             // words were masked under the present nonces
	digests   cipher.AEAD      // makes the digests of words in the ledger
	noise     cipher.Block     // of this agent's own stream, see Noise
	tag       uint64           // of the members' keys and nonces, of 24 bits
	expiry    []time.Time      // by agent; when the certificate of the key expires
	members   []int            // of the epoch
	epoch     int              // its number
	missing   int              // other members whose key is not known
	secrets   [][]byte         // shared with each agent; nil while its key is not known
	ciphers   []cipher.Block   // of the streams shared with each agent; nil until all keys are known
}

// A Published key is an agent's key as it travels.
type Published struct {
	Agent int
	Text  []byte // nil if a later text of the agent has taken its place
}

// New makes this agent's key, signed by its certificate if it has one.
func New(c Config, id *pki.Identity) (*Keys, error) {
	n := c.Agents
	k := &Keys{config: c, identity: id, public: make([][]byte, n), nonces: make([][]byte, n),
		expiry:  make([]time.Time, n),
		secrets: make([][]byte, n),
		members: membership.First(c.Founders).Members, missing: c.Founders - 1}
	if c.Off {
		return k, nil
	}
	secret, name := c.Secret, fmt.Sprintf("%s of %s", c.streamName("key", c.Agent), c.Program)
	switch {
	case id != nil:
		derived, err := id.Derive(name)
		if err != nil {
			return k, err
		}
		secret = append(derived, secret...)
	case len(secret) == 0:
		secret = make([]byte, KeyLength)
		_, _ = rand.Read(secret) // which never fails
	}
	private, err := hkdf.Key(sha256.New, secret, nil, name, KeyLength)
	if err != nil {
		return k, err
	}
	if k.own, err = ecdh.X25519().NewPrivateKey(private); err != nil {
		return k, err
	}
	digests, err := newCipher(secret, "digests of words, "+name)
	if err == nil {
		k.digests, err = cipher.NewGCM(digests)
	}
	if err == nil {
		k.noise, err = newCipher(secret, "noise, "+name)
	}
	if err != nil {
		return k, err
	}
	if k.config.Ledger == nil {
		if k.config.Ledger, err = OpenLedger(""); err != nil {
			return k, err
		}
	}
	k.public[c.Agent], k.nonces[c.Agent] = k.own.PublicKey().Bytes(), k.config.Ledger.nonce
	_, err = k.Certify(id)
	return k, err
}

// newCipher returns AES-128 with a key from a secret, for a purpose.
func newCipher(secret []byte, purpose string) (cipher.Block, error) {
	key, err := hkdf.Key(sha256.New, secret, nil, purpose, 16)
	if err != nil {
		return nil, err
	}
	return aes.NewCipher(key)
}

// Own returns this agent's public key; nil if sums are not masked.
func (k *Keys) Own() []byte { return k.public[k.config.Agent] }

// Published returns the keys that every stream carries, in order. It grows at its end alone.
func (k *Keys) Published() []Published { return k.published }

// Missing returns the first member whose key is not known; false if all are.
func (k *Keys) Missing() (agent int, some bool) {
	if k.missing == 0 {
		return 0, false
	}
	i := slices.IndexFunc(k.members, func(i int) bool { return k.public[i] == nil })
	return k.members[max(i, 0)], true
}

// SetEpoch has the masks belong to an epoch: streams that only its members share, and no other
// epoch has.
func (k *Keys) SetEpoch(e membership.Epoch) error {
	k.members, k.epoch, k.missing = e.Members, e.Number, 0
	k.ciphers = nil
	for _, i := range e.Members {
		if i != k.config.Agent && k.public[i] == nil {
			k.missing++
		}
	}
	if k.missing > 0 || k.own == nil {
		return nil
	}
	return k.makeCiphers()
}

// Certify signs this agent's key by a certificate of the same key pair, and reports whether streams
// have to carry it anew.
func (k *Keys) Certify(id *pki.Identity) (published bool, err error) {
	if k.identity = id; k.own == nil {
		return false, nil
	}
	agent := k.config.Agent
	signed := signedKey{public: k.public[agent], nonce: k.nonces[agent]}
	if id != nil {
		signed.certificate, k.expiry[agent] = id.Certificate(), id.Expires()
		if signed.signature, err = id.Sign(k.config.signedText(agent, signed)); err != nil {
			return false, err
		}
	}
	if k.ownText = signed.encode(); k.announced {
		k.publish(agent, k.ownText)
	}
	return k.announced, nil
}

// Announce publishes this agent's key, and reports whether it was not before.
func (k *Keys) Announce() bool {
	if k.announced || k.own == nil {
		return false
	}
	k.announced = true
	k.publish(k.config.Agent, k.ownText)
	return true
}

// publish adds a text to the published ones, in place of a former one of the agent.
func (k *Keys) publish(agent int, text []byte) {
	for i := range k.published {
		if k.published[i].Agent == agent {
			k.published[i].Text = nil
		}
	}
	k.published = append(k.published, Published{agent, text})
}

// ErrOtherKey is what is wrong with an agent that comes back and is not what it was.
var ErrOtherKey = errors.New(
	"it is another one than before: an agent's data, its program and its certificate's key, or without " +
		"certificates its secret, must stay the same during a run")

// Check returns [ErrOtherKey] if an agent is known by another public key.
func (k *Keys) Check(agent int, public string) error {
	if before := k.public[agent]; before != nil && public != string(before) {
		return ErrOtherKey
	}
	return nil
}

// AddKey takes in the key of an agent, which a neighbour passes on. A neighbour that has come back
// may be the only one that needs keys, so this agent's own key goes with the first that comes.
// published says that streams have more to carry. The error says what is wrong with the key, which
// then changes nothing.
func (k *Keys) AddKey(agent int, text []byte) (published bool, err error) {
	if k.own == nil {
		return false, errors.New("there must be none, as sums are not masked")
	}
	if agent >= len(k.public) {
		return false, fmt.Errorf("agents must be 0 to %d", len(k.public)-1)
	}
	signed, err := readKey(text)
	if err != nil {
		return false, err
	}
	if before := k.public[agent]; before != nil {
		if !bytes.Equal(before, signed.public) {
			return false, ErrOtherKey
		}
		if !bytes.Equal(k.nonces[agent], signed.nonce) {
			return k.addNonce(agent, signed, text)
		}
		published = k.Announce()
		return k.renew(agent, signed, text) || published, nil
	}
	if k.expiry[agent], err = k.config.verify(k.identity, agent, signed); err != nil {
		return false, err
	}
	if k.secrets[agent], err = k.sharedSecret(signed.public); err != nil {
		return false, err
	}
	k.public[agent], k.nonces[agent] = bytes.Clone(signed.public), bytes.Clone(signed.nonce)
	k.Announce()
	k.publish(agent, bytes.Clone(text))
	if !slices.Contains(k.members, agent) {
		return true, nil
	}
	if k.missing--; k.missing > 0 {
		return true, nil
	}
	return true, k.makeCiphers()
}

// ErrLostLedger is what is wrong with an agent that comes back without the streams that it has
// used.
var ErrLostLedger = errors.New("its masks are others than before: it has lost its run folder, in which the " +
	"masks that it has used are, and cannot repeat what it has sent; all agents must begin anew")

// addNonce takes in another nonce of an agent that is known. Of others the earliest one counts, and
// once this agent has masked words the one of then. This agent, where it
// has used none yet, goes on under the one that others know: what it sends again are the same
// words. With noise it cannot.
func (k *Keys) addNonce(agent int, signed signedKey, text []byte) (published bool, err error) {
	if _, err := k.config.verify(k.identity, agent, signed); err != nil {
		return false, err
	}
	own := agent == k.config.Agent
	switch {
	case own && (k.used || k.config.Noisy || len(k.config.Ledger.words) > 0):
		return false, ErrLostLedger
	case !own && (k.used || bytes.Compare(k.nonces[agent], signed.nonce) < 0):
		return false, nil // which that agent hears, as all keys go to all
	case own:
		k.config.Ledger.adopt(signed.nonce)
		k.ownText, k.announced = bytes.Clone(text), true
	}
	k.nonces[agent] = bytes.Clone(signed.nonce)
	k.publish(agent, bytes.Clone(text))
	if k.missing > 0 {
		return true, nil
	}
	return true, k.makeCiphers()
}

// Confirms reports whether a text is the key under which this agent masks: a neighbour that passes
// it on knows no other one.
func (k *Keys) Confirms(text []byte) bool {
	signed, err := readKey(text)
	return err == nil && bytes.Equal(signed.nonce, k.nonces[k.config.Agent])
}

// renew passes on the key of an agent that is known where its certificate expires later than the
// one before: who comes back when that has expired gets this one.
func (k *Keys) renew(agent int, signed signedKey, text []byte) bool {
	// A key comes once from each neighbour, and with each process: looking is cheaper
	// than verifying.
	if k.publishes(agent, signed.certificate) {
		return false
	}
	expires, err := k.config.verify(k.identity, agent, signed)
	if err != nil || !expires.After(k.expiry[agent]) {
		return false
	}
	k.expiry[agent] = expires
	k.publish(agent, bytes.Clone(text))
	return true
}

// publishes reports whether the key that is passed on for an agent has this certificate.
func (k *Keys) publishes(agent int, certificate []byte) bool {
	return slices.ContainsFunc(k.published, func(p Published) bool {
		if p.Agent != agent || p.Text == nil {
			return false
		}
		known, err := readKey(p.Text)
		return err == nil && bytes.Equal(known.certificate, certificate)
	})
}
