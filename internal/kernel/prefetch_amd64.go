//go:build amd64 && !noasm

package kernel

import "unsafe"

//go:noescape
func prefetchLines(src *byte, n int)

func prefetch(src []byte) {
	if active != Generic && len(src) > 0 {
		// From the start of its first line, so that no line between is left out.
		p := unsafe.SliceData(src)
		prefetchLines(p, len(src)+int(uintptr(unsafe.Pointer(p))&63))
	}
}
