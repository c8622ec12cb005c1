package runs

import "dsbo/algo"

// Usage is what one agent, or all together, has spent in iterations: evaluation is not in it.
type Usage struct {
	algo.Calls
	Sent
	Times
}

// Sent counts what agents send in exchanges, one vector to each neighbour; one that a transport repeats counts once.
type Sent struct {
	Messages int64 `json:"messages"`
	Floats   int64 `json:"floats"`
	Bytes    int64 `json:"bytes"`
}

// Times are where agents spend the time of their iterations.
type Times struct {
	OracleSeconds  float64 `json:"oracle_seconds"`
	MixSeconds     float64 `json:"mix_seconds"`     // exchanges, waiting for neighbours included
	AlgebraSeconds float64 `json:"algebra_seconds"` // neither the oracle's nor the exchange's
}

// counts lists the whole numbers of u, seconds its times.
func (u *Usage) counts() (calls []*int, sent []*int64) {
	return []*int{&u.UpperGrad, &u.LowerGrad, &u.HVP, &u.JVP, &u.Hessian, &u.Jacobian}, []*int64{&u.Messages, &u.Floats, &u.Bytes}
}

func (t *Times) seconds() []*float64 {
	return []*float64{&t.OracleSeconds, &t.MixSeconds, &t.AlgebraSeconds}
}

// UsageLen is the length of what [Usage.Pack] returns.
const UsageLen = 12

// Pack returns u as numbers, which can be sent; counts stay exact up to 2⁵³.
func (u Usage) Pack() []float64 {
	row := make([]float64, 0, UsageLen)
	calls, sent := u.counts()
	for _, v := range calls {
		row = append(row, float64(*v))
	}
	for _, v := range sent {
		row = append(row, float64(*v))
	}
	for _, v := range u.seconds() {
		row = append(row, *v)
	}
	return row
}

// UnpackUsage returns what was packed.
func UnpackUsage(row []float64) (u Usage) {
	calls, sent := u.counts()
	for i, v := range calls {
		*v = int(row[i])
	}
	for i, v := range sent {
		*v = int64(row[len(calls)+i])
	}
	for i, v := range u.seconds() {
		*v = row[len(calls)+len(sent)+i]
	}
	return u
}

// Add adds v to u.
func (u *Usage) Add(v Usage) {
	calls, sent := u.counts()
	moreCalls, moreSent := v.counts()
	for i, n := range moreCalls {
		*calls[i] += *n
	}
	for i, n := range moreSent {
		*sent[i] += *n
	}
	u.Times.Add(v.Times)
}

// Add adds v to t.
func (t *Times) Add(v Times) {
	seconds := t.seconds()
	for i, s := range v.seconds() {
		*seconds[i] += *s
	}
}
