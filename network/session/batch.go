package session

import (
	"context"
	"net"
	"sync"

	"google.golang.org/grpc/credentials"
)

// A batchingTLS makes connections on which each Write above TLS is one below it. TLS alone makes a
// system call of each record of 16 KiB, which on one machine wakes the receiver as often, and costs
// more than the copy here.
type batchingTLS struct {
	credentials.TransportCredentials
	onRefusal func(from net.Addr, reason error) // is called by a server for a connection that it refuses
}

// ClientHandshake implements credentials.TransportCredentials.
func (b batchingTLS) ClientHandshake(ctx context.Context, authority string,
	c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	below := &recordConn{Conn: c}
	conn, info, err := b.TransportCredentials.ClientHandshake(ctx, authority, below)
	return &batchConn{Conn: conn, below: below}, info, err
}

// ServerHandshake implements credentials.TransportCredentials.
func (b batchingTLS) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	below := &recordConn{Conn: c}
	conn, info, err := b.TransportCredentials.ServerHandshake(below)
	if err != nil {
		b.onRefusal(c.RemoteAddr(), err)
	}
	return &batchConn{Conn: conn, below: below}, info, err
}

// Clone implements credentials.TransportCredentials.
func (b batchingTLS) Clone() credentials.TransportCredentials {
	return batchingTLS{b.TransportCredentials.Clone(), b.onRefusal}
}

// A batchConn is a connection above TLS.
type batchConn struct {
	net.Conn
	below *recordConn
	mu    sync.Mutex // owned by one Write
}

// Write implements net.Conn. Once it has failed, it fails.
func (c *batchConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.below.cork()
	n, err := c.Conn.Write(p)
	if e := c.below.flush(); e != nil { // TLS took all of p, but nobody knows how much has arrived
		return 0, e
	}
	return n, err
}

// Close implements net.Conn. It ends a Write that is stuck, and so takes no leave above TLS: gRPC
// has done that.
func (c *batchConn) Close() error { return c.below.Close() }

// A recordConn is a connection below TLS.
type recordConn struct {
	net.Conn

	mu      sync.Mutex
	holding bool
	held    []byte
	err     error // of a flush: its bytes are lost
}

// Write implements net.Conn. Between cork and flush it keeps p.
func (r *recordConn) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.holding {
		return r.Conn.Write(p)
	}
	r.held = append(r.held, p...)
	return len(p), nil
}

func (r *recordConn) cork() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holding = true
}

// flush writes the collected bytes in one call, and ends collecting.
func (r *recordConn) flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.held) > 0 && r.err == nil {
		_, r.err = r.Conn.Write(r.held)
	}
	r.holding, r.held = false, r.held[:0]
	return r.err
}
