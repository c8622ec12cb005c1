package main

import (
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// What is sent arrives in its order, within the latency, and no later because there is much of it.
func TestLate(t *testing.T) {
	const latency, every, messages = 200 * time.Millisecond, time.Millisecond, 5000
	synctest.Test(t, func(t *testing.T) {
		in, src := net.Pipe()
		dst, out := net.Pipe()
		ended := make(chan error)
		go func() { ended <- late(dst, src, latency, rand.New(rand.NewPCG(1, 2))) }()
		start := time.Now()
		go func() {
			for i := range messages {
				time.Sleep(time.Until(start.Add(time.Duration(i) * every)))
				if _, err := in.Write([]byte{byte(i), byte(i >> 8)}); err != nil {
					t.Error(err)
				}
			}
			in.Close()
		}()
		sum := time.Duration(0)
		for i := range messages {
			var got [2]byte
			if _, err := io.ReadFull(out, got[:]); err != nil || int(got[0])+int(got[1])<<8 != i {
				t.Fatalf("message %d is %d, %v", i, got, err)
			}
			took := time.Since(start) - time.Duration(i)*every
			if sum += took; took < 0 || took > latency {
				t.Fatalf("message %d took %v", i, took)
			}
		}
		// A message waits for those before it, of which some 200 are under way: it takes nearly all of the latency.
		if mean := sum / messages; mean < latency*4/5 {
			t.Errorf("messages took %v on average", mean)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// A message alone takes half of the latency on average: of 1000, within 4 standard errors, latency/√12/√1000 each.
func TestLateAlone(t *testing.T) {
	const latency, messages = 200 * time.Millisecond, 1000
	synctest.Test(t, func(t *testing.T) {
		in, src := net.Pipe()
		dst, out := net.Pipe()
		go func() { _ = late(dst, src, latency, rand.New(rand.NewPCG(3, 4))) }()
		start := time.Now()
		for range messages {
			if _, err := in.Write([]byte{1}); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		mean := time.Since(start) / messages
		if off := mean - latency/2; max(off, -off) > 8*time.Millisecond {
			t.Errorf("messages took %v on average", mean)
		}
		in.Close()
		synctest.Wait()
	})
}
