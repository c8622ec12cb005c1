package train

import (
	"context"
	"time"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/network"
)

// A meter counts and times what an agent asks its oracle.
type meter struct {
	apart    apartness // of the epoch: what diagonals are blurred by
	products *linalg.Matrix
	ctx      context.Context // of the step under way: when it ends no further call begins
	calls    dsbo.Calls
	busy     time.Duration
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

// meteredOracle is an agent's oracle with its meter.
type meteredOracle struct {
	dsbo.Oracle
	*meter
}

func (m *meteredOracle) UpperGrad(dx, dy, x, y []float64, s dsbo.Sample) error {
	return m.countQuestion(&m.calls.UpperGrad, func() error { return m.Oracle.UpperGrad(dx, dy, x, y, s) })
}

func (m *meteredOracle) LowerGrad(dst, x, y []float64, s dsbo.Sample) error {
	return m.countQuestion(&m.calls.LowerGrad, func() error { return m.Oracle.LowerGrad(dst, x, y, s) })
}

func (m *meteredOracle) LowerJointGrad(dx, dy, x, y []float64, s dsbo.Sample) error {
	o, err := dsbo.OracleAs[dsbo.JointOracle](m.Oracle, "gradients of g by x")
	if err != nil {
		return err
	}
	return m.countQuestion(&m.calls.LowerGrad, func() error { return o.LowerJointGrad(dx, dy, x, y, s) })
}

// Batch asks which batch a draw takes, without a look at data, and is not counted.
func (m *meteredOracle) Batch(s dsbo.Sample, n int) (batch dsbo.Sample, share float64, err error) {
	o, err := dsbo.OracleAs[dsbo.PartitionOracle](m.Oracle, "batches of a partition")
	if err != nil {
		return batch, 0, err
	}
	return o.Batch(s, n)
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

// Penalty asks for P(x), which is known without data, and is not counted.
func (m *meteredOracle) Penalty(dst, x []float64) error {
	o, err := dsbo.OracleAs[dsbo.PenaltyOracle](m.Oracle, "penalty")
	if err != nil {
		return err
	}
	return o.Penalty(dst, x)
}

func (m *meteredOracle) Diagonal(dst, x, y []float64, s dsbo.Sample) error {
	o, err := dsbo.OracleAs[dsbo.DiagonalOracle](m.Oracle, "diagonals")
	if err != nil {
		return err
	}
	return m.countQuestion(&m.calls.Diagonal, func() error {
		if err := m.products.Diagonal(o, dst, x, y, s); err != nil {
			return err
		}
		return m.apart.blurBeside(m.Oracle, dst, x)
	})
}

func (m *meteredOracle) Values(x, y []float64, s dsbo.Sample) (upper, lower float64, err error) {
	o, err := dsbo.OracleAs[dsbo.ValueOracle](m.Oracle, "losses")
	if err != nil {
		return 0, 0, err
	}
	err = m.countQuestion(&m.calls.Value, func() (err error) {
		upper, lower, err = o.Values(x, y, s)
		return err
	})
	return upper, lower, err
}

// meteredDense is a meteredOracle for an oracle that gives whole matrices: methods look for them.
type meteredDense struct {
	*meteredOracle
	dense dsbo.DenseOracle
}

func (m meteredDense) Hessian(dst, x, y []float64, s dsbo.Sample) error {
	return m.countQuestion(&m.calls.Hessian, func() error { return m.dense.Hessian(dst, x, y, s) })
}

func (m meteredDense) Jacobian(dst, x, y []float64, s dsbo.Sample) error {
	return m.countQuestion(&m.calls.Jacobian, func() error { return m.dense.Jacobian(dst, x, y, s) })
}

// meteredMixer times an agent's exchanges and averages.
type meteredMixer struct {
	*network.Averager
	busy   time.Duration
	failed bool
}

func (m *meteredMixer) Mix(ctx context.Context, dst, src []float64) error {
	return m.MixAdd(ctx, dst, src, 0, nil)
}

func (m *meteredMixer) MixAdd(ctx context.Context, dst, src []float64, a float64, v []float64) error {
	return m.call(func() error { return m.Averager.MixAdd(ctx, dst, src, a, v) })
}

func (m *meteredMixer) Pull(ctx context.Context, k int, dst, src []float64) error {
	return m.call(func() error { return m.Averager.Pull(ctx, k, dst, src) })
}

func (m *meteredMixer) Push(ctx context.Context, k int, dst, src []float64) error {
	return m.call(func() error { return m.Averager.Push(ctx, k, dst, src) })
}

func (m *meteredMixer) Average(ctx context.Context, vectors ...[]float64) error {
	return m.call(func() error { return m.Averager.Average(ctx, vectors...) })
}

func (m *meteredMixer) MixCompressed(ctx context.Context, dst, src []float64, c dsbo.Compressor) error {
	return m.call(func() error { return m.Averager.MixCompressed(ctx, dst, src, c) })
}

// call makes an exchange, which it times.
func (m *meteredMixer) call(exchange func() error) error {
	start := time.Now()
	err := exchange()
	m.busy += time.Since(start)
	m.failed = m.failed || err != nil
	return err
}
