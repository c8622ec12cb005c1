package train

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"dsbo"
	"dsbo/algo"
	"dsbo/network"
)

// A shared is the agents of a process that one method serves: all have the same state, by the same
// bits, and what their oracles say comes together in averages. It is the method's mixer. No bit
// depends on how many agents a method serves, and each counts what it asks and sends as if it had a
// method to itself.
type shared struct {
	agents   []*agent // by their positions in this process
	together *network.Together
	busy     time.Duration // in averages
	terms    atomic.Int64  // nanoseconds in terms of these, of all agents added
}

// mayShare reports whether one method can serve several agents.
func mayShare(m dsbo.Algorithm) bool {
	t := algo.TraitsOf(m)
	return t.Alike && t.Terms
}

// A termError is the error of one agent's term.
type termError struct {
	agent *agent
	error
}

func (e *termError) Unwrap() error { return e.error }

// begin prepares all agents for the next iteration's Step.
func (s *shared) begin(ctx context.Context) (dsbo.Oracle, dsbo.Mixer) {
	for _, a := range s.agents {
		a.begin(ctx)
	}
	return sharedOracle{s.agents[0].oracle}, s
}

// end notes for all agents what [agent.end] notes for the first one.
func (s *shared) end(took time.Duration, err error, maxNorm float64) error {
	if t := (*termError)(nil); errors.As(err, &t) {
		return t.agent.end(took, t.error, maxNorm)
	}
	first := s.agents[0]
	err = first.end(took, err, maxNorm)
	for _, a := range s.agents[1:] {
		a.k = first.k
	}
	return err
}

// times returns an agent's part of the time that is not its oracle's.
func (s *shared) times() (mix, algebra time.Duration) {
	n := time.Duration(len(s.agents))
	makers := min(n, time.Duration(runtime.GOMAXPROCS(0)))
	terms := time.Duration(s.terms.Load()) / makers
	return max(0, s.busy-terms) / n, (s.agents[0].allSteps - s.busy) / n
}

// AverageTerms implements [dsbo.TermAverager].
func (s *shared) AverageTerms(ctx context.Context, t dsbo.Terms, vectors ...[]float64) (err error) {
	defer s.noteAverage(time.Now(), &err)
	return s.together.Average(ctx, func(k int, parts [][]float64) error {
		began := time.Now()
		a := s.agents[k]
		err := t.Term(k, a.metered, parts)
		s.terms.Add(int64(time.Since(began)))
		if err != nil {
			return &termError{a, err}
		}
		return nil
	}, vectors...)
}

// Average implements [dsbo.Averager]: all agents have the same vector.
func (s *shared) Average(ctx context.Context, vectors ...[]float64) (err error) {
	defer s.noteAverage(time.Now(), &err)
	return s.together.Average(ctx, func(_ int, parts [][]float64) error {
		for i, v := range vectors {
			copy(parts[i], v)
		}
		return nil
	}, vectors...)
}

// noteAverage times an average, and notes whether the exchange has failed in it.
func (s *shared) noteAverage(began time.Time, err *error) {
	s.busy += time.Since(began)
	if t := (*termError)(nil); *err != nil && !errors.As(*err, &t) {
		s.agents[0].mixer.failed = true
	}
}

// errOfTerms is the error of what a method that serves several agents must not ask.
var errOfTerms = dsbo.Errorf(dsbo.ErrCapability,
	"a method that serves several agents must ask their oracles in terms of averages alone (dsbo.TermAverager)")

// Mix implements [dsbo.Mixer]. What all have alike is not mixed.
func (s *shared) Mix(context.Context, []float64, []float64) error { return errOfTerms }

// A sharedOracle stands for the oracles of all agents that a method serves, by the first one's: it
// tells what they have alike.
type sharedOracle struct{ first *meteredOracle }

func (o sharedOracle) Dims() (p, q int) { return o.first.Dims() }

// Penalty implements [dsbo.PenaltyOracle].
func (o sharedOracle) Penalty(dst, x []float64) error { return o.first.Penalty(dst, x) }

func (sharedOracle) UpperGrad(_, _, _, _ []float64, _ dsbo.Sample) error { return errOfTerms }
func (sharedOracle) LowerGrad(_, _, _ []float64, _ dsbo.Sample) error    { return errOfTerms }
func (sharedOracle) HVP(_, _, _, _ []float64, _ dsbo.Sample) error       { return errOfTerms }
func (sharedOracle) JVP(_, _, _, _ []float64, _ dsbo.Sample) error       { return errOfTerms }
