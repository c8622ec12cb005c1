package session

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/network/pki"

	"google.golang.org/grpc/credentials"
)

// A watchedConn tells of each Write before it begins.
type watchedConn struct {
	net.Conn
	writes chan int // lengths
	fails  error    // what Write returns, if not nil
}

func (c *watchedConn) Write(p []byte) (int, error) {
	c.writes <- len(p)
	if c.fails != nil {
		return 0, c.fails
	}
	return c.Conn.Write(p)
}

// batchPair returns both ends of a connection after the handshake, and what is below the client's.
func batchPair(t *testing.T) (client, server net.Conn, below *watchedConn) {
	t.Helper()
	ids := identities(2)
	c, s := net.Pipe()
	t.Cleanup(func() { c.Close(); s.Close() })
	below = &watchedConn{Conn: c, writes: make(chan int, 100)}
	done := make(chan error)
	go func() {
		var err error
		server, _, err = batchingTLS{credentials.NewTLS(ids[1].Server()), nil}.ServerHandshake(s)
		done <- err
	}()
	client, info, err := batchingTLS{credentials.NewTLS(ids[0].Client(1)), nil}.ClientHandshake(t.Context(),
		pki.Name(1), below)
	testkit.OK(errors.Join(err, <-done))
	if _, ok := info.(credentials.TLSInfo); !ok {
		t.Fatalf("%T; it must be credentials.TLSInfo, which names the neighbour", info)
	}
	for len(below.writes) > 0 {
		<-below.writes
	}
	return client, server, below
}

// TestBatchedWrite: what is written above TLS at once is so below it, however many records
// it takes.
func TestBatchedWrite(t *testing.T) {
	client, server, below := batchPair(t)
	for _, length := range []int{1, 100 << 10, 3} {
		want := bytes.Repeat([]byte{byte(length), 7}, length)
		done := make(chan error)
		go func() {
			_, err := client.Write(want)
			done <- err
		}()
		got := make([]byte, len(want))
		_, err := io.ReadFull(server, got)
		testkit.OK(errors.Join(err, <-done))
		if !bytes.Equal(got, want) {
			t.Errorf("%d bytes did not come as they were sent", len(want))
		}
		if n := len(below.writes); n != 1 {
			t.Errorf("%d writes of %d bytes; there must be 1", n, len(want))
		}
		<-below.writes
	}
}

// TestBatchedClose: Close does not wait for a Write that nobody reads, which fails then.
func TestBatchedClose(t *testing.T) {
	client, _, below := batchPair(t)
	done := make(chan error)
	go func() {
		_, err := client.Write(make([]byte, 100<<10))
		done <- err
	}()
	<-below.writes
	testkit.OK(client.Close())
	if err := <-done; err == nil {
		t.Error("a Write that was stuck has succeeded")
	}
	if len(below.writes) != 0 {
		t.Errorf("%d more writes below; there must be none", len(below.writes))
	}
	if _, err := client.Write([]byte{1}); err == nil {
		t.Error("a Write after Close has succeeded")
	}
}

// TestBatchedFailure: what was lost in a Write is an error of all that follow.
func TestBatchedFailure(t *testing.T) {
	client, _, below := batchPair(t)
	below.fails = context.DeadlineExceeded
	for range 2 {
		if n, err := client.Write([]byte{1}); n != 0 || !errors.Is(err, below.fails) {
			t.Errorf("%d, %v; it must be 0, %v", n, err, below.fails)
		}
	}
	if n := len(below.writes); n != 1 {
		t.Errorf("%d writes below; there must be 1", n)
	}
}
