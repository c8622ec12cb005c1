package testkit

import "errors"

// WantNew panics, as [OK] does, if a timed call returned the previous call's answer though it was
// asked at another point: it was cached, not computed. last is a checksum of the previous answer;
// NaN before the first.
func WantNew[T float32 | float64](last *float64, answer []T) {
	now := 0.0
	for i, v := range answer {
		now += float64(float64(v) * float64(1+i%7))
	}
	if now == *last {
		OK(errors.New("the answer at a new point is the last one's: it was kept, and not computed"))
	}
	*last = now
}
