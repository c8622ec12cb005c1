package command

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// onRename has the system call f before this process renames a file, with the new path. There is no other way to be sure
// of the moment between a file's last byte and its name.
func onRename(f func(to string)) error {
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		return err
	}
	listener, err := trapRename()
	if err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	go func() {
		for {
			var n notification
			if _, _, err := unix.Syscall(unix.SYS_IOCTL, listener, unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n))); err != 0 {
				continue // a signal came in between
			}
			path := make([]byte, unix.PathMax)
			size, _ := memory.ReadAt(path, int64(n.args[3])) // an error says where the memory ends
			path, _, _ = bytes.Cut(path[:size], []byte{0})
			f(string(path))
			answer := answer{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
			// Where this fails, the call has come back by a signal, and comes again.
			_, _, _ = unix.Syscall(unix.SYS_IOCTL, listener, unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&answer)))
		}
	}()
	return nil
}

// A notification is the system's struct seccomp_notif, of a call renameat(from, path, to, path).
type notification struct {
	id         uint64
	pid, flags uint32
	call       int32
	arch       uint32
	at         uint64
	args       [6]uint64
}

// An answer is struct seccomp_notif_resp.
type answer struct {
	id    uint64
	value int64
	err   int32
	flags uint32
}

// trapRename has calls of renameat in all threads wait for an answer, and returns where they are told.
func trapRename() (listener uintptr, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_RENAMEAT, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	const flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_TSYNC | unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH
	listener, _, failed := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&filter)))
	if failed != 0 {
		return 0, failed
	}
	return listener, nil
}
