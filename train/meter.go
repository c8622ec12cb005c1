package train

import (
	"context"
	"time"

	"dsbo"
	"dsbo/algo"
	"dsbo/network"
	"dsbo/runs"
)

// meteredOracle counts and times what an agent asks its oracle.
type meteredOracle struct {
	dsbo.Oracle
	products *matrixProducts
	ctx      context.Context // of the step under way: when it ends no further call begins
	calls    algo.Calls
	busy     time.Duration
}

func (m *meteredOracle) UpperGrad(dx, dy, x, y []float64, s dsbo.Sample) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	defer m.count(&m.calls.UpperGrad, time.Now())
	return m.Oracle.UpperGrad(dx, dy, x, y, s)
}

func (m *meteredOracle) LowerGrad(dst, x, y []float64, s dsbo.Sample) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	defer m.count(&m.calls.LowerGrad, time.Now())
	return m.Oracle.LowerGrad(dst, x, y, s)
}

func (m *meteredOracle) HVP(dst, x, y, v []float64, s dsbo.Sample) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	defer m.count(&m.calls.HVP, time.Now())
	return m.products.product(m.Oracle, dst, x, y, v, s)
}

func (m *meteredOracle) JVP(dst, x, y, v []float64, s dsbo.Sample) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	defer m.count(&m.calls.JVP, time.Now())
	return m.Oracle.JVP(dst, x, y, v, s)
}

// Penalty asks for P(x), which is known without data, and is not counted.
func (m *meteredOracle) Penalty(dst, x []float64) error {
	o, ok := m.Oracle.(dsbo.PenaltyOracle)
	if !ok {
		return dsbo.Errorf(dsbo.ErrCapability, "this problem's oracles give no penalty (dsbo.PenaltyOracle is missing)")
	}
	return o.Penalty(dst, x)
}

func (m *meteredOracle) Diagonal(dst, x, y []float64, s dsbo.Sample) error {
	o, ok := m.Oracle.(dsbo.DiagonalOracle)
	if !ok {
		return dsbo.Errorf(dsbo.ErrCapability, "this problem's oracles give no diagonals (dsbo.DiagonalOracle is missing)")
	}
	if err := m.ctx.Err(); err != nil {
		return err
	}
	defer m.count(&m.calls.Diagonal, time.Now())
	return m.products.diagonal(o, dst, x, y, s)
}

func (m *meteredOracle) Values(x, y []float64, s dsbo.Sample) (upper, lower float64, err error) {
	o, ok := m.Oracle.(dsbo.ValueOracle)
	if !ok {
		return 0, 0, dsbo.Errorf(dsbo.ErrCapability, "this problem's oracles give no losses (dsbo.ValueOracle is missing)")
	}
	if err := m.ctx.Err(); err != nil {
		return 0, 0, err
	}
	defer m.count(&m.calls.Value, time.Now())
	return o.Values(x, y, s)
}

// count adds one call that began at start.
func (m *meteredOracle) count(calls *int, start time.Time) {
	*calls++
	m.busy += time.Since(start)
}

// meteredDense is a meteredOracle for an oracle that gives whole matrices: methods look for them.
type meteredDense struct {
	*meteredOracle
	dense dsbo.DenseOracle
}

func (m meteredDense) Hessian(dst, x, y []float64, s dsbo.Sample) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	defer m.count(&m.calls.Hessian, time.Now())
	return m.dense.Hessian(dst, x, y, s)
}

func (m meteredDense) Jacobian(dst, x, y []float64, s dsbo.Sample) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	defer m.count(&m.calls.Jacobian, time.Now())
	return m.dense.Jacobian(dst, x, y, s)
}

// meterOracle returns the meter of an oracle, and the oracle with it for a method, whose products are with c's matrix.
func meterOracle(o dsbo.Oracle, c *matrixProducts) (*meteredOracle, dsbo.Oracle) {
	m := &meteredOracle{Oracle: o, products: c, ctx: context.Background()}
	if d, ok := o.(dsbo.DenseOracle); ok {
		return m, meteredDense{m, d}
	}
	return m, m
}

// meteredMixer times an agent's exchanges and averages.
type meteredMixer struct {
	*network.Averager
	busy   time.Duration
	failed bool
}

func (m *meteredMixer) Mix(ctx context.Context, dst, src []float64) error {
	start := time.Now()
	err := m.Averager.Mix(ctx, dst, src)
	m.busy += time.Since(start)
	m.failed = m.failed || err != nil
	return err
}

func (m *meteredMixer) Average(ctx context.Context, dst, src []float64) error {
	start := time.Now()
	err := m.Averager.Average(ctx, dst, src)
	m.busy += time.Since(start)
	m.failed = m.failed || err != nil
	return err
}

// sent returns what the agent has sent: each vector once, also when a transport has to send it again.
func (m *meteredMixer) sent() runs.Sent { return runs.Sent(m.Averager.Sent()) }
