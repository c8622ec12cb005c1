//go:build !linux

package testkit

func memoryFolder() string { return "" }
