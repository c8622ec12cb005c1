package kernel

import "syscall"

// adviseHuge asks for huge pages. An error is not one of the program: a kernel without them says so
// by it.
func adviseHuge(memory []byte) { _ = syscall.Madvise(memory, hugePage) }

// hugePage is MADV_HUGEPAGE of madvise(2), which package syscall has for some processors only.
const hugePage = 14
