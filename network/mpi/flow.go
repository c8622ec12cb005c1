package mpi

import (
	"errors"
	"fmt"
	"time"

	"dsbo"
)

// A flow is a transfer that an exchange repeats.
type flow struct {
	transfer
	x        *Exchange
	incoming []frame // of the receives, which are the first messages
}

// newFlow returns a flow of what is received and sent.
func newFlow(x *Exchange, timeout time.Duration, receive, send []parcel) *flow {
	f := &flow{x: x, incoming: make([]frame, len(receive))}
	f.transfer = transfer{blocks: x.blocks, timeout: timeout, failed: func(err error) { x.Fail(f.failure(err)) }}
	for i, p := range receive {
		f.incoming[i].lib = x.world.lib
		f.messages = append(f.messages, message{peer: p.peer, agent: p.agent})
	}
	for _, p := range send {
		f.messages = append(f.messages, message{send: true, peer: p.peer, agent: p.agent})
	}
	return f
}

func (f *flow) receives() []message { return f.messages[:len(f.incoming)] }
func (f *flow) sends() []message    { return f.messages[len(f.incoming):] }

// expect makes room for n numbers in receive i.
func (f *flow) expect(i, n int) {
	f.incoming[i].resize(n)
	f.messages[i].words = f.incoming[i].message()
}

// failure says why a transfer cannot be completed.
func (f *flow) failure(err error) error {
	if l, ok := errors.AsType[*lengthError](err); ok {
		err = dsbo.ShapeErrorf("ranks must send equally many numbers; %s sends %d numbers where this rank has %d",
			f.blocks.label(f.messages[l.message].peer), l.words, f.incoming[l.message].n)
	}
	return fmt.Errorf("rank %d: %w", f.x.world.rank, err)
}

func (f *flow) release() {
	for i := range f.incoming {
		f.incoming[i].release()
	}
}
