package train

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/linalg"
	"dsbo/network"
	"dsbo/runs"
)

// An agent steps its algorithm, counts and times its cost, and checks that the numbers stay finite.
// It does not know the places of other agents, which are behind the mixer. It belongs to one
// goroutine at a time.
type agent struct {
	id          int            // its number in the roster
	alg         dsbo.Algorithm // the method, with its state
	oracle      *meteredOracle // the oracle with its meter
	mixer       *meteredMixer  // the exchange with its meter
	shared      *shared        // the agents that its algorithm serves; nil: this one alone
	k           int            // iterations done
	usageBefore runs.Usage     // spent before a resume
	lastStep    time.Duration  // time of the last step, waiting for neighbours included
	allSteps    time.Duration  // time of all steps
}

// newAgent joins agent id's algorithm, oracle and end of the exchange. c is the matrix of products,
// and apart blurs diagonals.
func newAgent(id int, a dsbo.Algorithm, o dsbo.Oracle, c *linalg.Matrix, m *network.Averager,
	apart apartness) (*agent, error) {
	metered, err := newMeteredOracle(o, &meter{products: c, apart: apart, ctx: context.Background()})
	if err != nil {
		return nil, fmt.Errorf("agent %d: %w", id, err)
	}
	return &agent{id: id, alg: a, mixer: newMeteredMixer(m), oracle: metered}, nil
}

// setStart sets an algorithm's y before its first step, and the y before, so that there is no
// momentum yet.
func setStart(a dsbo.Algorithm, y []float64) {
	for _, s := range a.State() {
		if s.Name == "y" || s.Name == "y_before" {
			copy(s.Value, y)
		}
	}
}

// begin prepares for the next iteration's Step.
func (a *agent) begin(ctx context.Context) (dsbo.Oracle, dsbo.Mixer) {
	a.mixer.Begin(2 * uint64(a.k))
	a.oracle.ctx = ctx
	return a.oracle, a.mixer
}

// normNames are the names of the norms that bound an agent's x, y and z.
var normNames = []string{"norm of x", "norm of y", "norm of z"}

// end records the duration and the error of an iteration's Step. If a norm of x, y or z is then
// NaN, infinite or above maxNorm, the error is a [*dsbo.DivergedError]; the agent may still
// continue, so that neighbours that need its vectors can finish their iteration. After any other
// error it must not be used.
func (a *agent) end(took time.Duration, err error, maxNorm float64) error {
	a.lastStep = took
	a.allSteps += took
	if err != nil {
		return fmt.Errorf("agent %d: %w", a.id, err)
	}
	a.k++
	for i, norm := range [...]float64{linalg.Norm(a.x()), linalg.Norm(a.y()), linalg.Norm(a.z())} {
		if !(norm <= maxNorm) { // NaN too
			return &dsbo.DivergedError{Agent: a.id, Iteration: a.k - 1, Quantity: normNames[i], Value: norm}
		}
	}
	return nil
}

// diverged reports whether a step's error is the divergence of this agent's own iterates. An
// exchange that ended because another agent diverged ends the step too, but is no divergence of
// this agent.
func (a *agent) diverged(err error) bool { return !a.mixer.failed && errors.Is(err, dsbo.ErrDiverged) }

func (a *agent) x() []float64 { return a.alg.X() }
func (a *agent) y() []float64 { return a.alg.Y() }

// z returns the algorithm's z, nil if it has none.
func (a *agent) z() []float64 { return algo.TraitsOf(a.alg).Z }

// u returns the algorithm's estimate of the hypergradient, nil if it has none.
func (a *agent) u() []float64 { return algo.TraitsOf(a.alg).U }

// state returns the algorithm's state and the z and u that an evaluation before the next iteration
// looks at.
func (a *agent) state() []dsbo.Named {
	s := a.alg.State()
	return append(s, dsbo.Named{Name: "last z", Value: a.z()}, dsbo.Named{Name: "last u", Value: a.u()})
}

// usage returns the agent's cost since iteration 0, including the run that it resumes. Algebra is
// the time of steps outside of the oracle and the exchange. Agents that share a method divide its
// times equally, except the oracle's.
func (a *agent) usage() runs.Usage {
	u := a.usageBefore
	oracle, mix := a.oracle.busy, a.mixer.busy
	algebra := a.allSteps - oracle - mix
	if a.shared != nil {
		mix, algebra = a.shared.times()
	}
	u.Add(runs.Usage{
		Calls: a.oracle.calls, Traffic: a.mixer.Sent(),
		Times: runs.Times{OracleSeconds: oracle.Seconds(), MixSeconds: mix.Seconds(),
			AlgebraSeconds: algebra.Seconds()},
	})
	return u
}
