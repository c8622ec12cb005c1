package grpc

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
)

// gatherRows has an agent gather with own as its row, and checks that the others' rows are the ones
// that they have by rowOf.
func gatherRows(ctx context.Context, m *Mixer, own []float64) error {
	n, length := m.config.Matrix.N(), len(own)
	rows := make([][]float64, n)
	for j := range rows {
		rows[j] = slices.Repeat([]float64{math.NaN()}, length)
	}
	copy(rows[m.config.Agent], own)
	if err := m.Gather(ctx, rows); err != nil {
		return err
	}
	for j := range rows {
		if want := rowOf(j, length); j != m.config.Agent && !slices.Equal(rows[j], want) {
			return fmt.Errorf("agent %d has %v of agent %d; it must be %v", m.config.Agent, rows[j], j, want)
		}
	}
	return nil
}

// rowOf returns numbers that tell all entries of all agents apart.
func rowOf(agent, length int) []float64 {
	v := make([]float64, length)
	for e := range v {
		v[e] = float64(1000*agent + e)
	}
	return v
}

// TestGatherInParts: rows that do not fit a frame together travel in several; the longest frame is
// as long as MaxFloats allows, which must be enough for one entry of each row. The bytes count as
// sent, not as mixed.
func TestGatherInParts(t *testing.T) {
	const n = 5 // the centre of the star passes 4 rows on at once
	for _, c := range []struct{ maxFloats, length, parts int }{{7, 0, 1}, {7, 1, 1}, {7, 2, 2}, {7, 3, 3}, {8, 4, 2},
		{0, 1000, 1}, {3, 1, 0}} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			ms := openAgents(t, newGraph("star", n), func(config *Config) { config.MaxFloats = c.maxFloats })
			errs := together(ms, func(i int, m *Mixer) error { return gatherRows(t.Context(), m, rowOf(i, c.length)) })
			for i, m := range ms {
				const refusal = "MaxFloats must be at least 4, the number of rows that travel together; it is 3"
				s := m.Status()
				switch {
				case c.parts == 0 && (!errors.Is(errs[i], dsbo.ErrConfig) ||
					!strings.Contains(errs[i].Error(), refusal)):
					t.Errorf("agent %d ends with %v; it must match dsbo.ErrConfig and have %q", i, errs[i], refusal)
				case c.parts > 0 && errs[i] != nil:
					t.Error(errs[i])
				case s.Round != 2*c.parts:
					t.Errorf("agent %d is at exchange %d; it must be %d", i, s.Round, 2*c.parts)
				case s.Vectors != 0 || c.parts > 0 && s.Neighbours[0].BytesReceived < int64(8*c.length):
					t.Errorf("agent %d: %+v; nothing must count as mixed and at least %d bytes as received",
						i, s, 8*c.length)
				}
			}
		})
	}
}

// TestNotTheSame: agents that do not do the same find out, even where lengths agree, and none does
// what cannot be done. One that has not found out by itself ends as the other one tells it to.
func TestNotTheSame(t *testing.T) {
	type call func(ctx context.Context, m *Mixer) error
	mix := func(ctx context.Context, m *Mixer) error { return networktest.MixZeros(ctx, m, 1, 2) }
	gather := func(length int) call {
		return func(ctx context.Context, m *Mixer) error { return gatherRows(ctx, m, make([]float64, length)) }
	}
	reduce := func(op network.Op, bits, length int) call {
		return func(ctx context.Context, m *Mixer) error { return m.Reduce(ctx, op, bits, make([]uint64, length)) }
	}
	sum := func(bits, length int) call { return reduce(network.Sum, bits, length) }
	for _, c := range []struct {
		name      string
		maxFloats [2]int
		calls     [2]call
		kind      error
		says      []string // one of these must be there
	}{
		{"mix and gather", [2]int{}, [2]call{mix, gather(2)}, dsbo.ErrShape,
			[]string{"mixes and agent 1 gathers rows of 2 numbers", "gathers rows of 2 numbers and agent 0 mixes"}},
		{"lengths", [2]int{}, [2]call{gather(1), gather(2)}, dsbo.ErrShape,
			[]string{"gathers rows of 1 numbers and agent 1 gathers rows of 2",
				"gathers rows of 2 numbers and agent 0 gathers rows of 1"}},
		{"parts", [2]int{2, 3}, [2]call{gather(4), gather(4)}, dsbo.ErrShape,
			[]string{"agent 1 sends 24 bytes of the rows that are gathered, where 16 are next",
				"agent 0 sends 16 bytes of the rows that are gathered, where 24 are next"}},
		{"mix and sum", [2]int{}, [2]call{sum(64, 1), mix}, dsbo.ErrShape,
			[]string{"agent 1 mixes"}}, // agent 0 waits for keys
		{"lengths of sums", [2]int{}, [2]call{sum(64, 1), sum(64, 2)}, dsbo.ErrShape,
			[]string{"sums 2 words of 64 bits"}},
		{"bits", [2]int{}, [2]call{sum(8, 1), sum(9, 1)}, dsbo.ErrShape, []string{"sums 1 words of 9 bits"}},
		{"operations", [2]int{}, [2]call{sum(8, 1), reduce(network.Max, 8, 1)}, dsbo.ErrShape,
			[]string{"takes the largest of 1 words of 8 bits"}},
		{"no bits", [2]int{}, [2]call{sum(0, 1), sum(0, 1)}, dsbo.ErrShape,
			[]string{"words must have 1 to 64 bits; they have 0"}},
		{"too many bits", [2]int{}, [2]call{sum(65, 1), sum(65, 1)}, dsbo.ErrShape, []string{"they have 65"}},
		{"too long", [2]int{10, 10}, [2]call{sum(64, 11), sum(64, 11)}, dsbo.ErrConfig,
			[]string{"a reduction must have at most MaxFloats = 10 words; it has 11"}},
		{"no operation", [2]int{}, [2]call{reduce(7, 1, 0), reduce(7, 1, 0)}, dsbo.ErrConfig,
			[]string{"an operation must be 0 to 1; it is 7"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := networktest.Context(t)
			ms := openAgents(t, newGraph("path", 2),
				func(config *Config) { config.MaxFloats = c.maxFloats[config.Agent] })
			errs := together(ms, func(i int, m *Mixer) error {
				if err := c.calls[i](ctx, m); err != nil {
					return err
				}
				return m.Drain(ctx) // the other one has found out
			})
			found := 0
			for i, err := range errs {
				says := func(text string) bool { return strings.Contains(err.Error(), text) }
				if err == nil || !slices.ContainsFunc(c.says, says) {
					t.Errorf("agent %d ends with %v; it must have one of %q", i, err, c.says)
				} else if errors.Is(err, c.kind) {
					found++
				}
			}
			if found == 0 {
				t.Errorf("the agents end with %v; one must match %q", errs, c.kind)
			}
		})
	}
	m := testkit.Get(newMixer(
		Config{Matrix: testkit.Get(network.NewMatrix([][]float64{{1, 0}, {0, 1}}))}.withDefaults()))
	testkit.WantError(t, "no edges", m.Reduce(t.Context(), network.Max, 8, nil), dsbo.ErrConfig, "must be connected")
}

// A trigger calls do when the vector of an exchange is sent.
type trigger struct {
	Sender
	round uint64
	do    func()
}

func (s trigger) Send(frame []byte) error {
	if kind(frame[5]) == kindVector && binary.LittleEndian.Uint64(frame[8:]) == s.round {
		s.do()
	}
	return s.Sender.Send(frame)
}

// TestGatherAgain: one that was interrupted is repeated from where it began, to the same end. What
// was sent before is known to the neighbours, who hold it against the repetition.
func TestGatherAgain(t *testing.T) {
	for _, other := range []bool{false, true} {
		t.Run(fmt.Sprintf("other=%v", other), func(t *testing.T) {
			const n, length = 5, 3 // in a row: agent 0 cannot finish without agent 4, but does half of the 4 exchanges
			outer := networktest.Context(t)
			inner, cancel := context.WithCancel(outer)
			ms := openAgents(t, newGraph("path", n), func(c *Config) {
				fast(c)
				if c.Agent == 0 {
					c.Wrap = func(_ int, s Sender) Sender { return trigger{s, 2, cancel} }
				}
			})
			errs := make([]error, n)
			var wg sync.WaitGroup
			gather := func(i int) { errs[i] = gatherRows(outer, ms[i], rowOf(i, length)) }
			for i := 1; i < n-1; i++ {
				wg.Go(func() { gather(i) })
			}
			row := rowOf(0, length)
			testkit.WantError(t, "agent 0", gatherRows(inner, ms[0], row), context.Canceled,
				"gathering since exchange 0")
			testkit.OK(ms[0].Rewind(0))
			wg.Go(func() { gather(n - 1) })
			if !other {
				gather(0)
				wg.Wait()
				testkit.OK(errors.Join(errs...))
				return
			}
			row[0]++
			err := gatherRows(outer, ms[0], row)
			if err == nil { // it was done before agent 1 looked
				err = ms[0].Drain(outer)
			}
			if e, ok := errors.AsType[*network.EndedError](err); !ok || e.Number != 1 ||
				!strings.Contains(err.Error(), ErrConflict.Error()) {
				t.Errorf("other numbers end with %v; it must be a conflict that agent 1 sees", err)
			}
			wg.Wait()
		})
	}
}
