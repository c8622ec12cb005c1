// Package grpctest makes the network between agents a bad one, for tests.
package grpctest

import (
	"math/rand/v2"
	"sync"

	"dsbo/network/grpc"
)

// Rates are the shares of frames that meet each fault, 0 to 1. Their sum is at most 1.
type Rates struct {
	Drop   float64 // never arrives
	Double float64 // arrives twice
	Flip   float64 // arrives with one bit changed
	Delay  float64 // arrives after one to three later ones
}

// Counts says how many frames met what.
type Counts struct {
	Frames, Dropped, Doubled, Flipped, Delayed int64
}

// Faults puts seeded faults on what one agent sends.
type Faults struct {
	rates Rates
	seed  uint64

	mu     sync.Mutex
	counts Counts
	links  map[int]*rand.Rand
}

// New returns faults at the given rates. The same seed gives the same sequence of faults on each link.
func New(seed uint64, r Rates) *Faults {
	return &Faults{rates: r, seed: seed, links: map[int]*rand.Rand{}}
}

// Wrap is for grpc.Config.Wrap. A link's sequence goes on when its stream is opened anew;
// frames that are delayed at that moment are lost.
func (f *Faults) Wrap(neighbour int, s grpc.Sender) grpc.Sender {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, ok := f.links[neighbour]
	if !ok {
		r = rand.New(rand.NewPCG(f.seed, uint64(neighbour)))
		f.links[neighbour] = r
	}
	return &link{f: f, rand: r, to: s}
}

// Counts returns the numbers so far.
func (f *Faults) Counts() Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts
}

type link struct {
	f    *Faults
	rand *rand.Rand // guarded by f.mu: a stream that ends may overlap the next one
	to   grpc.Sender
	late []delayed
}

type delayed struct {
	frame []byte
	after int // frames
}

// Send implements grpc.Sender.
func (l *link) Send(frame []byte) error {
	for _, out := range l.meet(frame) {
		if err := l.to.Send(out); err != nil {
			return err
		}
	}
	return nil
}

// meet returns what arrives now.
func (l *link) meet(frame []byte) [][]byte {
	f := l.f
	f.mu.Lock()
	defer f.mu.Unlock()
	var out [][]byte
	f.counts.Frames++
	r := f.rates
	switch u := l.rand.Float64(); {
	case u < r.Drop:
		f.counts.Dropped++
	case u < r.Drop+r.Double:
		f.counts.Doubled++
		out = append(out, frame, frame)
	case u < r.Drop+r.Double+r.Flip:
		f.counts.Flipped++
		flipped := append([]byte(nil), frame...)
		bit := l.rand.IntN(8 * len(frame))
		flipped[bit/8] ^= 1 << (bit % 8)
		out = append(out, flipped)
	case u < r.Drop+r.Double+r.Flip+r.Delay:
		f.counts.Delayed++
		l.late = append(l.late, delayed{frame, 2 + l.rand.IntN(3)}) // one is this frame itself
	default:
		out = append(out, frame)
	}
	waiting := l.late[:0]
	for _, d := range l.late {
		if d.after--; d.after == 0 {
			out = append(out, d.frame)
		} else {
			waiting = append(waiting, d)
		}
	}
	l.late = waiting
	return out
}
