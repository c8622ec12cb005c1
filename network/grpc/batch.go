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
	refused func(from net.Addr, reason error) // is called by a server for a connection that it refuses
}

// ClientHandshake implements credentials.TransportCredentials.
func (b batched) ClientHandshake(ctx context.Context, authority string, c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	below := &records{Conn: c}
	conn, info, err := b.TransportCredentials.ClientHandshake(ctx, authority, below)
	return &batchConn{Conn: conn, below: below}, info, err
}

// ServerHandshake implements credentials.TransportCredentials.
func (b batched) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	below := &records{Conn: c}
	conn, info, err := b.TransportCredentials.ServerHandshake(below)
	if err != nil {
		b.refused(c.RemoteAddr(), err)
	}
	return &batchConn{Conn: conn, below: below}, info, err
}

// Clone implements credentials.TransportCredentials.
func (b batched) Clone() credentials.TransportCredentials {
	return batched{b.TransportCredentials.Clone(), b.refused}
}

// A batchConn is a connection above TLS.
type batchConn struct {
	net.Conn
	below *records
	mu    sync.Mutex // held by one Write
}

// Write implements net.Conn. Once it has failed, it fails.
func (c *batchConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.below.hold()
	n, err := c.Conn.Write(p)
	if e := c.below.flush(); e != nil {
		return 0, e
	}
	return n, err
}

// Close implements net.Conn. It ends a Write that is stuck, and so takes no leave above TLS: gRPC has done that.
func (c *batchConn) Close() error { return c.below.Close() }

// A records is a connection below TLS.
type records struct {
	net.Conn

	mu      sync.Mutex
	holding bool
	held    []byte
	err     error // of a flush: what was held is lost
}

// Write implements net.Conn. It keeps p for flush after hold.
func (r *records) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.holding {
		return r.Conn.Write(p)
	}
	r.held = append(r.held, p...)
	return len(p), nil
}

func (r *records) hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holding = true
}

func (r *records) flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.held) > 0 && r.err == nil {
		_, r.err = r.Conn.Write(r.held)
	}
	r.holding, r.held = false, r.held[:0]
	return r.err
}
