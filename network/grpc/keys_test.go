package grpc

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network/grpc/masks"
	"dsbo/network/pki"
)

// keyConfig returns the settings by which an agent of the tests' path makes its key.
func keyConfig(agent int, id *pki.Identity) Config {
	return Config{Agent: agent, Matrix: newGraph("path", 3), Run: "run", Hash: "hash", Identity: id,
		Secret: []byte{1, byte(agent)}}
}

// keyFrame returns the key frame of an agent with these settings.
func keyFrame(c Config) []byte { return ownFrame(keysOf(c)) }

func keysOf(c Config) *masks.Keys { return testkit.Get(masks.New(c.masking(), c.Identity)) }

// ownFrame returns the key frame of an agent with these keys.
func ownFrame(k *masks.Keys) []byte {
	k.Announce()
	return encode(header{kindKey, k.Published()[0].Agent, 0}, k.Published()[0].Text)
}

// claimed returns a key frame as another agent's.
func claimed(frame []byte, agent int) []byte {
	return encode(header{kindKey, agent, 0}, decoded(frame).text)
}

// changed returns a key frame with another byte in its text, counted from the end if at is below 0.
func changed(frame []byte, at int) []byte {
	frame = bytes.Clone(frame)
	if at < 0 {
		at += len(frame) - headerSize
	}
	frame[headerSize+at] ^= 1
	return frame
}

// TestKeysRefused: whatever is wrong with a key ends the run, with an error that names the agent
// and says what.
func TestKeysRefused(t *testing.T) {
	certified := func(agent int, change func(*Config)) []byte {
		c := keyConfig(agent, certificate(agent))
		if change != nil {
			change(&c)
		}
		return keyFrame(c)
	}
	good, alone := certified(0, nil), keyFrame(keyConfig(0, nil))
	const signature = masks.KeyLength + masks.NonceLength + 2 + 10 // a byte of it
	for _, c := range []struct {
		name  string
		id    *pki.Identity // of agent 1
		frame []byte
		want  string // "" for a key that is good
	}{
		{"good", certificate(self), good, ""},
		{"its own", certificate(self), nil, ""}, // filled in below
		{"another key", certificate(self), changed(good, 0), "verification failure"},
		{"another signature", certificate(self), changed(good, signature), "verification failure"},
		{"another certificate", certificate(self), changed(good, -1), "verification failure"},
		{"another run", certificate(self), certified(0, func(c *Config) { c.Run = "walk" }), "verification failure"},
		{"other settings", certificate(self), certified(0, func(c *Config) { c.Hash = "mash" }),
			"verification failure"},
		{"another agent", certificate(self), claimed(certified(2, nil), 0),
			"it must be the certificate of agent 0; it is that of agent 2"},
		{"another authority", certificate(self), keyFrame(keyConfig(0, issue(newAuthority(), 0, time.Hour))),
			"unknown authority"},
		{"expired", certificate(self), keyFrame(keyConfig(0, issue(ca(), 0, -time.Minute))), "expired"},
		{"no certificate", certificate(self), alone, "it must come with a certificate; it is alone"},
		{"alone", nil, alone, ""},
		{"one too many", nil, good, "it must be alone, as there are no certificates"},
		{"no agent", nil, claimed(alone, 3), "agents must be 0 to 2"},
		{"short", nil, alone[:headerSize+31],
			"a key must have 56 bytes, or these, a signature with its length, and a certificate; it has 31 in all"},
		{"half", certificate(self), good[:headerSize+masks.KeyLength+masks.NonceLength+1], "it has 57 in all"},
		{"no signature", certificate(self), append(bytes.Clone(alone), 0, 0, 1, 1), "it has 60 in all"},
		{"a long signature", certificate(self), append(bytes.Clone(alone), 2, 0, 1, 1), "it has 60 in all"},
		{"garbage", certificate(self), append(bytes.Clone(alone), 2, 0, 1, 1, 7), "malformed certificate"},
		{"bytes after it", certificate(self), append(bytes.Clone(good), 0), "malformed certificate"},
		{"of order 1", nil, encode(header{kindKey, 0, 0}, make([]byte, masks.KeyLength+masks.NonceLength)),
			"bad X25519 remote ECDH input"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, _ := pathAgent(func(config *Config) { *config = keyConfig(self, c.id) })
			if c.frame == nil {
				c.frame = keyFrame(m.config)
			}
			deliver(attached(m, 2, 0, 0), c.frame)
			prefix := fmt.Sprintf("the key of agent %d, which came from agent 2, is refused: ",
				decoded(c.frame).exchange)
			if c.want == "" {
				testkit.OK(m.err)
			} else {
				testkit.WantError(t, "a key", m.err, dsbo.ErrPeer, prefix, c.want)
			}
		})
	}
	m, _ := pathAgent(func(c *Config) { c.Unmasked = true })
	deliver(attached(m, 0, 0, 0), alone)
	testkit.WantError(t, "a key where there is none", m.err, nil, "sums are not masked")
}

// TestKeysSpread: an agent that has no sum to make passes keys on and adds its own, each once on
// each stream, so that one that comes back finds them all. One that comes back with another key is
// an error.
func TestKeysSpread(t *testing.T) {
	config := func(c *Config) { *c = keyConfig(self, nil) }
	m, _ := pathAgent(config)
	a, b := attached(m, 0, 0, 0), attached(m, 2, 0, 0)
	deliver(a, keyFrame(keyConfig(0, nil)))
	wantSent(t, a, "key 1/0, key 0/0")
	wantSent(t, b, "key 1/0, key 0/0")
	deliver(a, keyFrame(keyConfig(0, nil)))
	deliver(b, keyFrame(keyConfig(2, nil)))
	wantSent(t, b, "key 2/0")
	wantSent(t, attached(m, 0, 0, 0), "key 1/0, key 0/0, key 2/0")
	if agent, some := m.keys.Missing(); some || m.err != nil {
		t.Fatalf("the key of agent %d is missing, error %v; all must be known", agent, m.err)
	}
	again, _ := pathAgent(config)
	if !bytes.Equal(again.keys.Own(), m.keys.Own()) {
		t.Error("an agent that comes back with its secret has another key")
	}
	other := keyConfig(2, nil)
	other.Secret = nil
	deliver(b, keyFrame(other))
	testkit.WantError(t, "another key of an agent", m.err, nil, "it is another one than before")
}

// TestOtherKeyRefused: a neighbour that comes back with other data is refused by name when it
// connects, and the run goes on.
func TestOtherKeyRefused(t *testing.T) {
	m, _ := pathAgent(func(c *Config) { *c = keyConfig(self, nil) })
	hello := func(fingerprint string) hello {
		c := keyConfig(0, nil)
		c.Fingerprint = []byte(fingerprint)
		k := keysOf(c)
		deliver(attached(m, 2, 0, 0), ownFrame(k))
		h := goodHello(0)
		h.key = string(k.Own())
		return h
	}
	first := hello("")
	testkit.OK(m.links.checkHello(first))
	other := first
	other.key = strings.Repeat("k", len(first.key))
	testkit.WantError(t, "a neighbour with another key", m.links.checkHello(other), nil,
		"the key of agent 0 is refused: it is another one than before: an agent's data")
	testkit.OK(m.err)
	testkit.OK(m.links.checkHello(first))
	hello("other data")
	testkit.WantError(t, "another key that a neighbour passes on", m.err, nil,
		"which came from agent 2, is refused: it is another one than before")
}
