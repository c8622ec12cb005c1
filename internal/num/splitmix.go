// This file has the generator SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
// generators", OOPSLA 2014) as a hash. Named random numbers are made from it: functions of seed,
// agent, draw and entry alone.

package num

// SplitMixStep is how far the generator's counter goes from one number to the next.
const SplitMixStep = 0x9e3779b97f4a7c15

// SplitMix returns the number after counter z. Neighbouring counters have unrelated bits. It is a
// bijection.
func SplitMix(z uint64) uint64 {
	z += SplitMixStep
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
