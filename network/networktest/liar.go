package networktest

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"dsbo"
)

// An Attack is how agents lie: it changes what one of them would have sent in an exchange, knowing
// what all honest agents send in it.
type Attack func(lie []float64, honest [][]float64, exchange int)

// SignFlip sends −factor times what an honest agent would have sent.
func SignFlip(factor float64) Attack {
	return func(lie []float64, _ [][]float64, _ int) {
		for e := range lie {
			lie[e] *= -factor
		}
	}
}

// Drift adds the same number to every entry, always.
func Drift(size float64) Attack {
	return func(lie []float64, _ [][]float64, _ int) {
		for e := range lie {
			lie[e] += size
		}
	}
}

// Noise adds normal noise of a deviation, named by the exchange.
func Noise(deviation float64) Attack {
	return func(lie []float64, _ [][]float64, exchange int) {
		r := rand.New(rand.NewPCG(uint64(exchange), 0x6c696172))
		for e := range lie {
			lie[e] += deviation * r.NormFloat64()
		}
	}
}

// Little sends the honest agents' mean less z times their standard deviation in each entry: numbers
// that any of them might have sent (Baruch, Baruch, Goldberg: "A Little Is Enough: Circumventing
// Defenses For Distributed Learning", NeurIPS 2019).
func Little(z float64) Attack {
	return func(lie []float64, honest [][]float64, _ int) {
		n := float64(len(honest))
		for e := range lie {
			mean, square := 0.0, 0.0
			for _, v := range honest {
				mean += v[e] / n
			}
			for _, v := range honest {
				d := v[e] - mean
				square += d * d / n
			}
			lie[e] = mean - z*math.Sqrt(square)
		}
	}
}

// WithLiars puts liars, the last agents of mixers, among the others. A liar runs the method as all
// do, on what it is sent; what it sends is the attack's. The mixers are for the exchanges alone:
// they make no averages.
func WithLiars(mixers []dsbo.Mixer, liars int, attack Attack) []dsbo.Mixer {
	c := &conspiracy{honest: len(mixers) - liars, liars: liars, attack: attack, rounds: map[int]*honestRound{}}
	out := make([]dsbo.Mixer, len(mixers))
	for i, m := range mixers {
		out[i] = &tappedMixer{Mixer: m, conspiracy: c, agent: i}
	}
	return out
}

// A conspiracy is what liars know.
type conspiracy struct {
	honest, liars int
	attack        Attack

	mu     sync.Mutex
	rounds map[int]*honestRound
}

// honestRound is what the honest agents send in one exchange.
type honestRound struct {
	vectors [][]float64
	missing int
	readers int
	all     chan struct{}
}

func (c *conspiracy) round(k int) *honestRound {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.rounds[k]
	if r == nil {
		r = &honestRound{vectors: make([][]float64, c.honest), missing: c.honest, readers: c.liars,
			all: make(chan struct{})}
		c.rounds[k] = r
	}
	return r
}

// record keeps what an honest agent sends.
func (c *conspiracy) record(k, agent int, v []float64) {
	r := c.round(k)
	c.mu.Lock()
	defer c.mu.Unlock()
	r.vectors[agent] = slices.Clone(v)
	if r.missing--; r.missing == 0 {
		close(r.all)
	}
}

// forgery waits for what all honest agents send, and returns what a liar sends.
func (c *conspiracy) forgery(ctx context.Context, k int, own []float64) ([]float64, error) {
	r := c.round(k)
	select {
	case <-r.all:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	lie := slices.Clone(own)
	c.attack(lie, r.vectors, k)
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.readers--; r.readers == 0 {
		delete(c.rounds, k)
	}
	return lie, nil
}

// tappedMixer is an agent's end of an exchange with liars.
type tappedMixer struct {
	dsbo.Mixer
	conspiracy *conspiracy
	agent      int
	round      int
}

// Part implements dsbo.PartMixer.
func (m *tappedMixer) Part(k, length int) {
	if p, ok := m.Mixer.(dsbo.PartMixer); ok {
		p.Part(k, length)
	}
}

// Mix implements dsbo.Mixer.
func (m *tappedMixer) Mix(ctx context.Context, dst, src []float64) error {
	c, k := m.conspiracy, m.round
	m.round++
	if m.agent < c.honest {
		if c.liars > 0 {
			c.record(k, m.agent, src)
		}
		return m.Mixer.Mix(ctx, dst, src)
	}
	lie, err := c.forgery(ctx, k, src)
	if err != nil {
		return err
	}
	return m.Mixer.Mix(ctx, dst, lie)
}
