package grpc_test

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"dsbo/network"
	dsbogrpc "dsbo/network/grpc"
	"dsbo/network/pki"
)

// Three agents, here in one process, exchange their numbers over connections with certificates.
func Example() {
	g, err := network.New("path", 3, network.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	from, until := time.Now().Add(-time.Minute), time.Now().Add(time.Hour)
	authority, err := pki.NewAuthority("example", from, until)
	if err != nil {
		fmt.Println(err)
		return
	}
	addresses, listeners := make([]string, 3), make([]net.Listener, 3)
	for i := range listeners {
		if listeners[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			fmt.Println(err)
			return
		}
		addresses[i] = listeners[i].Addr().String()
	}
	x := [][]float64{{0}, {6}, {0}}
	agent := func(i int) error {
		id, err := authority.Issue(i, from, until, "example")
		if err != nil {
			return err
		}
		m, err := dsbogrpc.Open(dsbogrpc.Config{Agent: i, Matrix: g.W, Run: "example", Addresses: addresses,
			Listener: listeners[i], Identity: id})
		if err != nil {
			return err
		}
		defer m.Close()
		for range 2 {
			if err := m.Mix(context.Background(), x[i], x[i]); err != nil {
				return err
			}
		}
		return m.Drain(context.Background())
	}
	var agents sync.WaitGroup
	for i := range x {
		agents.Go(func() {
			if err := agent(i); err != nil {
				fmt.Println(err)
			}
		})
	}
	agents.Wait()
	fmt.Printf("%.3f\n", x)
	// Output: [[2.000] [2.000] [2.000]]
}
