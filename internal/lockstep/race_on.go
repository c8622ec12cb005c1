//go:build race

package lockstep

const racing = true
