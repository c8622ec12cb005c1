package testkit

import "golang.org/x/sys/unix"

// memoryFolder returns a folder that is in memory, has room for what tests write, and may hold
// programs; "": there is none.
func memoryFolder() string {
	const folder, room = "/dev/shm", 1 << 30
	var s unix.Statfs_t
	if unix.Statfs(folder, &s) != nil || s.Type != unix.TMPFS_MAGIC || s.Flags&unix.ST_NOEXEC != 0 ||
		s.Bavail*uint64(s.Bsize) < room || unix.Access(folder, unix.W_OK) != nil {
		return ""
	}
	return folder
}
