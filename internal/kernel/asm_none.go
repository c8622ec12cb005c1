//go:build !amd64 || noasm

package kernel

func detect() Path { return Generic }

func prefetch([]byte) {}
