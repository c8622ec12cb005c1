package runs

import (
	"dsbo"
)

// Usage counts the oracle calls, messages and times of iterations, of one agent or of all together.
// Evaluations are not in it.
type Usage struct {
	dsbo.Calls
	dsbo.Traffic
	Times
}

// Times divide the time of iterations by where it is spent.
type Times struct {
	OracleSeconds  float64 `json:"oracle_seconds"`
	MixSeconds     float64 `json:"mix_seconds"`     // exchanges, waiting for neighbours included
	AlgebraSeconds float64 `json:"algebra_seconds"` // neither the oracle's nor the exchange's
}

// UsageLen is the number of float64s that [Usage.Pack] returns.
const UsageLen = 14

// Pack returns u as numbers, which can be sent; counts stay exact up to 2⁵³.
func (u Usage) Pack() []float64 {
	return []float64{
		float64(u.UpperGrad), float64(u.LowerGrad), float64(u.HVP), float64(u.JVP), float64(u.Hessian),
		float64(u.Jacobian),
		float64(u.Diagonal), float64(u.Value),
		float64(u.Messages), float64(u.Floats), float64(u.Bytes), u.OracleSeconds, u.MixSeconds, u.AlgebraSeconds,
	}
}

// UnpackUsage returns the usage that [Usage.Pack] packed into v.
func UnpackUsage(v []float64) Usage {
	return Usage{
		dsbo.Calls{
			UpperGrad: int(v[0]), LowerGrad: int(v[1]), HVP: int(v[2]), JVP: int(v[3]), Hessian: int(v[4]),
			Jacobian: int(v[5]),
			Diagonal: int(v[6]), Value: int(v[7]),
		},
		dsbo.Traffic{Messages: int64(v[8]), Floats: int64(v[9]), Bytes: int64(v[10])},
		Times{OracleSeconds: v[11], MixSeconds: v[12], AlgebraSeconds: v[13]},
	}
}

// Add adds v to u.
func (u *Usage) Add(v Usage) {
	sum := u.Pack()
	for i, n := range v.Pack() {
		sum[i] += n
	}
	*u = UnpackUsage(sum)
}

// Total returns the sum of the agents' usage.
func Total(agents []Usage) (sum Usage) {
	for _, u := range agents {
		sum.Add(u)
	}
	return sum
}

// Add adds v to t.
func (t *Times) Add(v Times) {
	t.OracleSeconds += v.OracleSeconds
	t.MixSeconds += v.MixSeconds
	t.AlgebraSeconds += v.AlgebraSeconds
}
