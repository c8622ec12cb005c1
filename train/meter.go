package train

import (
	"context"
	"time"

	"dsbo"
	"dsbo/algo"
	"dsbo/network"
)

// Usage is what one agent, or all together, has spent in iterations: evaluation is not in it.
type Usage struct {
	Calls         algo.Calls    `json:"calls"`
	Sent          network.Stats `json:"sent"`
	OracleSeconds float64       `json:"oracle_seconds"`
	MixSeconds    float64       `json:"mix_seconds"` // exchanging, waiting for neighbours included
	StepSeconds   float64       `json:"step_seconds"`
}

// AlgebraSeconds is the time that was neither the oracle's nor the exchange's.
func (u Usage) AlgebraSeconds() float64 { return u.StepSeconds - u.OracleSeconds - u.MixSeconds }

// Add adds v to u.
func (u *Usage) Add(v Usage) {
	u.Calls.UpperGrad += v.Calls.UpperGrad
	u.Calls.LowerGrad += v.Calls.LowerGrad
	u.Calls.HVP += v.Calls.HVP
	u.Calls.JVP += v.Calls.JVP
	u.Calls.Hessian += v.Calls.Hessian
	u.Calls.Jacobian += v.Calls.Jacobian
	u.Sent.Messages += v.Sent.Messages
	u.Sent.Floats += v.Sent.Floats
	u.Sent.Bytes += v.Sent.Bytes
	u.OracleSeconds += v.OracleSeconds
	u.MixSeconds += v.MixSeconds
	u.StepSeconds += v.StepSeconds
}

func (u Usage) timeless() Usage {
	u.OracleSeconds, u.MixSeconds, u.StepSeconds = 0, 0, 0
	return u
}

const usageLen = 12

// pack returns u as numbers; counts stay exact up to 2⁵³.
func (u Usage) pack() []float64 {
	c, s := u.Calls, u.Sent
	return []float64{
		float64(c.UpperGrad), float64(c.LowerGrad), float64(c.HVP), float64(c.JVP), float64(c.Hessian), float64(c.Jacobian),
		float64(s.Messages), float64(s.Floats), float64(s.Bytes), u.OracleSeconds, u.MixSeconds, u.StepSeconds,
	}
}

func unpackUsage(v []float64) Usage {
	return Usage{
		Calls: algo.Calls{
			UpperGrad: int(v[0]), LowerGrad: int(v[1]), HVP: int(v[2]), JVP: int(v[3]), Hessian: int(v[4]), Jacobian: int(v[5]),
		},
		Sent:          network.Stats{Messages: int64(v[6]), Floats: int64(v[7]), Bytes: int64(v[8])},
		OracleSeconds: v[9], MixSeconds: v[10], StepSeconds: v[11],
	}
}

// metered counts and times what an agent asks its oracle.
type metered struct {
	dsbo.Oracle
	calls algo.Calls
	busy  time.Duration
}

func (m *metered) UpperGrad(dx, dy, x, y []float64, s dsbo.Sample) error {
	m.calls.UpperGrad++
	defer m.time(time.Now())
	return m.Oracle.UpperGrad(dx, dy, x, y, s)
}

func (m *metered) LowerGrad(dst, x, y []float64, s dsbo.Sample) error {
	m.calls.LowerGrad++
	defer m.time(time.Now())
	return m.Oracle.LowerGrad(dst, x, y, s)
}

func (m *metered) HVP(dst, x, y, v []float64, s dsbo.Sample) error {
	m.calls.HVP++
	defer m.time(time.Now())
	return m.Oracle.HVP(dst, x, y, v, s)
}

func (m *metered) JVP(dst, x, y, v []float64, s dsbo.Sample) error {
	m.calls.JVP++
	defer m.time(time.Now())
	return m.Oracle.JVP(dst, x, y, v, s)
}

func (m *metered) time(start time.Time) { m.busy += time.Since(start) }

// meteredDense is metered for an oracle that gives whole matrices: methods look for them.
type meteredDense struct {
	*metered
	dense dsbo.DenseOracle
}

func (m meteredDense) Hessian(dst, x, y []float64, s dsbo.Sample) error {
	m.calls.Hessian++
	defer m.time(time.Now())
	return m.dense.Hessian(dst, x, y, s)
}

func (m meteredDense) Jacobian(dst, x, y []float64, s dsbo.Sample) error {
	m.calls.Jacobian++
	defer m.time(time.Now())
	return m.dense.Jacobian(dst, x, y, s)
}

// meter wraps o, and returns what keeps the count beside what a method is to be given.
func meter(o dsbo.Oracle) (*metered, dsbo.Oracle) {
	m := &metered{Oracle: o}
	if d, ok := o.(dsbo.DenseOracle); ok {
		return m, meteredDense{m, d}
	}
	return m, m
}

// meteredMixer times an agent's exchanges, and counts what it sends in them: each vector once, also when a transport has
// to send it again.
type meteredMixer struct {
	dsbo.Mixer
	sends  int64 // vectors in an exchange
	sent   network.Stats
	busy   time.Duration
	failed bool
}

func (m *meteredMixer) Mix(ctx context.Context, dst, src []float64) error {
	start := time.Now()
	err := m.Mixer.Mix(ctx, dst, src)
	m.busy += time.Since(start)
	if err != nil {
		m.failed = true
		return err
	}
	m.sent.Messages += m.sends
	m.sent.Floats += m.sends * int64(len(src))
	m.sent.Bytes += m.sends * 8 * int64(len(src))
	return nil
}
