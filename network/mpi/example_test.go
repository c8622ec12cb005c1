package mpi_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"dsbo/network"
	"dsbo/network/mpi"
)

// The agents of a ring average, on as many ranks as mpirun starts.
func Example() {
	world, err := mpi.Init()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := average(context.Background(), world); err != nil {
		fmt.Fprintln(os.Stderr, err)
		world.Abort(1) // the other ranks may be waiting for this one
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := world.Close(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		world.Abort(1)
	}
}

func average(ctx context.Context, world *mpi.World) error {
	ring, err := network.Ring(8, 0.5)
	if err != nil {
		return err
	}
	x, err := world.Exchange(ctx, ring.W)
	if err != nil {
		return err
	}
	defer x.Close()
	values := make([][]float64, 8)
	for i := range values {
		values[i] = []float64{float64(i)}
	}
	var wg sync.WaitGroup
	for _, i := range x.Local() {
		wg.Go(func() {
			for range 50 {
				if err := x.Mixer(i).Mix(ctx, values[i], values[i]); err != nil {
					x.Fail(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if err := x.Gather(ctx, values); err != nil {
		return err
	}
	if world.Rank() == 0 {
		fmt.Println(values)
	}
	return nil
}
