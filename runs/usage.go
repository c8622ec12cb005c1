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

// numbers returns the places of the numbers of u, by their types.
func (u *Usage) numbers() (calls []*int, sent []*int64, times []*float64) {
	return []*int{&u.UpperGrad, &u.LowerGrad, &u.HVP, &u.JVP, &u.Hessian, &u.Jacobian, &u.Diagonal, &u.Value},
		[]*int64{&u.Messages, &u.Floats, &u.Bytes}, []*float64{&u.OracleSeconds, &u.MixSeconds, &u.AlgebraSeconds}
}

// Pack returns u as UsageLen numbers for an exchange: calls, traffic, then times. Counts are exact
// up to 2⁵³.
func (u Usage) Pack() (v []float64) {
	calls, sent, times := u.numbers()
	for _, n := range calls {
		v = append(v, float64(*n))
	}
	for _, n := range sent {
		v = append(v, float64(*n))
	}
	for _, n := range times {
		v = append(v, *n)
	}
	return v
}

// UnpackUsage returns the usage that [Usage.Pack] packed into v.
func UnpackUsage(v []float64) (u Usage) {
	calls, sent, times := u.numbers()
	for i, n := range calls {
		*n = int(v[i])
	}
	for i, n := range sent {
		*n = int64(v[len(calls)+i])
	}
	for i, n := range times {
		*n = v[len(calls)+len(sent)+i]
	}
	return u
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
