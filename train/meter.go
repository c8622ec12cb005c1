package train

import (
	"context"
	"time"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/network"
)

// A meter counts and times an agent's questions to its oracle.
type meter struct {
	apart    apartness // of the epoch: blurs diagonals
	products *linalg.Matrix
	ctx      context.Context // of the step under way: when it ends no further call begins
	calls    dsbo.Calls
	busy     time.Duration
}

// A meteredOracle is an oracle with a meter.
type meteredOracle struct {
	dsbo.Oracle
	*meter
	also dsbo.OracleCapabilities
}

// newMeteredOracle wraps an oracle so that calls are counted and timed, except those that read no
// data (Batch, Penalty). Diagonals are also damped, and blurred after a change of members.
func newMeteredOracle(o dsbo.Oracle, counts *meter) (*meteredOracle, error) {
	of, err := dsbo.Capabilities(o)
	m := &meteredOracle{Oracle: o, meter: counts}
	m.also = dsbo.OracleCapabilities{Of: m, Batch: of.Batch, Penalty: of.Penalty,
		Hessian: m.counted(&m.calls.Hessian, of.Hessian), Jacobian: m.counted(&m.calls.Jacobian, of.Jacobian)}
	if ask := of.GaussNewton; ask != nil {
		m.also.GaussNewton = func(dst, x, y, v []float64, s dsbo.Sample) error {
			return m.countQuestion(&m.calls.HVP, func() error { return ask(dst, x, y, v, s) })
		}
	}
	if ask := of.LowerJointGrad; ask != nil {
		m.also.LowerJointGrad = func(dx, dy, x, y []float64, s dsbo.Sample) error {
			return m.countQuestion(&m.calls.LowerGrad, func() error { return ask(dx, dy, x, y, s) })
		}
	}
	if ask := of.Diagonal; ask != nil {
		m.also.Diagonal = m.counted(&m.calls.Diagonal, func(dst, x, y []float64, s dsbo.Sample) error {
			if err := ask(dst, x, y, s); err != nil {
				return err
			}
			m.products.Damp(dst)
			return m.apart.blurBeside(of.Penalty, dst, x)
		})
	}
	if ask := of.Values; ask != nil {
		m.also.Values = func(x, y []float64, s dsbo.Sample) (upper, lower float64, err error) {
			err = m.countQuestion(&m.calls.Value, func() (err error) {
				upper, lower, err = ask(x, y, s)
				return err
			})
			return upper, lower, err
		}
	}
	return m, err
}

// Values implements [dsbo.ValueOracle], of an oracle that has values.
func (m *meteredOracle) Values(x, y []float64, s dsbo.Sample) (upper, lower float64, err error) {
	return m.also.Values(x, y, s)
}

// Capabilities implements [dsbo.Oracle].
func (m *meteredOracle) Capabilities() *dsbo.OracleCapabilities { return &m.also }

// counted is ask, nil or not, with a count.
func (m *meter) counted(calls *int,
	ask func(dst, x, y []float64, s dsbo.Sample) error) func(dst, x, y []float64, s dsbo.Sample) error {
	if ask == nil {
		return nil
	}
	return func(dst, x, y []float64, s dsbo.Sample) error {
		return m.countQuestion(calls, func() error { return ask(dst, x, y, s) })
	}
}

// countQuestion counts and times a question to the oracle, unless the step has ended.
func (m *meter) countQuestion(calls *int, question func() error) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	start := time.Now()
	err := question()
	*calls++
	m.busy += time.Since(start)
	return err
}

func (m *meteredOracle) UpperGrad(dx, dy, x, y []float64, s dsbo.Sample) error {
	return m.countQuestion(&m.calls.UpperGrad, func() error { return m.Oracle.UpperGrad(dx, dy, x, y, s) })
}

func (m *meteredOracle) LowerGrad(dst, x, y []float64, s dsbo.Sample) error {
	return m.countQuestion(&m.calls.LowerGrad, func() error { return m.Oracle.LowerGrad(dst, x, y, s) })
}

func (m *meteredOracle) HVP(dst, x, y, v []float64, s dsbo.Sample) error {
	return m.countQuestion(&m.calls.HVP, func() error {
		if m.products.Kind == dsbo.Hessian { // the usual case, without a call between
			return m.Oracle.HVP(dst, x, y, v, s)
		}
		return linalg.Product(m.products, m.Oracle, dst, x, y, v, s)
	})
}

func (m *meteredOracle) JVP(dst, x, y, v []float64, s dsbo.Sample) error {
	return m.countQuestion(&m.calls.JVP, func() error { return m.Oracle.JVP(dst, x, y, v, s) })
}

// A meteredMixer is an agent's end of exchanges and averages, which it times.
type meteredMixer struct {
	*network.Averager
	also   dsbo.MixerCapabilities
	busy   time.Duration
	failed bool
}

// newMeteredMixer returns an end with a meter: all that goes over the exchange is timed.
func newMeteredMixer(of *network.Averager) *meteredMixer {
	m := &meteredMixer{Averager: of}
	m.also = of.Around(m, func(_ int, exchange func() error) error { return m.call(exchange) })
	m.also.Average = func(ctx context.Context, vectors ...dsbo.Named) error {
		return m.call(func() error { return of.Average(ctx, vectors...) })
	}
	return m
}

// Capabilities implements [dsbo.Mixer].
func (m *meteredMixer) Capabilities() *dsbo.MixerCapabilities { return &m.also }

func (m *meteredMixer) Mix(ctx context.Context, dst, src []float64) error {
	return m.call(func() error { return m.Averager.Mix(ctx, dst, src) })
}

// call makes an exchange, which it times.
func (m *meteredMixer) call(exchange func() error) error {
	start := time.Now()
	err := exchange()
	m.busy += time.Since(start)
	m.failed = m.failed || err != nil
	return err
}
