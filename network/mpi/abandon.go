package mpi

import (
	"context"
	"sync/atomic"
	"time"
)

// begun reports whether this process has called Init.
var begun atomic.Bool

// How long Abandon waits for the others to start, and then to fail as this process did, which is
// the rule.
const (
	abandonTime = 30 * time.Second
	failTime    = 2 * time.Second
)

// Abandon ends, with this exit status, the job of a process that fails before it has called [Init]:
// the others wait for it there. Where the launcher sees to that, as Open MPI's does, it returns at
// once. MPICH's waits for ever: therefore the process becomes a rank, to abort the job, whose
// status is then this one or, by chance, the status of a process which the launcher kills for it.
// Abandon returns when all have failed, when nobody comes, and where Init has been called.
func Abandon(status int) {
	if launcherEndsJobs || begun.Load() {
		return
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w, err := Init()
		if err != nil { // no notice can be sent
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), failTime)
		defer cancel()
		if w.Close(ctx) != nil {
			w.Abort(status)
		}
	}()
	select {
	case <-ended:
	case <-time.After(abandonTime):
	}
}
