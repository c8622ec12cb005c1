//go:build !race

package lockstep

const racing = false
