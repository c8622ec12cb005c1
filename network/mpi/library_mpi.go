//go:build mpi && cgo

package mpi

// #include "library_mpi.h"
// #include <stdlib.h>
import "C"

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"dsbo"
)

// cgoLibrary is MPI itself. Messages lie in memory from malloc: it stays in place, and fast
// networks that keep memory registered notice when it is freed, as they do not with Go's.
type cgoLibrary struct{ world *C.struct_dsbo_world }

// A handle is a transfer's C side, whose messages are seen here as a slice.
type handle struct {
	c        *C.struct_dsbo_transfer
	messages []C.struct_dsbo_message
}

func newLibrary() (library, error) {
	runtime.LockOSThread() // the one that may call MPI
	l := &cgoLibrary{}
	switch s := C.dsbo_init(&l.world); s {
	case C.DSBO_DONE:
		return l, nil
	case C.DSBO_STARTED_BEFORE:
		return nil, dsbo.ConfigErrorf(
			"MPI must be started once in a process; it has been started in this process before")
	case C.DSBO_NO_THREADS:
		return nil, dsbo.ConfigErrorf(
			"MPI must provide MPI_THREAD_FUNNELED, which a program with several threads needs; this one does not")
	default:
		return nil, l.failure()
	}
}

// failure returns the error that a call left.
func (l *cgoLibrary) failure() error {
	if l.world.function == nil {
		return fmt.Errorf("MPI_Init_thread failed")
	}
	text := (*C.char)(C.malloc(C.MPI_MAX_ERROR_STRING))
	defer C.free(unsafe.Pointer(text))
	var n C.int
	C.MPI_Error_string(l.world.error, text, &n)
	return fmt.Errorf("%s: %s", C.GoString(l.world.function), C.GoStringN(text, n))
}

func (l *cgoLibrary) position() (rank, size, lastTag int) {
	return int(l.world.rank), int(l.world.size), int(l.world.last_tag)
}

func (l *cgoLibrary) alloc(words int) []uint64 {
	return unsafe.Slice((*uint64)(C.malloc(C.size_t(8*words))), words)
}

func (l *cgoLibrary) free(words []uint64) { C.free(unsafe.Pointer(&words[0])) }

// open returns the C side of t. While t is not posted it takes the messages' memory as it is now.
func (l *cgoLibrary) open(t *transfer) *C.struct_dsbo_transfer {
	h, ok := t.handle.(*handle)
	if !ok {
		h = l.newHandle(t)
		t.handle = h
	}
	if h.c.posted != 0 { // MPI is using the messages
		return h.c
	}
	for i := range t.messages {
		m, c := &t.messages[i], &h.messages[i]
		c.words, c.count = unsafe.Pointer(unsafe.SliceData(m.words)), C.int(len(m.words))
	}
	return h.c
}

// newHandle makes the C side of t, without the memory of its messages.
func (l *cgoLibrary) newHandle(t *transfer) *handle {
	h := &handle{c: C.dsbo_new_transfer(C.int(len(t.messages)))}
	h.messages = unsafe.Slice(h.c.messages, len(t.messages))
	h.c.tag = C.int(t.tag)
	last := map[int]int{}
	for i, m := range t.messages {
		c := &h.messages[i]
		c.peer, c.after = C.int(m.peer), -1
		if m.send {
			c.send = 1
			continue
		}
		if before, ok := last[m.peer]; ok {
			c.after = C.int(before)
		}
		last[m.peer] = i
	}
	return h
}

func (l *cgoLibrary) poll(t *transfer, d time.Duration) (state, error) {
	var c *C.struct_dsbo_transfer
	var sum *C.struct_dsbo_sum
	switch {
	case t == nil:
	case t.sum != nil:
		sum = l.beginSum(t)
	default:
		c = l.open(t)
	}
	switch s := C.dsbo_poll(l.world, c, sum, C.int64_t(d)); s {
	case C.DSBO_PENDING:
		return pending, nil
	case C.DSBO_DONE:
		return done, nil
	case C.DSBO_NOTICED:
		return noticed, nil
	case C.DSBO_UNLIKE:
		return pending, errMismatch
	case C.DSBO_OTHER_LENGTH:
		return pending, &lengthError{int(l.world.where), int(l.world.words)}
	default:
		return pending, l.failure()
	}
}

func (l *cgoLibrary) openSum(t *transfer) {
	t.handle = C.dsbo_new_sum(l.world)
}

func (l *cgoLibrary) sumWords(t *transfer, bytes int) []byte {
	room := max(bytes, 1) // MPI wants an address
	return unsafe.Slice((*byte)(C.dsbo_sum_words(t.handle.(*C.struct_dsbo_sum), C.int64_t(room))), room)[:bytes]
}

// beginSum has the words of t combined, once.
func (l *cgoLibrary) beginSum(t *transfer) *C.struct_dsbo_sum {
	c := t.handle.(*C.struct_dsbo_sum)
	if s := t.sum; !s.started {
		s.started = true
		c.wanted, c.op, c.width, c.count, c.kind = 1, C.int(s.op), C.int(s.width()), C.int(s.words), C.int64_t(s.kind())
	}
	return c
}

func (l *cgoLibrary) closeSum(t *transfer) {
	if c, ok := t.handle.(*C.struct_dsbo_sum); ok {
		C.dsbo_close_sum(l.world, c)
		t.handle = nil
	}
}

func (l *cgoLibrary) pending(t *transfer) []int {
	if t.sum != nil {
		return nil
	}
	var all []int
	for i, m := range t.handle.(*handle).messages {
		if m.done == 0 {
			all = append(all, i)
		}
	}
	return all
}

func (l *cgoLibrary) drop(t *transfer, d time.Duration) bool {
	h, ok := t.handle.(*handle)
	t.handle = nil
	return !ok || C.dsbo_drop(l.world, h.c, C.int64_t(d)) == C.DSBO_DONE
}

func (l *cgoLibrary) notice() notice { return *(*notice)(unsafe.Pointer(&l.world.notice)) }

func (l *cgoLibrary) sendNotice(rank int, n notice) error {
	if C.dsbo_tell(l.world, C.int(rank), (*C.uint64_t)(unsafe.Pointer(&n))) != C.DSBO_DONE {
		return l.failure()
	}
	return nil
}

func (l *cgoLibrary) interrupt() { atomic.StoreInt32((*int32)(&l.world.interrupted), 1) }
func (l *cgoLibrary) quiet()     { atomic.StoreInt32((*int32)(&l.world.interrupted), 0) }

func (l *cgoLibrary) finalize(d time.Duration) (bool, error) {
	switch C.dsbo_leave(l.world, C.int64_t(d)) {
	case C.DSBO_DONE:
		return true, nil
	case C.DSBO_PENDING:
		return false, nil
	default:
		return false, l.failure()
	}
}

func (l *cgoLibrary) abort(code int) { C.MPI_Abort(l.world.comm, C.int(code)) }
