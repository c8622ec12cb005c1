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

// A shared is the agents of a process that share one method: all have the same state, to the bit,
// and their oracles' answers meet in averages. It is the method's mixer. No bit depends on the
// number of agents that share the method, and each agent counts its calls and messages as if it had
// its own.
type shared struct {
	agents   []*agent // by their positions in this process
	together *network.Together
	oracle   sharedOracle // in place of the agents' oracles
	also     dsbo.MixerCapabilities
	busy     time.Duration // in averages
	terms    atomic.Int64  // nanoseconds in terms of these, of all agents added
}

// add adds an agent.
func (s *shared) add(a *agent) {
	a.shared, s.agents = s, append(s.agents, a)
	if s.oracle.first == nil {
		s.also = dsbo.MixerCapabilities{Of: s, Average: s.Average, AverageTerms: s.AverageTerms}
		s.oracle.first = a.oracle
		s.oracle.also = dsbo.OracleCapabilities{Of: &s.oracle, Penalty: a.oracle.also.Penalty}
	}
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
	return &s.oracle, s
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

// times returns an agent's equal part of the time in exchanges, and of the time in steps without
// averages. An average is terms, which as many agents as there are processors make at a time, and
// an exchange: terms are taken off by an estimate, since nobody sees when the last one ends.
func (s *shared) times() (mix, algebra time.Duration) {
	n := time.Duration(len(s.agents))
	atATime := min(n, time.Duration(runtime.GOMAXPROCS(0)))
	terms := time.Duration(s.terms.Load()) / atATime
	return max(0, s.busy-terms) / n, (s.agents[0].allSteps - s.busy) / n
}

// Capabilities implements [dsbo.Mixer].
func (s *shared) Capabilities() *dsbo.MixerCapabilities { return &s.also }

// AverageTerms is AverageTerms of [dsbo.MixerCapabilities].
func (s *shared) AverageTerms(ctx context.Context, t dsbo.Terms, vectors ...dsbo.Named) (err error) {
	defer s.noteAverage(time.Now(), &err)
	return s.together.Average(ctx, func(k int, parts [][]float64) error {
		began := time.Now()
		a := s.agents[k]
		err := t.Term(k, a.oracle, parts)
		s.terms.Add(int64(time.Since(began)))
		if err != nil {
			return &termError{a, err}
		}
		return nil
	}, vectors...)
}

// Average is Average of [dsbo.MixerCapabilities]: all agents have the same vector.
func (s *shared) Average(ctx context.Context, vectors ...dsbo.Named) (err error) {
	defer s.noteAverage(time.Now(), &err)
	return s.together.Average(ctx, func(_ int, parts [][]float64) error {
		for i, v := range vectors {
			copy(parts[i], v.Value)
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

// errOfTerms is the error of calls that a method serving several agents must not make.
var errOfTerms = dsbo.Errorf(dsbo.ErrCapability,
	"a method that serves several agents must ask their oracles in terms of averages alone (AverageTerms)")

// Mix implements [dsbo.Mixer]. What all have alike is not mixed.
func (s *shared) Mix(context.Context, []float64, []float64) error { return errOfTerms }

// A sharedOracle is the oracle of a method that several agents share. It gives the first agent's
// answers where all agents' are equal.
type sharedOracle struct {
	first dsbo.Oracle
	also  dsbo.OracleCapabilities
}

func (o *sharedOracle) Capabilities() *dsbo.OracleCapabilities { return &o.also }
func (o *sharedOracle) Dims() (p, q int)                       { return o.first.Dims() }

func (*sharedOracle) UpperGrad(_, _, _, _ []float64, _ dsbo.Sample) error { return errOfTerms }
func (*sharedOracle) LowerGrad(_, _, _ []float64, _ dsbo.Sample) error    { return errOfTerms }
func (*sharedOracle) HVP(_, _, _, _ []float64, _ dsbo.Sample) error       { return errOfTerms }
func (*sharedOracle) JVP(_, _, _, _ []float64, _ dsbo.Sample) error       { return errOfTerms }
