package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"time"
)

// delay listens at agent i's address in the cluster file and connects whoever comes to the agent, until ctx ends.
func (t *trial) delay(ctx context.Context, i int) error {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", t.port+i))
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { listener.Close() })
	go func() {
		for number := uint64(0); ; number++ {
			from, err := listener.Accept()
			if err != nil {
				return // ctx has ended
			}
			go t.connect(from, i, number)
		}
	}()
	return nil
}

// connect connects one that has come to agent i, the number-th, with the agent, until either end is closed.
func (t *trial) connect(from net.Conn, i int, number uint64) {
	defer from.Close()
	to, err := net.Dial("tcp", t.address(i))
	if err != nil {
		return // nobody is there
	}
	defer to.Close()
	there, back := make(chan error), make(chan error)
	draws := func(direction uint64) *rand.Rand {
		return rand.New(rand.NewPCG(t.seed, uint64(i)<<40+number<<1+direction))
	}
	go func() { there <- late(to, from, t.latency, draws(0)) }()
	go func() { back <- late(from, to, t.latency, draws(1)) }()
	select { // after one end is gone, what is under way to it has nobody to read it
	case <-there:
		to.Close()
		from.Close()
		<-back
	case <-back:
		to.Close()
		from.Close()
		<-there
	}
}

// A piece is what has been read at once, and when it is to be there.
type piece struct {
	due  time.Time
	data []byte
}

// late copies from src to dst. What is read at once is delayed by a time that is uniform from 0 to latency, or for as long as what was
// read before it; as much as comes may be under way, up to 1024 pieces of 64 KiB.
func late(dst io.Writer, src io.Reader, latency time.Duration, draws *rand.Rand) error {
	pieces := make(chan piece, 1024)
	written := make(chan error, 1)
	go func() {
		var err error
		for p := range pieces {
			if err == nil {
				time.Sleep(time.Until(p.due))
				_, err = dst.Write(p.data)
			}
		}
		written <- err
	}()
	var last time.Time
	buffer := make([]byte, 64<<10)
	for {
		n, err := src.Read(buffer)
		if n > 0 {
			due := time.Now().Add(time.Duration(draws.Int64N(int64(latency) + 1)))
			if due.Before(last) {
				due = last
			}
			last = due
			pieces <- piece{due, append([]byte{}, buffer[:n]...)}
		}
		if err != nil {
			close(pieces)
			return <-written
		}
	}
}
