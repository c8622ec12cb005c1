package masks

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/network"
)

// crew returns the masks of members of a session of which each was told an id, with fresh keys.
func crew(members []int, ids ...[32]byte) []*Masks {
	keys, publics := make([]*Key, len(members)), make([][]byte, len(members))
	for k := range members {
		keys[k] = testkit.Get(NewKey())
		publics[k] = keys[k].Public()
	}
	all := make([]*Masks, len(members))
	for k, agent := range members {
		all[k] = testkit.Get(keys[k].Session(ids[k%len(ids)], agent, members, publics))
	}
	return all
}

// sum returns a reduction of words of some bits.
func sum(words []uint64, bits int) []network.Reduction {
	return []network.Reduction{{Bits: bits, Words: words}}
}

// frames returns what members send for their terms in an exchange, and the sum of it.
func frames(all []*Masks, exchange int, terms [][]uint64) (sent [][]uint64, total []uint64) {
	total = make([]uint64, len(terms[0]))
	for k, m := range all {
		words := slices.Clone(terms[k])
		testkit.Get(m.Mask(exchange, [32]byte{}, sum(words, 64)))
		sent = append(sent, words)
		network.Sum.Combine(64, total, words)
	}
	return sent, total
}

// offNoise returns by how many deviations the count of ones in a−b is off the count in noise.
func offNoise(a, b []uint64) float64 {
	ones := 0
	for k := range a {
		ones += bits.OnesCount64(a[k] - b[k])
	}
	n := float64(64 * len(a))
	return (float64(ones) - n/2) / math.Sqrt(n/4)
}

// TestTwoSessions: the same terms in two sessions have the same sum, and frames that are noise, as
// is their difference; where one member was told another id, the sum is noise. Chance has one of
// the 16 numbers above 6 deviations in 3·10⁷ runs.
func TestTwoSessions(t *testing.T) {
	members, terms := []int{0, 1, 3, 4, 8}, make([][]uint64, 5)
	plain := make([]uint64, 7500)
	for k := range terms {
		terms[k] = make([]uint64, len(plain))
		for i := range plain {
			terms[k][i] = uint64(i*k) % 1000
		}
		network.Sum.Combine(64, plain, terms[k])
	}
	one, first := frames(crew(members, [32]byte{1}), 7, terms)
	two, second := frames(crew(members, [32]byte{2}), 7, terms)
	if !slices.Equal(first, plain) || !slices.Equal(second, plain) {
		t.Error("the sum is another one with masks")
	}
	off := func(what string, a, b []uint64) {
		if z := offNoise(a, b); math.Abs(z) > 6 {
			t.Errorf("%s is %.1f deviations off noise", what, z)
		}
	}
	for k := range members {
		off("a frame", one[k], make([]uint64, len(plain)))
		off("a frame less its term", one[k], terms[k])
		off("the difference of two sessions", one[k], two[k])
	}
	_, torn := frames(crew(members, [32]byte{1}, [32]byte{1}, [32]byte{1}, [32]byte{1}, [32]byte{2}), 7, terms)
	off("the sum with a member of another session", torn, plain)
}

// TestMaskCancels: masks change the words of each agent, and not their sum, for all numbers of
// bits.
func TestMaskCancels(t *testing.T) {
	const length = 3000
	all := crew([]int{0, 1, 2, 3, 4}, [32]byte{})
	for width := 1; width <= 64; width++ {
		mask := ^uint64(0) >> (64 - width)
		plain, total := make([]uint64, length), make([]uint64, length)
		for i, m := range all {
			words := make([]uint64, length)
			for j := range words {
				words[j] = uint64(i*31+j*7) & mask
				plain[j] += words[j]
			}
			before := slices.Clone(words)
			testkit.Get(m.Mask(77+width, [32]byte{}, sum(words, width)))
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
	for i, m := range crew([]int{0, 1, 2, 3, 4}, [32]byte{}) {
		var parts []network.Reduction
		for p, n := range lengths {
			parts = append(parts, network.Reduction{Bits: size[p], Words: slices.Repeat([]uint64{^uint64(i)}, n)})
		}
		testkit.Get(m.Mask(3, [32]byte{}, parts))
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

// TestAnExchangeIsMaskedOnce: each exchange has masks of its own, and a second vector of one, under
// whatever bound, is refused as it is.
func TestAnExchangeIsMaskedOnce(t *testing.T) {
	m := crew([]int{0, 1, 2}, [32]byte{})[0]
	seen := map[uint64]int{}
	for exchange := range 100 {
		words := []uint64{0}
		testkit.Get(m.Mask(exchange, [32]byte{}, sum(words, 64)))
		if before, again := seen[words[0]]; again {
			t.Errorf("exchange %d has the masks of exchange %d", exchange, before)
		}
		seen[words[0]] = exchange
		for _, bound := range [][32]byte{{}, {1}} {
			words := []uint64{5}
			if _, err := m.Mask(exchange, bound, sum(words, 64)); err == nil || words[0] != 5 {
				t.Fatalf("exchange %d is masked twice: error %v, words %v", exchange, err, words)
			}
		}
	}
}

// TestBound: masks cancel where all are bound to the same, and are noise where one agent is bound
// to something else; tags are the same where masks cancel, and there alone.
func TestBound(t *testing.T) {
	all := crew([]int{0, 1, 2}, [32]byte{})
	for exchange, bound := range [][3][32]byte{{}, {{1}, {1}, {1}}, {{1}, {1}, {2}}, {{1}, {1}, {16: 1}}} {
		var total uint64
		var tags []int
		for i, m := range all {
			words := []uint64{uint64(i)}
			tags = append(tags, testkit.Get(m.Mask(exchange, bound[i], sum(words, 64))))
			total += words[0]
		}
		same := bound[0] == bound[2]
		if same != (total == 3) || same != (tags[0] == tags[2]) || tags[0]>>tagBits != 0 {
			t.Errorf("bound to %x: the sum is %d of 0, 1 and 2, the tags %x", bound, total, tags)
		}
	}
}

// TestKeysOfSessions: a key is for one session, with the members' keys as they are.
func TestKeysOfSessions(t *testing.T) {
	own, other := testkit.Get(NewKey()), testkit.Get(NewKey())
	publics := [][]byte{own.Public(), other.Public()}
	for name, c := range map[string]struct {
		agent   int
		publics [][]byte
		want    string
	}{
		"no member":     {4, publics, "agent 4 with the key that it drew"},
		"another's key": {0, [][]byte{publics[1], publics[1]}, "agent 0 with the key that it drew"},
		"one key":       {0, publics[:1], "each of 2 members must have one key"},
		"short":         {0, [][]byte{publics[0], {1}}, "the key of agent 1: "},
		"no point":      {0, [][]byte{publics[0], make([]byte, publicLength)}, "the key of agent 1: "},
	} {
		k := *own
		_, err := k.Session([32]byte{}, c.agent, []int{0, 1}, c.publics)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v; it must have %q", name, err, c.want)
		}
		if _, err := k.Session([32]byte{}, 0, []int{0, 1}, publics); !errors.Is(err, errUsed) {
			t.Errorf("%s: error %v for a key that is used; it must be errUsed", name, err)
		}
	}
}

// TestNoise: the noise of a sum is the same again, and no other agent, session, exchange or bound
// has it.
func TestNoise(t *testing.T) {
	seen := map[uint64]bool{}
	for _, m := range slices.Concat(crew([]int{0, 1}, [32]byte{}), crew([]int{0, 1}, [32]byte{})) {
		for _, exchange := range []int{0, 1} {
			for _, bound := range [][32]byte{{}, {1}} {
				words, again := make([]uint64, 3), []uint64{9, 9, 9}
				m.Noise(exchange, bound, words)
				m.Noise(exchange, bound, again)
				if !slices.Equal(words, again) || seen[words[0]] {
					t.Errorf("noise %x, again %x", words, again)
				}
				seen[words[0]] = true
			}
		}
	}
}

// FuzzSession: no key from the network breaks a session, and none is taken that has no secret.
func FuzzSession(f *testing.F) {
	f.Add(make([]byte, publicLength))
	f.Add([]byte("short"))
	f.Add(binary.LittleEndian.AppendUint64(make([]byte, 24), 9))
	f.Fuzz(func(t *testing.T, theirs []byte) {
		k := testkit.Get(NewKey())
		m, err := k.Session([32]byte{}, 0, []int{0, 1}, [][]byte{k.Public(), theirs})
		if err == nil {
			words := []uint64{1, 2, 3}
			testkit.Get(m.Mask(0, [32]byte{}, sum(words, 64)))
			if slices.Equal(words, []uint64{1, 2, 3}) {
				t.Errorf("words are sent as they are to a member with key %x", theirs)
			}
		}
	})
}
