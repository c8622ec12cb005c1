//go:build !linux

package kernel

// adviseHuge does nothing: other systems choose by themselves.
func adviseHuge([]byte) {}
