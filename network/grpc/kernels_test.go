package grpc_test

import (
	"context"
	"sync"
	"testing"

	"dsbo"
	"dsbo/data"
	"dsbo/internal/kernel/kerneltest"
	"dsbo/network"
	"dsbo/network/grpc/grpctest"
)

// TestOnEveryPath: faults change no bit, whichever kernels do the work. The exchange itself uses them
// where it weighs long vectors, and the methods in all that they compute.
func TestOnEveryPath(t *testing.T) {
	kerneltest.Everywhere(t, "^Test(FaultyMethod|KilledAgents|SameBitsAsLocal)$")
}

// TestFaultyMethod: MA-DSBO over faulty links, with vectors long enough that the exchange calls kernels,
// ends in the state that it has in one process.
func TestFaultyMethod(t *testing.T) {
	const n, iterations = 4, 8
	synthetic := data.Synthetic{Agents: n, Features: 100, Train: 40, Val: 40, Test: 1, Seed: 3}
	w := newGraph(t, "complete", n)
	cs := configs(t, w, identities(t, n))
	faults := make([]*grpctest.Faults, n)
	for i := range cs {
		fast(&cs[i])
		faults[i] = grpctest.New(uint64(i), grpctest.Rates{Drop: 0.05, Double: 0.1, Flip: 0.05, Delay: 0.05})
		cs[i].Wrap = faults[i].Wrap
	}
	ms, closeAll := open(t, cs)
	defer closeAll()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	l := network.NewLocal(w)
	got, want := make([][]float64, n), make([][]float64, n)
	var wg sync.WaitGroup
	run := func(i int, m dsbo.Mixer, end *[]float64) {
		a, err := runMADSBO(ctx, synthetic, i, m, iterations)
		if err != nil {
			t.Errorf("agent %d: %v", i, err)
			cancel()
			return
		}
		for _, part := range a.State() {
			*end = append(*end, part.Value...)
		}
	}
	for i, m := range ms {
		wg.Go(func() { run(i, l.Mixer(i), &want[i]) })
		wg.Go(func() {
			run(i, m, &got[i])
			if err := m.Drain(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	wantSameBits(t, got, want)
	closeAll() // or a frame would be counted between the two sides' numbers
	wantFaults(t, ms, faults)
}
