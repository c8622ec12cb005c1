package relay_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"dsbo/network/pki"
	"dsbo/network/relay"
)

// Agent 5, which nobody can reach, waits at a relay, where agent 2 connects to it. The relay can
// read what they exchange here: package grpc makes a TLS connection of it, from end to end.
func Example() {
	from, until := time.Now().Add(-time.Minute), time.Now().Add(time.Hour)
	authority, err := pki.NewAuthority("example", from, until)
	if err != nil {
		fmt.Println(err)
		return
	}
	folder, err := os.MkdirTemp("", "relay")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	if err := authority.SaveHost(folder, "relay", "127.0.0.1", from, until); err != nil {
		fmt.Println(err)
		return
	}
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	var work sync.WaitGroup
	defer work.Wait()
	defer stop()
	work.Go(func() {
		_ = relay.Serve(ctx, door, relay.Options{
			Trust:       func() (*pki.Trust, error) { return authority.Trust(), nil },
			Certificate: func() (*tls.Certificate, error) { return pki.LoadHost(folder, "relay") },
		})
	})
	client := func(agent int) relay.Client {
		return relay.Client{Address: door.Addr().String(), Run: "example", Identity: func() *pki.Identity {
			id, err := authority.Issue(agent, from, until)
			if err != nil {
				panic(err) // there is no randomness for a key
			}
			return id
		}}
	}
	listener := client(5).Listen(slog.New(slog.DiscardHandler))
	defer listener.Close()
	work.Go(func() {
		conn, err := listener.Accept()
		if err == nil {
			_, _ = io.WriteString(conn, "here I am")
			conn.Close()
		}
	})
	for {
		conn, err := client(2).Dial(ctx, 5)
		if err != nil { // agent 5 is not there yet
			continue
		}
		text, err := io.ReadAll(conn)
		fmt.Println(string(text), err)
		conn.Close()
		return
	}
	// Output: here I am <nil>
}
