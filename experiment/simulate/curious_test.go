package simulate

import (
	"context"
	"encoding/binary"
	"flag"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dsbo/data"
	"dsbo/experiment"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/network"
	"dsbo/network/grpc"
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

// A sum is an exchange in which an agent has sent words of a sum.
type sum struct{ agent, exchange, purpose int }

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
		const lengthShift = 17 // of a purpose, as package grpc has it
		words = words[:s.purpose>>lengthShift]
	}
	testkit.OK(network.UnpackWords(words, s.bits(), payload))
	return words
}

// A record has the words that agents have sent for sums, as who got them has.
type record struct {
	mu    sync.Mutex
	words map[sum][]uint64
	tags  map[sum]int // of the masks of words
	other []sum       // that were sent again under the same masks with other words
	again []uint64    // the 6 highest bits of what changed in words that were sent again under other masks
}

func (r *record) sender(p *process, _ int, s grpc.Sender) grpc.Sender {
	return recording{s, r, p.agent}
}
func (r *record) fault(*world, draw) fault               { return fault{} }
func (r *record) endless(_, _ context.Context, _ *world) {}

type recording struct {
	grpc.Sender
	*record
	agent int
}

// Send implements [grpc.Sender].
func (r recording) Send(frame []byte) error {
	const reducingWords, tagShift = 2, 46 // of a purpose, as package grpc has it
	tagged := int(binary.LittleEndian.Uint64(frame[detailBytes:]))
	purpose, tag := tagged&(1<<tagShift-1), tagged>>tagShift
	if kind(frame[kindByte]) == vector && purpose&1023 == reducingWords|int(network.Sum)<<2 && len(frame) > headerSize {
		s := sum{r.agent, int(binary.LittleEndian.Uint64(frame[exchangeBytes:])), purpose}
		words := s.unpack(frame[headerSize:])
		r.mu.Lock()
		if before, again := r.words[s]; again && tag != r.tags[s] {
			r.again = append(r.again, highest(map[sum][]uint64{s: words},
				func(sum) ([]uint64, bool) { return before, true })...)
		} else if again && !slices.Equal(before, words) {
			r.other = append(r.other, s)
		}
		r.words[s], r.tags[s] = words, tag
		r.mu.Unlock()
	}
	return r.Sender.Send(frame)
}

// sentAgain is a try that there may be no words for.
const sentAgain = "differences of words that were sent again"

// TestRunsTellNothing: two runs of one name, with the same certificates and data, in which agents
// are lost at other moments, with and without noise. The agent in the middle of a path, to which
// the two others send their words of each sum, tries what could cancel masks: the words themselves,
// the differences of an agent's words of one sum in both runs, and the differences of sums that
// follow each other, and of words of one sum that were sent again under other masks, as when an
// agent was lost before there was a checkpoint. All are uniform. An agent that comes back sends the
// same words again under the same masks. Without masks the same tries find that they are not
// uniform.
func TestRunsTellNothing(t *testing.T) {
	for _, settings := range [][]string{
		{"-dp-epsilon=5"}, {"-dp-epsilon=5", "-wire=int8"}, {"-wire=int8"}, {"-dp-epsilon=5", "unmasked"},
	} {
		if testing.Short() && len(settings) == 1 {
			continue
		}
		c := changing("-K=6", "-x0=-3").few(3, 0, "path")
		c.AbsentAfter, c.task, c.Flags[3] = 0, &classes, "-checkpoint-every=1"
		if last := len(settings) - 1; settings[last] == "unmasked" {
			c.Unmasked, settings = true, settings[:last]
		}
		c.Flags = append(c.Flags, settings...)
		two := [2]*record{c.listen(t, [3]int64{40, 60, 50}), c.listen(t, [3]int64{70, 30, 90})}
		for _, tries := range []struct {
			name  string
			words []uint64 // the 6 highest bits of each
		}{
			{"words", highest(two[0].words, func(sum) ([]uint64, bool) { return nil, true })},
			{"differences of two runs", highest(two[0].words, func(s sum) ([]uint64, bool) {
				v, is := two[1].words[s]
				return v, is
			})},
			{"differences of sums that follow each other", highest(two[0].words, func(s sum) ([]uint64, bool) {
				for s.exchange++; s.exchange%100 != 0; s.exchange++ {
					if v, is := two[0].words[s]; is {
						return v, true
					}
				}
				return nil, false
			})},
			{sentAgain, slices.Concat(two[0].again, two[1].again)},
		} {
			if tries.name == sentAgain && len(tries.words) == 0 {
				continue
			}
			if uniform := uneven(tries.words) < 63+12*math.Sqrt(126); uniform == c.Unmasked || len(tries.words) < 256 {
				t.Errorf("%v, unmasked %v: %d %s have χ² %.0f", settings, c.Unmasked, len(tries.words), tries.name,
					uneven(tries.words))
			}
			t.Logf("%v, unmasked %v: %d %s have χ² %.0f", settings, c.Unmasked, len(tries.words), tries.name,
				uneven(tries.words))
		}
	}
}

// listen runs the case, in which each agent is lost right after an operation of its disk, and
// returns what agents 0 and 2 have sent agent 1.
func (c Case) listen(t *testing.T, at [3]int64) *record {
	t.Helper()
	heard := &record{words: map[sum][]uint64{}, tags: map[sum]int{}}
	c.lies, c.Liars = heard, []int{0, 2}
	synctest.Test(t, func(t *testing.T) {
		w, closeAll := testkit.Get2(c.world())
		defer closeAll()
		for i, m := range w.machines {
			var operations atomic.Int64
			m.drive.changed = func(*testkit.Memory, string) {
				if operations.Add(1) == at[i] {
					m.crash(false, time.Second)
				}
			}
		}
		if err := w.run(); err != nil {
			t.Errorf("%v\n%v", err, Result{Trace: w.trace.sorted()})
		}
		for _, m := range w.machines {
			if m.lives < 2 {
				t.Errorf("agent %d was not lost", m.agent)
			}
		}
	})
	if len(heard.other) > 0 {
		t.Errorf("%v were sent with two words", heard.other)
	}
	return heard
}

// highest returns the 6 highest bits of words minus others.
func highest(words map[sum][]uint64, others func(s sum) ([]uint64, bool)) (all []uint64) {
	for s, v := range words {
		other, is := others(s)
		for k := 0; is && k < len(v); k++ {
			d := v[k]
			if other != nil {
				d -= other[k]
			}
			all = append(all, d<<(64-s.bits())>>58)
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
