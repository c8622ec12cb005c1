//go:build !linux

package lockstep

func memoryFolder() string { return "" }
