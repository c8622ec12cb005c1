package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/internal/cli"
	"dsbo/network/grpc/grpctest"
)

// few is the share of frames that meet each fault.
var few = grpctest.Rates{Drop: 0.02, Double: 0.02, Flip: 0.02, Delay: 0.02}

// TestKilledAgents: every agent is killed again and again, also as it writes a checkpoint, and finds its newest one spoilt, over links
// that lose, double, damage and delay frames. With much kept, who comes back is sent what it has missed; with little, others go back.
func TestKilledAgents(t *testing.T) {
	for _, tt := range []struct {
		name         string
		agents, keep int
		kills        int
		short        bool
	}{
		{"much kept", 5, 1024, 3, false},
		{"little kept", 5, 60, 3, false},
		{"a few", 3, 60, 1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if testing.Short() != tt.short {
				t.Skip("the other size")
			}
			t.Parallel()
			f := newFleet(t, tt.agents, []string{"-K=12", "-eval-every=3", "-checkpoint-every=2"}, fmt.Sprintf("-keep-frames=%d", tt.keep))
			f.usual.Rates = few
			r := rand.New(rand.NewPCG(7, uint64(tt.keep)))
			plans := make([][]mischief, tt.agents)
			for i := range plans {
				for k := range tt.kills {
					m := mischief{Frames: 1 + r.Int64N(500)}
					if k == 1 || tt.kills == 1 {
						m.File = "checkpoint"
					}
					plans[i] = append(plans[i], m)
				}
			}
			halves := f.campaign(plans)
			t.Logf("%d processes, %d of which were killed as they wrote a checkpoint", len(f.lives), halves)
			back := 0
			for _, l := range f.lives {
				back += strings.Count(strings.Join(l.said(), "\n"), `"msg":"going back"`)
			}
			if tt.keep < 100 && back == 0 {
				t.Errorf("no agent went back with %d exchanges kept", tt.keep)
			}
			f.wantSame()
		})
	}
}

// campaign starts all agents, and each again after it was killed until nothing goes wrong with it any more. It returns how many were killed as they
// wrote a file.
func (f *fleet) campaign(plans [][]mischief) (halves int) {
	f.t.Helper()
	wear := spoiler{f: f}
	begin := func(agent int) {
		var m mischief
		if len(plans[agent]) > 0 {
			m = plans[agent][0]
		}
		f.start(agent, m)
	}
	for i := range f.n {
		begin(i)
	}
	for left := f.n; left > 0; {
		l := f.next()
		code, plan := l.code(), &plans[l.agent]
		switch {
		case code == cli.OK && len(*plan) == 0:
			left--
		case code == killed && len(*plan) > 0:
			halves += wear.temporary(l.agent)
			wear.spoil(l.agent)
			*plan = (*plan)[1:]
			begin(l.agent)
		default:
			f.t.Fatalf("agent %d ended with %s and was to be killed %d times more", l.agent, l.cmd.ProcessState, len(*plan))
		}
	}
	return halves
}

// A spoiler does something to the newest checkpoint of each agent that was killed, in turn.
type spoiler struct {
	f     *fleet
	count int
}

func (s *spoiler) spoil(agent int) {
	paths, err := filepath.Glob(filepath.Join(string(s.f.folder(agent)), "checkpoint.*"))
	if err != nil {
		s.f.t.Fatal(err)
	}
	if len(paths) == 0 {
		return
	}
	newest := paths[len(paths)-1]
	data, err := os.ReadFile(newest)
	if err != nil {
		s.f.t.Fatal(err)
	}
	switch s.count++; s.count % 5 {
	case 0: // it stays
	case 1:
		err = os.Remove(newest)
	case 2:
		data = bytes.Clone(data)
		data[len(data)/2] ^= 1
		err = os.WriteFile(newest, data, 0o644)
	case 3:
		err = os.Truncate(newest, int64(len(data)/3))
	case 4: // as if the agent had been killed while it wrote it
		half := filepath.Join(filepath.Dir(newest), "."+filepath.Base(newest)+".1.tmp")
		if err = os.Rename(newest, half); err == nil {
			err = os.Truncate(half, int64(len(data)/2))
		}
	}
	if err != nil {
		s.f.t.Fatal(err)
	}
}

// temporary returns how many temporary files an agent has left behind.
func (s *spoiler) temporary(agent int) int {
	paths, err := filepath.Glob(filepath.Join(string(s.f.folder(agent)), ".*.tmp"))
	if err != nil {
		s.f.t.Fatal(err)
	}
	return len(paths)
}
