package main

import (
	"context"
	"runtime"
	"syscall"
	"testing"
)

func cpu() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6
}

func BenchmarkTask(b *testing.B) {
	runtime.GOMAXPROCS(2)
	for _, t := range tasks() {
		b.Run(t.name, func(b *testing.B) {
			m, d, err := t.problem(agents)
			if err != nil {
				b.Fatal(err)
			}
			c, err := newCrew(m, d, t)
			if err != nil {
				b.Fatal(err)
			}
			c.iterate(context.Background(), 0)
			k := 0
			b.ReportAllocs()
			from := cpu()
			for b.Loop() {
				k++
				if _, err := c.iterate(context.Background(), k); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((cpu()-from)/float64(b.N), "cpu-ms/op")
		})
	}
}
