package masks

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/network/pki"
)

// three returns the settings by which one of three agents makes its key.
func three(agent int) Config {
	return Config{Agent: agent, Agents: 3, Founders: 3, Run: "run", Hash: "hash", Secret: []byte{1, byte(agent)}}
}

// crew returns keys of n agents that know each other, with settings that a test may change.
func crew(t *testing.T, n int, change func(*Config)) []*Keys {
	t.Helper()
	all := make([]*Keys, n)
	for i := range all {
		c := three(i)
		c.Agents, c.Founders = n, n
		change(&c)
		all[i] = testkit.Get(New(c, nil))
		all[i].Announce()
	}
	for _, k := range all {
		for i, other := range all {
			if _, err := k.AddKey(i, other.ownText); err != nil {
				t.Fatal(err)
			}
		}
		if agent, some := k.Missing(); some {
			t.Fatalf("the key of agent %d is missing", agent)
		}
	}
	return all
}

// TestKeysDiffer by agent, run, settings, data, program, certificate and secret, and not by chance.
func TestKeysDiffer(t *testing.T) {
	authority := testkit.Get(pki.NewAuthority("test", time.Now().Add(-time.Hour), time.Now().Add(time.Hour)))
	issue := func() *pki.Identity {
		return testkit.Get(authority.Issue(0, time.Now().Add(-time.Hour), time.Now().Add(time.Hour)))
	}
	id := issue()
	public := func(c Config, id *pki.Identity) string { return string(testkit.Get(New(c, id)).Own()) }
	seen := map[string]int{}
	for i, change := range []func(*Config, **pki.Identity){
		func(*Config, **pki.Identity) {},
		func(c *Config, _ **pki.Identity) { c.Run = "walk" },
		func(c *Config, _ **pki.Identity) { c.Hash = "mash" },
		func(c *Config, _ **pki.Identity) { c.Secret = []byte("other") },
		func(c *Config, _ **pki.Identity) { c.Program = "newer, or from other data" },
		func(_ *Config, id **pki.Identity) { *id = issue() },
		func(_ *Config, id **pki.Identity) { *id = nil },
		func(c *Config, id **pki.Identity) { *id, c.Secret = nil, nil },
		func(c *Config, id **pki.Identity) { *id, c.Secret = nil, nil }, // drawn anew
		func(c *Config, id **pki.Identity) { *id, c.Agent = nil, 2 },
	} {
		c, id := three(0), id
		change(&c, &id)
		key := public(c, id)
		if before, twice := seen[key]; twice {
			t.Errorf("settings %d and %d have the same key", before, i)
		}
		seen[key] = i
	}
	if _, again := seen[public(three(0), id)]; !again {
		t.Error("the same settings have another key")
	}
}

// TestStreamsDiffer: two agents share a stream, no other two have it, and where one agent has other
// data or another program, or is in another run, no two have a stream that was there before. Nor
// have they in a later epoch of the same members: exchanges are counted from its checkpoint on, so
// numbers come again.
func TestStreamsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for i, settings := range []struct {
		epoch  int
		change func(*Config)
	}{
		{0, func(*Config) {}},
		{0, func(c *Config) { c.Run = "walk" }},
		{0, func(c *Config) { c.Program = map[int]string{2: "of other data"}[c.Agent] }},
		{1, func(*Config) {}},
		{2, func(*Config) {}},
	} {
		all := crew(t, 3, settings.change)
		streams := map[[2]int]string{}
		for i, k := range all {
			testkit.OK(k.SetEpoch(membership.Epoch{Number: settings.epoch, Members: []int{0, 1, 2}}))
			for j := range all {
				if i == j {
					continue
				}
				b := make([]byte, 16)
				k.ciphers[j].Encrypt(b, b)
				pair := [2]int{min(i, j), max(i, j)}
				if before, known := streams[pair]; known && before != string(b) {
					t.Errorf("agents %v do not share a stream", pair)
				}
				streams[pair] = string(b)
			}
		}
		for pair, stream := range streams {
			if seen[stream] {
				t.Errorf("settings %d: agents %v have a stream that others have, or had", i, pair)
			}
			seen[stream] = true
		}
	}
}

// sum returns the arguments of Mask for words of some bits.
func sum(words []uint64, bits int) ([]uint64, []network.Reduction) {
	return words, []network.Reduction{{Bits: bits, Words: words}}
}

// TestMaskCancels: masks change the words of each agent, and not their sum, for all numbers
// of bits.
func TestMaskCancels(t *testing.T) {
	const n, length = 5, 3000
	all := crew(t, n, func(*Config) {})
	for width := 1; width <= 64; width++ {
		mask := ^uint64(0) >> (64 - width)
		plain, total := make([]uint64, length), make([]uint64, length)
		for i, k := range all {
			words := make([]uint64, length)
			for j := range words {
				words[j] = uint64(i*31+j*7) & mask
				plain[j] += words[j]
			}
			before := slices.Clone(words)
			testkit.OK(k.Streams(77+width, [32]byte{}).Mask(sum(words, width)))
			if slices.Equal(words, before) {
				t.Errorf("%d bits: agent %d sends its words as they are", width, i)
			}
			for j := range words {
				total[j] += words[j]
			}
		}
		for j := range total {
			if (total[j]-plain[j])&mask != 0 {
				t.Fatalf("%d bits: the sum is another one with masks", width)
			}
		}
	}
}

// TestMaskOfWholeNumbers: masks of a whole number, longer than a chunk of a stream, cancel with
// what is carried in it, beside parts that are words.
func TestMaskOfWholeNumbers(t *testing.T) {
	lengths := []int{700, 1300, 1, 900}
	size := []int{40, network.Whole, network.Whole + 1, 64}
	totals := make([][]uint64, len(lengths))
	for i, k := range crew(t, 5, func(*Config) {}) {
		words := slices.Repeat([]uint64{^uint64(i)}, 2901)
		parts, rest := []network.Reduction(nil), words
		for p, n := range lengths {
			parts, rest = append(parts, network.Reduction{Bits: size[p], Words: rest[:n]}), rest[n:]
		}
		testkit.OK(k.Streams(3, [32]byte{}).Mask(words, parts))
		for p, x := range parts {
			if totals[p] == nil {
				totals[p] = make([]uint64, lengths[p])
			}
			network.Sum.Combine(x.Bits, totals[p], x.Words)
		}
	}
	for p, total := range totals {
		want := make([]uint64, lengths[p])
		for i := range 5 {
			network.Sum.Combine(size[p], want, slices.Repeat([]uint64{^uint64(i)}, lengths[p]))
		}
		if k := slices.IndexFunc(want, func(v uint64) bool { return v == 0 }); k >= 0 || !slices.Equal(total, want) {
			t.Errorf("part %d: the sum is another one with masks", p)
		}
	}
}

// TestMasksOfExchanges: each exchange has masks of its own.
func TestMasksOfExchanges(t *testing.T) {
	k := crew(t, 3, func(*Config) {})[0]
	seen := map[uint64]int{}
	for exchange := range 100 {
		words := []uint64{0}
		testkit.OK(k.Streams(exchange, [32]byte{}).Mask(sum(words, 64)))
		if before, again := seen[words[0]]; again {
			t.Errorf("exchange %d has the masks of exchange %d", exchange, before)
		}
		seen[words[0]] = exchange
	}
}

// TestBound: masks cancel where all are bound to the same, and are noise where one agent is bound
// to something else, whatever it says of itself.
func TestBound(t *testing.T) {
	all := crew(t, 3, func(*Config) {})
	for exchange, bound := range [][3][32]byte{{}, {{1}, {1}, {1}}, {{1}, {1}, {2}}, {{1}, {1}, {16: 1}}} {
		var total uint64
		for i, k := range all {
			words := []uint64{uint64(i)}
			testkit.OK(k.Streams(exchange, bound[i]).Mask(sum(words, 64)))
			total += words[0]
		}
		if same := bound[0] == bound[2]; same != (total == 3) {
			t.Errorf("bound to %x: the sum is %d of 0, 1 and 2", bound, total)
		}
	}
	k, words := all[0], [2][]uint64{{0}, {0}}
	for i := range words {
		testkit.OK(k.Streams(9, [32]byte{31: byte(i)}).Mask(sum(words[i], 64)))
	}
	if words[0][0] == words[1][0] {
		t.Error("one exchange has the same masks bound to two things")
	}
}

// TestOff: without masks there are no keys, and others are refused.
func TestOff(t *testing.T) {
	c := three(0)
	c.Off = true
	k := testkit.Get(New(c, nil))
	if k.Own() != nil || k.Announce() {
		t.Error("there is a key")
	}
	if _, err := k.AddKey(1, make([]byte, KeyLength)); err == nil || !strings.Contains(err.Error(), "not masked") {
		t.Errorf("error %v for a key", err)
	}
}

// FuzzReadKey: what is read is written again as it was, and nothing is taken for a signed key.
func FuzzReadKey(f *testing.F) {
	authority := testkit.Get(pki.NewAuthority("test", time.Now().Add(-time.Hour), time.Now().Add(time.Hour)))
	id := testkit.Get(authority.Issue(1, time.Now().Add(-time.Hour), time.Now().Add(time.Hour)))
	f.Add(testkit.Get(New(three(0), nil)).ownText)
	f.Add(testkit.Get(New(three(1), id)).ownText[:60])
	f.Add([]byte("short"))
	f.Add(append(make([]byte, KeyLength), 1, 0, 2, 3))
	f.Fuzz(func(t *testing.T, b []byte) {
		k, err := readKey(b)
		if err != nil {
			return
		}
		if again := k.encode(); !bytes.Equal(again, b) || len(k.public) != KeyLength {
			t.Errorf("% x was read as %+v, which is written % x", b, k, again)
		}
		c := three(0)
		if _, err := c.verify(id, 0, k); err == nil {
			t.Errorf("% x is taken for a key that is signed", b)
		}
	})
}

// TestLedger: an agent that comes back has its nonce, and masks the words of before alone under the
// streams of before; one that has lost its ledger goes on under the nonce that others know, but not
// with noise, and not once it has masked words.
func TestLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "masks.bin")
	open := func(path string, noisy bool) *Keys {
		c := three(0)
		c.Ledger, c.Noisy = testkit.Get(OpenLedger(path)), noisy
		return testkit.Get(New(c, nil))
	}
	meet := func(k *Keys) {
		for i := 1; i < 3; i++ {
			testkit.Get(k.AddKey(i, testkit.Get(New(three(i), nil)).ownText))
		}
	}
	words := []uint64{1, 2}
	first := open(path, false)
	meet(first)
	testkit.OK(first.Streams(7, [32]byte{}).Mask(sum(slices.Clone(words), 64)))
	testkit.OK(first.config.Ledger.Close())
	again := open(path, false)
	if !slices.Equal(again.nonces[0], first.nonces[0]) {
		t.Fatal("an agent that comes back has another nonce")
	}
	for i := 1; i < 3; i++ { // the others are still there
		again.public[i], again.nonces[i], again.secrets[i] = first.public[i], first.nonces[i], first.secrets[i]
	}
	again.missing = 0
	testkit.OK(again.makeCiphers())
	testkit.OK(again.Streams(7, [32]byte{}).Mask(sum(slices.Clone(words), 64)))
	other := []uint64{1, 3}
	if err := again.Streams(7, [32]byte{}).Mask(sum(other, 64)); !errors.Is(err, ErrOtherWords) || other[1] != 3 {
		t.Errorf("error %v, words %v; it must be ErrOtherWords, and the words as they were", err, other)
	}
	lost := open("", false)
	if _, err := lost.AddKey(0, first.ownText); err != nil || !lost.Confirms(first.ownText) {
		t.Errorf("error %v for an agent that has lost its ledger", err)
	}
	for name, k := range map[string]*Keys{"noise": open("", true), "words": again} {
		if _, err := k.AddKey(0, open("", false).ownText); !errors.Is(err, ErrLostLedger) {
			t.Errorf("%s: error %v; it must be ErrLostLedger", name, err)
		}
	}
}
