package peer

import (
	"encoding/binary"
	"flag"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"dsbo/data"
	"dsbo/experiment"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/network"
	"dsbo/network/session"
)

// classes is a task whose answers may have noise: two classes, by the mean of logistic losses.
var classes = experiment.Task{
	Name: "classes", About: "tell two classes apart", Flags: func(*flag.FlagSet) {},
	Load: func(a experiment.Agents) (data.Task, models.Model, error) {
		t, err := data.Synthetic{Agents: a.N, Features: 12, Train: 400, Val: 400, Test: 50, Rate: 1,
			Seed: a.Seed}.Task()
		return t, models.Logistic{Features: 12, Mean: true}, err
	},
}

// A sum is an exchange of a session in which an agent has sent words of a sum.
type sum struct {
	agent             int
	session           uint64
	exchange, purpose int
}

// bits returns how many a word has. Words of several kinds in one frame, which are more than 64,
// are taken byte by byte.
func (s sum) bits() int {
	if bits := s.purpose >> 10 & 127; bits <= 64 {
		return bits
	}
	return 8
}

// unpack returns the words of a payload.
func (s sum) unpack(payload []byte) []uint64 {
	words := make([]uint64, len(payload))
	if s.bits() != 8 {
		const lengthShift = 17 // of a purpose, as package session has it
		words = words[:s.purpose>>lengthShift]
	}
	testkit.OK(network.UnpackWords(words, s.bits(), payload))
	return words
}

// A record has the words that agents have sent for sums, as agent 0 has got them.
type record struct {
	mu       sync.Mutex
	words    map[sum][]uint64
	sessions map[uint64]bool
	other    []sum // that were sent again in one session with other words
}

// A recording sender writes what an agent sends to a record.
type recording struct {
	session.Sender
	*record
	agent int
}

// Send implements [session.Sender].
func (r recording) Send(frame []byte) error {
	// as package session has them
	const vector, headerSize, reducingWords, tagShift = 4, 24, 2, 46
	purpose := int(binary.LittleEndian.Uint64(frame[16:]) & (1<<tagShift - 1))
	if frame[0] == vector && purpose&1023 == reducingWords|int(network.Sum)<<2 && len(frame) > headerSize {
		s := sum{r.agent, binary.LittleEndian.Uint64(frame[8:]), int(binary.LittleEndian.Uint32(frame[4:])), purpose}
		words := s.unpack(frame[headerSize:])
		r.mu.Lock()
		if before, again := r.words[s]; again && !slices.Equal(before, words) {
			r.other = append(r.other, s)
		}
		r.words[s], r.sessions[s.session] = words, true
		r.mu.Unlock()
	}
	return r.Sender.Send(frame)
}

// TestRunsTellNothing: two runs of one name, with the same certificates and data, in which agents
// are lost at other moments, with and without noise; in one of them an agent leaves and returns.
// The agent in the middle of a star, to which all others send their words of each sum, tries what
// could cancel masks: the words themselves, the differences of words of sums that follow each
// other, and of an agent's words of one exchange in any two sessions, of both runs. All are
// uniform, and nothing is sent twice in a session with other words. Without masks the same tries
// find that they are not uniform.
func TestRunsTellNothing(t *testing.T) {
	for _, tt := range []struct {
		name   string
		flags  []string
		quorum int
		adjust func(c *Case)
	}{
		{"noise", []string{"-dp-epsilon=5"}, 0, nil},
		{"noise, narrow wire", []string{"-dp-epsilon=5", "-wire=int8"}, 0, nil},
		{"members that change", []string{"-wire=int8"}, 3, nil},
		{"unmasked", []string{"-dp-epsilon=5"}, 0, func(c *Case) { c.Unmasked = true }},
	} {
		if !testkit.Whole() && tt.name != "members that change" && tt.name != "unmasked" {
			continue
		}
		c := changing("-K=30", "-x0=-3").few(4, tt.quorum, "star")
		c.task, c.Flags[3], c.Step = classes, "-checkpoint-every=1", 5*time.Second
		if c.AbsentAfter = 0; tt.quorum > 0 {
			c.AbsentAfter = 20 * time.Second
		}
		if tt.adjust != nil {
			tt.adjust(&c)
		}
		c.Flags = append(c.Flags, tt.flags...)
		heard := &record{words: map[sum][]uint64{}, sessions: map[uint64]bool{}}
		c.listen(t, heard, []int{1, 2, 0, 3}, 25*time.Second)
		c.listen(t, heard, []int{3, 0, 1}, 35*time.Second)
		if len(heard.sessions) < 5 {
			t.Errorf("%s: there were %d sessions alone", tt.name, len(heard.sessions))
		}
		for _, tries := range []struct {
			name  string
			words []uint64 // the 6 highest bits of each
		}{
			{"words", highest(heard.words, func(sum) [][]uint64 { return [][]uint64{nil} })},
			{"differences of sessions", highest(heard.words, func(s sum) (all [][]uint64) {
				own := s.session
				for other := range heard.sessions {
					if s.session = other; other < own && heard.words[s] != nil {
						all = append(all, heard.words[s])
					}
				}
				return all
			})},
			{"differences of sums that follow each other", highest(heard.words, func(s sum) [][]uint64 {
				for s.exchange++; s.exchange%100 != 0; s.exchange++ {
					if v, is := heard.words[s]; is {
						return [][]uint64{v}
					}
				}
				return nil
			})},
		} {
			if len(tries.words) < 64*20 {
				t.Errorf("%s, %s: there are %d words alone", tt.name, tries.name, len(tries.words))
			}
			if most := 63 + 12*math.Sqrt(126); (uneven(tries.words) > most) != c.Unmasked {
				t.Errorf("%s, %s: %d words are uneven by %.0f; that is more than chance where it is above %.0f",
					tt.name, tries.name, len(tries.words), uneven(tries.words), most)
			}
		}
		if len(heard.other) > 0 && !c.Unmasked {
			t.Errorf("%s: %v were sent with two words", tt.name, heard.other)
		}
	}
}

// listen runs the case, in which agents are lost one after the other, the last one for longer than
// the others wait, and records what the others have sent agent 0.
func (c Case) listen(t *testing.T, heard *record, lost []int, pause time.Duration) {
	t.Helper()
	at := time.Duration(0)
	for k, i := range lost {
		at += pause
		c.Faults = append(c.Faults, Fault{Killed, at, time.Second + c.AbsentAfter*time.Duration(2*k/3), i, 0})
	}
	c.script(t, func(w *world) {
		w.wrap = func(from, to int, s session.Sender) session.Sender {
			if to != 0 {
				return s
			}
			return recording{s, heard, from}
		}
	}, func(*world) {}, func(w *world, err error) {
		if err != nil {
			t.Errorf("%v\n%s", err, &w.text)
		}
		for _, i := range lost {
			if w.machines[i].lives < 2 {
				t.Errorf("agent %d was not lost", i)
			}
		}
	})
}

// highest returns the 6 highest bits of words minus each of others.
func highest(words map[sum][]uint64, others func(s sum) [][]uint64) (all []uint64) {
	for s, v := range words {
		for _, other := range others(s) {
			for k, d := range v {
				if other != nil {
					d -= other[k]
				}
				all = append(all, d<<(64-s.bits())>>58)
			}
		}
	}
	return all
}

// uneven returns Σ (count − E)²/E of 64 values. Where they are equally likely, that has mean 63 and
// standard deviation √126, and is above 63 + 12·√126 with a probability below 10⁻¹¹.
func uneven(values []uint64) (x float64) {
	var counts [64]float64
	for _, v := range values {
		counts[v]++
	}
	for _, n := range counts {
		e := float64(len(values)) / 64
		x += (n - e) * (n - e) / e
	}
	return x
}
