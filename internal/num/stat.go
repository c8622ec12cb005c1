// This file has measures and statistics that several packages use.

package num

import (
	"math"
	"runtime"
	"slices"
)

// Normal95 is how many standard errors an interval of 95 % reaches to either side.
const Normal95 = 1.959964

// Median returns the median of the values that are not NaN, and NaN if there are none. An even
// count gives the mean of the two in the middle. The argument is not changed; the cost is sorting
// a copy.
func Median(values []float64) float64 {
	sorted := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(sorted) == 0 {
		return math.NaN()
	}
	slices.Sort(sorted)
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// LiveBytes collects the garbage twice, as finalizers keep some of it until the second time, and
// returns the heap's bytes in use.
func LiveBytes() float64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return float64(s.HeapAlloc)
}
