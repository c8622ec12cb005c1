package simulate

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dsbo/experiment"
	"dsbo/internal/must"
	"dsbo/membership"
	"dsbo/runs"
)

// TestMembers: whole agents go on without two that are lost at different moments, and let them in again: all end with one log and with the
// bits of its replay in one process.
func TestMembers(t *testing.T) {
	for _, method := range [][]string{
		{"-algorithm=newtoncg", "-K=40", "-x0=0"},
		{"-algorithm=dsoba", "-K=80", "-alpha=0.1", "-beta=0.1", "-gamma=0.1"},
	} {
		t.Run(method[0], func(t *testing.T) {
			if testing.Short() && method[0] == "-algorithm=newtoncg" {
				t.Skip("many exchanges")
			}
			c := Case{
				Seed: 7, Agents: 8, Latency: 20 * time.Millisecond, Step: 5 * time.Second, Sync: 10 * time.Millisecond,
				Flags:     slices.Concat([]string{"-agents=8", "-graph=exponential", "-evaluate=off", "-checkpoint-every=2", "-eval-every=4"}, method),
				Heartbeat: time.Second, SilentAfter: 5 * time.Second, Patience: 10 * time.Minute, KeepFrames: 1024,
				Quorum: 5, AbsentAfter: 2 * time.Minute,
				Calm: time.Minute, Pause: 1e6 * time.Hour, Limit: 30 * time.Minute,
			}
			var log membership.Log
			ends := make([]*Reference, c.Agents)
			synctest.Test(t, func(t *testing.T) {
				w, closeAll := must.Get2(c.world())
				defer closeAll()
				var script sync.WaitGroup
				script.Go(func() {
					time.Sleep(time.Minute)
					w.machines[3].lose(true, 150*time.Second)
					time.Sleep(20 * time.Second)
					w.machines[5].lose(false, 150*time.Second)
				})
				err := w.live()
				script.Wait()
				if err != nil {
					for _, l := range w.trace.sorted() {
						t.Logf("%v", l)
					}
					t.Fatal(err)
				}
				for i, m := range w.machines {
					ends[i] = must.Get(read(runs.Folder(m.dir)))
					own := must.Get(runs.Folder(m.dir).ReadChanges())
					if i == 0 {
						log = own
					}
					if !bytes.Equal(own.Bytes(), log.Bytes()) {
						t.Errorf("agent %d has the log\n%s, agent 0\n%s", i, own.Bytes(), log.Bytes())
					}
				}
			})
			t.Logf("%s", log.Bytes())
			if len(log) < 2 || len(log.Last(c.Agents).Members) != c.Agents {
				t.Errorf("two agents must leave and return")
			}
			dir := t.TempDir()
			path := filepath.Join(dir, "log.jsonl")
			must.OK(os.WriteFile(path, log.Bytes(), 0o600))
			out := filepath.Join(dir, "run")
			must.OK(experiment.Run(context.Background(), quadratic{}, slices.Concat(c.Flags, fixed, []string{"-out=" + out, "-membership=" + path}), nil, io.Discard))
			want := must.Get(read(runs.Folder(out)))
			for i, end := range ends {
				for name, data := range want.files {
					if !bytes.Equal(end.files[name], data) {
						t.Errorf("%s of agent %d has other bytes than the replay", name, i)
					}
				}
			}

		})
	}
}
