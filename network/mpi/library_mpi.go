//go:build mpi && cgo

package mpi

// #include "library_mpi.h"
// #include <stdlib.h>
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"dsbo"
)

// cgoLibrary is MPI itself. Words lie in memory from malloc: it stays in place, and fast networks
// that keep memory registered notice when it is freed, as they do not with Go's.
type cgoLibrary struct{ world *C.struct_dsbo_world }

// newLibrary starts MPI on this goroutine's thread, and returns the calls into it.
func newLibrary() (library, error) {
	runtime.LockOSThread() // the only thread that may call MPI
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
		return nil, failure(l.world.function, l.world.error)
	}
}

func failure(function *C.char, code C.int) error {
	if function == nil {
		return errors.New("MPI_Init_thread failed")
	}
	text := (*C.char)(C.malloc(C.MPI_MAX_ERROR_STRING))
	defer C.free(unsafe.Pointer(text))
	var n C.int
	C.MPI_Error_string(code, text, &n)
	return fmt.Errorf("%s: %s", C.GoString(function), C.GoStringN(text, n))
}

func (l *cgoLibrary) position() (rank, size int) { return int(l.world.rank), int(l.world.size) }

func (l *cgoLibrary) open(vectors []int32) channel {
	return &cgoChannel{C.dsbo_open(l.world, (*C.int)(unsafe.SliceData(vectors)))}
}

func (l *cgoLibrary) poll(d time.Duration) bool { return C.dsbo_poll(l.world, C.int64_t(d)) != 0 }
func (l *cgoLibrary) interrupt()                { atomic.StoreInt32((*int32)(&l.world.interrupted), 1) }
func (l *cgoLibrary) quiet()                    { atomic.StoreInt32((*int32)(&l.world.interrupted), 0) }

// finalize ends MPI if all ranks leave within d; false if they have not yet.
func (l *cgoLibrary) finalize(d time.Duration) (bool, error) {
	switch C.dsbo_leave(l.world, C.int64_t(d)) {
	case C.DSBO_DONE:
		return true, nil
	case C.DSBO_PENDING:
		return false, nil
	default:
		return false, failure(l.world.function, l.world.error)
	}
}

func (l *cgoLibrary) abort(code int) { C.MPI_Abort(l.world.comm, C.int(code)) }

// A cgoChannel is a channel of MPI.
type cgoChannel struct{ c *C.struct_dsbo_channel }

func (c *cgoChannel) memory(out, in int) (own, theirs []byte, err error) {
	if C.dsbo_memory(c.c, C.int64_t(max(out, 1)), C.int64_t(max(in, 1))) != C.DSBO_DONE { // MPI wants an address
		return nil, nil, fmt.Errorf("there is no memory for %d bytes", out+in)
	}
	return unsafe.Slice((*byte)(c.c.out), out), unsafe.Slice((*byte)(c.c.in), in), nil
}

func (c *cgoChannel) begin(o operation) {
	c.c.op, c.c.width, c.c.count, c.c.kind = C.int(o.op), C.int(o.width()), C.int(o.length), C.int64_t(o.kind())
	c.c.wanted = 1
}

// result returns the outcome of the channel's operation, once, and pending until it is done.
func (c *cgoChannel) result() (state, error) {
	s := c.c.state
	switch c.c.state = C.DSBO_PENDING; s {
	case C.DSBO_PENDING:
		return pending, nil
	case C.DSBO_DONE:
		return done, nil
	case C.DSBO_UNLIKE:
		return unlike, nil
	case C.DSBO_LEFT:
		return left, nil
	}
	return pending, failure(c.c.function, c.c.error)
}

func (c *cgoChannel) notice() *notice { return (*notice)(unsafe.Pointer(&c.c.notice)) }

func (c *cgoChannel) tellLeft() {
	c.c.leaves, c.c.state = 1, C.DSBO_PENDING
	if c.c.stage <= C.DSBO_IDLE {
		c.c.wanted = 0 // no other rank has heard of it
	}
}

func (c *cgoChannel) release() { c.c.released = 1 }
