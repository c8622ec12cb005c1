package kernel

import "syscall"

// adviseHuge asks for huge pages. Errors are ignored: a system without huge pages returns one.
func adviseHuge(memory []byte) { _ = syscall.Madvise(memory, hugePage) }

// hugePage is MADV_HUGEPAGE of madvise(2), which package syscall has for some processors only.
const hugePage = 14
