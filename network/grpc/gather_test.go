package grpc_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"dsbo"
	"dsbo/network/grpc"
)

// gather has an agent gather what row says, and checks what it gets.
func gather(ctx context.Context, m *grpc.Mixer, n int, row func(agent int) []float64) error {
	own := m.Local()[0]
	rows := make([][]float64, n)
	for j := range rows {
		rows[j] = slices.Repeat([]float64{math.NaN()}, len(row(own)))
	}
	copy(rows[own], row(own))
	if err := m.Gather(ctx, rows); err != nil {
		return err
	}
	for j := range rows {
		if !slices.Equal(rows[j], row(j)) {
			return fmt.Errorf("agent %d has %v of agent %d; it must be %v", own, rows[j], j, row(j))
		}
	}
	return nil
}

// gatherAll has all agents gather and returns their errors.
func gatherAll(ctx context.Context, ms []*grpc.Mixer, row func(agent int) []float64) []error {
	return together(ms, func(_ int, m *grpc.Mixer) error { return gather(ctx, m, len(ms), row) })
}

// counting returns rows of a length that tell all their entries apart.
func counting(length int) func(agent int) []float64 {
	return func(agent int) []float64 {
		v := make([]float64, length)
		for e := range v {
			v[e] = float64(1000*agent + e)
		}
		return v
	}
}

// TestGatherInParts: rows that do not fit a frame together travel in several; the longest frame is as
// long as MaxFloats allows.
func TestGatherInParts(t *testing.T) {
	const n, most = 5, 7 // the centre of the star passes 4 rows on at once: one entry of each, as 2 of each are 8
	for length, parts := range []int{1, 1, 2, 3} {
		cs := configs(t, newGraph(t, "star", n), nil)
		for i := range cs {
			cs[i].MaxFloats = most
		}
		ms, closeAll := open(t, cs)
		if err := errors.Join(gatherAll(t.Context(), ms, counting(length))...); err != nil {
			t.Error(err)
		}
		for i, m := range ms {
			if got, want := m.Round(), 2*parts; got != want {
				t.Errorf("rows of %d: agent %d is at exchange %d; it must be %d", length, i, got, want)
			}
		}
		closeAll()
	}
}

func TestGatherNeedsRoom(t *testing.T) {
	cs := configs(t, newGraph(t, "star", 5), nil)
	for i := range cs {
		cs[i].MaxFloats = 3
	}
	ms, closeAll := open(t, cs)
	defer closeAll()
	for i, err := range gatherAll(t.Context(), ms, counting(1)) {
		if !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("agent %d ends with %v; it must match dsbo.ErrConfig", i, err)
		}
		if want := "MaxFloats must be at least 4, as so many rows travel together; it is 3"; !strings.Contains(err.Error(), want) {
			t.Errorf("agent %d ends with %v; it must be %q", i, err, want)
		}
	}
}

// TestGatherNotAtTheSamePoint: agents that do not do the same find out, even where lengths agree.
func TestGatherNotAtTheSamePoint(t *testing.T) {
	for _, c := range []struct {
		name      string
		maxFloats [2]int
		do        [2]func(ctx context.Context, m *grpc.Mixer) error
		want      string // in one of the errors
	}{
		{"mix", [2]int{}, [2]func(ctx context.Context, m *grpc.Mixer) error{
			func(ctx context.Context, m *grpc.Mixer) error {
				return m.Mix(ctx, make([]float64, 2), make([]float64, 2))
			},
			func(ctx context.Context, m *grpc.Mixer) error {
				return m.Gather(ctx, [][]float64{make([]float64, 2), make([]float64, 2)})
			},
		}, "mixes and agent 1 gathers rows of 2 numbers|gathers rows of 2 numbers and agent 0 mixes"},
		{"lengths", [2]int{}, [2]func(ctx context.Context, m *grpc.Mixer) error{
			func(ctx context.Context, m *grpc.Mixer) error { return m.Gather(ctx, [][]float64{{1}, {1}}) },
			func(ctx context.Context, m *grpc.Mixer) error { return m.Gather(ctx, [][]float64{{1, 2}, {1, 2}}) },
		}, "gathers rows of 1 numbers and agent 1 gathers rows of 2|gathers rows of 2 numbers and agent 0 gathers rows of 1"},
		{"parts", [2]int{2, 3}, [2]func(ctx context.Context, m *grpc.Mixer) error{
			func(ctx context.Context, m *grpc.Mixer) error {
				return m.Gather(ctx, [][]float64{{1, 2, 3, 4}, {1, 2, 3, 4}})
			},
			func(ctx context.Context, m *grpc.Mixer) error {
				return m.Gather(ctx, [][]float64{{1, 2, 3, 4}, {1, 2, 3, 4}})
			},
		}, "agent 1 sends 3 numbers of the rows that are gathered, where 2 are next|agent 0 sends 2 numbers of the rows that are gathered, where 3 are next"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cs := configs(t, newGraph(t, "path", 2), nil)
			for i := range cs {
				cs[i].MaxFloats = c.maxFloats[i]
			}
			ms, closeAll := open(t, cs)
			defer closeAll()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			errs := together(ms, func(i int, m *grpc.Mixer) error {
				if err := c.do[i](ctx, m); err != nil {
					return err
				}
				return m.Drain(ctx) // the other one has found out
			})
			a, b, _ := strings.Cut(c.want, "|")
			all := fmt.Sprint(errs)
			if !errors.Is(errs[0], dsbo.ErrShape) || !errors.Is(errs[1], dsbo.ErrShape) || !strings.Contains(all, a) && !strings.Contains(all, b) {
				t.Errorf("the agents end with %v; it must match dsbo.ErrShape and %q", all, c.want)
			}
		})
	}
}

// A trigger calls do when the frame of an exchange is sent.
type trigger struct {
	grpc.Sender
	round uint64
	do    func()
}

func (s trigger) Send(frame []byte) error {
	const kind, vector, exchange = 5, 2, 8
	if frame[kind] == vector && binary.LittleEndian.Uint64(frame[exchange:]) == s.round {
		s.do()
	}
	return s.Sender.Send(frame)
}

// TestGatherAgain: one that was interrupted is repeated from where it began, to the same end. What was sent
// before is known to the neighbours, who hold it against the repetition.
func TestGatherAgain(t *testing.T) {
	for _, other := range []bool{false, true} {
		t.Run(fmt.Sprintf("other=%v", other), func(t *testing.T) {
			const n = 5 // in a row: agent 0 cannot finish without agent 4, but does half of the 4 exchanges
			outer, stop := context.WithTimeout(t.Context(), patience)
			defer stop()
			inner, cancel := context.WithCancel(outer)
			cs := configs(t, newGraph(t, "path", n), nil)
			for i := range cs {
				fast(&cs[i])
			}
			cs[0].Wrap = func(_ int, s grpc.Sender) grpc.Sender { return trigger{s, 2, cancel} }
			ms, closeAll := open(t, cs)
			defer closeAll()

			row, errs := counting(3), make([]error, n)
			var wg sync.WaitGroup
			for i := 1; i < n-1; i++ {
				wg.Go(func() { errs[i] = gather(outer, ms[i], n, row) })
			}
			if err := gather(inner, ms[0], n, row); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "gathering since exchange 0") {
				t.Fatalf("error %v; it must match context.Canceled while gathering since exchange 0", err)
			}
			if err := ms[0].Rewind(0); err != nil {
				t.Fatal(err)
			}
			wg.Go(func() { errs[n-1] = gather(outer, ms[n-1], n, row) })
			if !other {
				errs[0] = gather(outer, ms[0], n, row)
				wg.Wait()
				if err := errors.Join(errs...); err != nil {
					t.Error(err)
				}
				return
			}
			err := gather(outer, ms[0], n, func(i int) []float64 {
				v := row(i)
				if i == 0 {
					v[0]++
				}
				return v
			})
			if err == nil { // it was done before agent 1 looked
				err = ms[0].Drain(outer)
			}
			if e, ok := errors.AsType[*grpc.EndedError](err); !ok || e.Agent != 1 || !strings.Contains(err.Error(), grpc.ErrConflict.Error()) {
				t.Errorf("other numbers end with %v; it must be a conflict that agent 1 sees", err)
			}
			wg.Wait()
		})
	}
}

// TestGatherOnTheWire: what is gathered counts among what goes over the wire.
func TestGatherOnTheWire(t *testing.T) {
	ms, closeAll := open(t, configs(t, newGraph(t, "path", 2), nil))
	defer closeAll()
	const length = 1000
	if err := errors.Join(gatherAll(t.Context(), ms, counting(length))...); err != nil {
		t.Fatal(err)
	}
	for i, m := range ms {
		if got := m.Status(); got.Vectors != 0 || got.Neighbours[0].BytesReceived < 8*length {
			t.Errorf("agent %d: %+v; nothing must count as mixed and at least %d bytes as received", i, got, 8*length)
		}
	}
}
