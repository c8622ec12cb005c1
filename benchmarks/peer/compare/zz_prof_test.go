package main

import (
	"context"
	"runtime"
	"testing"
)

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
			for b.Loop() {
				k++
				if _, err := c.iterate(context.Background(), k); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
