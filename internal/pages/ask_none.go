//go:build !linux

package pages

// ask does nothing: other systems choose by themselves.
func ask([]byte) {}
