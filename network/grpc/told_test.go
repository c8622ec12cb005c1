package grpc

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
)

// A forger is the end of a liar that sends a neighbour other results of reductions than it has.
type forger struct {
	Sender
	op   network.Op
	word uint64 // in the place of each
}

func (f forger) Send(frame []byte) error {
	d := decoded(frame)
	if p := d.detail; d.kind == kindVector && len(d.data) > 0 && network.Op(p>>workBits&1) == f.op {
		bits, words := p>>10&127, make([]uint64, untagged(p)>>17)
		for i := range words {
			words[i] = f.word
		}
		frame = network.PackWords(bytes.Clone(frame[:headerSize]), bits, words)
	}
	return f.Sender.Send(frame)
}

// TestToldOtherThings: agent 1, between agents 0 and 2, tells agent 2 other things than it tells
// agent 0: a scale that is so large that agent 2's term is rounded to nothing, or an average of
// zeros, at which a product is nothing. The next sum would be of agent 0's term alone. It is not
// made: masks are bound to what agents were told.
func TestToldOtherThings(t *testing.T) {
	const n, length = 3, 20
	for _, lie := range []forger{{op: network.Max, word: 3000}, {op: network.Sum}} {
		w := newGraph("path", n)
		cs := configs(w, identities(n))
		cs[1].Wrap = func(neighbour int, s Sender) Sender {
			if neighbour == 2 {
				return forger{s, lie.op, lie.word}
			}
			return s
		}
		ms, closeAll := open(cs)
		ctx := networktest.Context(t)
		known := make([]float64, length)
		errs := together(ms, func(i int, m *Mixer) error {
			a := testkit.Get(network.NewAverages(m, w, network.AverageOptions{})).Agent(i)
			direction := make([]float64, length)
			for k := range direction {
				direction[k] = float64(1+i) + float64(k)/8
			}
			if lie.op == network.Sum { // a product is the direction, times 1+i
				if err := a.Average(ctx, direction); err != nil {
					return err
				}
			}
			term := make([]float64, length)
			for k := range term {
				term[k] = float64(1+i) * direction[k]
			}
			sum := slices.Clone(term)
			if err := a.Average(ctx, sum); err != nil {
				return err
			}
			if i == 1 {
				for k := range known {
					known[k] = n*sum[k] - term[k] // of the others
				}
			}
			return nil
		})
		closeAll()
		if errs[1] == nil {
			t.Errorf("lies about %v: agent 1 knows %v of the others' terms", lie.op, known)
		}
		testkit.WantError(t, fmt.Sprintf("lies about %v", lie.op), errs[1], dsbo.ErrPeer, "under masks")
	}
}

// A watched mixer keeps the words of sums as its agent sees them.
type watched struct {
	*exchange
	sums *[][]uint64
}

type exchange = Mixer

func (w watched) Mixer(int) dsbo.Mixer { return w }

func (w watched) Reduce(ctx context.Context, op network.Op, bits int, words []uint64) error {
	err := w.exchange.Reduce(ctx, op, bits, words)
	if op == network.Sum {
		*w.sums = append(*w.sums, slices.Clone(words))
	}
	return err
}

// TestNumbersThatAreNotFinite: the sum in which a number of agent 2 is not finite is nobody's, and
// not of the others' terms alone: these are 0 here, and the words are not. An agent that comes back
// sends the same.
func TestNumbersThatAreNotFinite(t *testing.T) {
	const n = 3
	w := newGraph("path", n)
	for _, length := range []int{2, 20} { // as a whole number; under the scales of before
		ms, closeAll := open(configs(w, identities(n)))
		ctx := networktest.Context(t)
		var sums [][]uint64
		succeed(ms, func(i int, m *Mixer) error {
			var team network.Team = m
			if i == 1 {
				team = watched{m, &sums}
			}
			a := testkit.Get(network.NewAverages(team, w, network.AverageOptions{Wire: network.Float32})).Agent(i)
			v := slices.Repeat([]float64{1}, length)
			for range 2 {
				if err := a.Average(ctx, v); err != nil {
					return err
				}
				clear(v)
				if i == 2 {
					v[1] = math.Inf(1)
				}
			}
			return m.Drain(ctx)
		})
		closeAll()
		if length == 20 && (sums[1][0] != 0 || sums[1][1] == 0) {
			t.Errorf("%d numbers: of the first and the second one %x is seen; the second alone is noise", length,
				sums[1][:2])
		}
		for k, cell := range map[int]int{1: 233, 2: 2185} { // narrow, and once more
			if length == 20 {
				break
			}
			at := cell / 64 // the word in which the second number begins
			if words := sums[k]; slices.Max(words[:at]) != 0 {
				t.Errorf("sum %d: the first number is finite; its words are %x", k, words[:at])
			} else if hidden := words[at+1 : len(words)-1]; slices.Min(hidden) == 0 {
				t.Errorf("sum %d: the sum of the others' terms is seen, %x", k, hidden)
			}
		}
	}
	m, _ := pathAgent(nil)
	k := m.keys
	one, again, other := make([]uint64, 9), make([]uint64, 9), make([]uint64, 9)
	k.Noise(7, [32]byte{1}, one)
	k.Noise(7, [32]byte{1}, again)
	k.Noise(7, [32]byte{2}, other)
	if !slices.Equal(one, again) || slices.Equal(one, other) {
		t.Errorf("noise is %x, %x again, and %x where it is bound to something else", one, again, other)
	}
}
