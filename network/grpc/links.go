package grpc

import (
	"context"
	"sync"
	"time"

	rpc "google.golang.org/grpc"
)

// links are the connections of an agent: its server, and the streams that it opens itself. They do
// the input and output of the package, and hold the mixer's lock for single looks at its
// state alone.
type links struct {
	m      *Mixer         // the agent's mixer
	server *rpc.Server    // of the neighbours that dial
	work   sync.WaitGroup // goroutines of connections

	// dialing ends when no new stream is wanted, streams when none may go on.
	dialing, streams  context.Context
	stopDial, stopAll context.CancelFunc // end dialing, and streams too

	// Guarded by the mixer's lock.
	refused  int64
	refusals map[string]time.Time // when a refusal was logged last, by host and reason
}

func newLinks(m *Mixer) *links {
	l := &links{m: m, refusals: map[string]time.Time{}}
	l.dialing, l.stopDial = context.WithCancel(context.Background())
	l.streams, l.stopAll = context.WithCancel(context.Background())
	return l
}
