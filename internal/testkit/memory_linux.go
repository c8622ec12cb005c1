package testkit

import "golang.org/x/sys/unix"

// memoryFolder returns a folder in memory with room for the tests' files, in which programs may be
// executed; "" if there is none.
func memoryFolder() string {
	const folder, room = "/dev/shm", 1 << 30
	var s unix.Statfs_t
	if unix.Statfs(folder, &s) != nil || s.Type != unix.TMPFS_MAGIC || s.Flags&unix.ST_NOEXEC != 0 ||
		s.Bavail*uint64(s.Bsize) < room || unix.Access(folder, unix.W_OK) != nil {
		return ""
	}
	return folder
}
