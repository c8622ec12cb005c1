package grpc

import (
	"context"
	"net"
	"sync"

	"google.golang.org/grpc/credentials"
)

// A batched makes connections on which each Write above TLS is one below it. TLS alone makes a system call of each
// record of 16 KiB, which on one machine wakes the receiver as often, and costs more than the copy here.
type batched struct {
	credentials.TransportCredentials
	buffers *sync.Pool // of *[]byte
}

// ClientHandshake implements credentials.TransportCredentials.
func (b batched) ClientHandshake(ctx context.Context, authority string, c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	below := &records{Conn: c, buffers: b.buffers}
	conn, info, err := b.TransportCredentials.ClientHandshake(ctx, authority, below)
	if err != nil {
		return nil, nil, err
	}
	return &batchConn{Conn: conn, below: below}, info, nil
}

// ServerHandshake implements credentials.TransportCredentials.
func (b batched) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	below := &records{Conn: c, buffers: b.buffers}
	conn, info, err := b.TransportCredentials.ServerHandshake(below)
	if err != nil {
		return nil, nil, err
	}
	return &batchConn{Conn: conn, below: below}, info, nil
}

// Clone implements credentials.TransportCredentials.
func (b batched) Clone() credentials.TransportCredentials {
	return batched{b.TransportCredentials.Clone(), b.buffers}
}

// A batchConn is a connection above TLS.
type batchConn struct {
	net.Conn
	below *records

	turn            sync.Mutex // of one Write
	mu              sync.Mutex
	writing, closed bool
}

// Write implements net.Conn. Once it has failed, it fails.
func (c *batchConn) Write(p []byte) (int, error) {
	c.turn.Lock()
	defer c.turn.Unlock()
	if !c.begin() {
		return 0, net.ErrClosed
	}
	defer c.end()
	c.below.hold()
	n, err := c.Conn.Write(p)
	if e := c.below.flush(); e != nil {
		return 0, e
	}
	return n, err
}

func (c *batchConn) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writing = !c.closed
	return c.writing
}

func (c *batchConn) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writing = false
}

// Close implements net.Conn. Like TLS it takes no leave while a Write, which may be stuck, is under way; TLS
// does not know of those that flush.
func (c *batchConn) Close() error {
	c.mu.Lock()
	writing := c.writing
	c.closed = true
	c.mu.Unlock()
	if writing {
		return c.below.Close()
	}
	return c.Conn.Close()
}

// A records is a connection below TLS.
type records struct {
	net.Conn
	buffers *sync.Pool

	mu   sync.Mutex
	held *[]byte // nil if records are not held
	err  error   // of a flush: what was held is lost
}

// Write implements net.Conn. It keeps p for flush after hold.
func (r *records) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held == nil {
		return r.Conn.Write(p)
	}
	*r.held = append(*r.held, p...)
	return len(p), nil
}

func (r *records) hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = r.buffers.Get().(*[]byte)
}

func (r *records) flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(*r.held) > 0 && r.err == nil {
		_, r.err = r.Conn.Write(*r.held)
	}
	*r.held = (*r.held)[:0]
	r.buffers.Put(r.held)
	r.held = nil
	return r.err
}
