//go:build amd64 && !noasm

package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// detect returns the fastest path whose instructions both the machine and its system support.
func detect() Path {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasFMA || !x.HasBMI2:
		return Generic
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL:
		return AVX512
	}
	return AVX2
}

//go:noescape
func prefetchLines(src *byte, n int)

func prefetch(src []byte) {
	if active != Generic && len(src) > 0 {
		// The lines count from the start of the first one, so that no line between is left out.
		p := unsafe.SliceData(src)
		prefetchLines(p, len(src)+int(uintptr(unsafe.Pointer(p))&63))
	}
}
