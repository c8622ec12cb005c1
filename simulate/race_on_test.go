//go:build race

package simulate

// racing: the race detector draws the order of goroutines that are ready at one moment, which no seed sets.
const racing = true
