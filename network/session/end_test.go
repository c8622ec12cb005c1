package session

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestKilledAsAllLeave: an agent that is killed as the result becomes final ends soon after it is
// started again, also where the others have ended meanwhile.
func TestKilledAsAllLeave(t *testing.T) {
	for delay := time.Duration(0); delay <= 300*time.Millisecond; delay += 20 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			const agent = 2
			w := newTown(t, toy{matrix: ring(5), k: 4, every: 5, length: 16, compute: time.Second}, 0)
			defer w.close()
			for i := range w.now {
				w.start(i)
			}
			isFinal := func() bool {
				w.disks[agent].mu.Lock()
				defer w.disks[agent].mu.Unlock()
				return w.disks[agent].state.Final
			}
			for !isFinal() {
				time.Sleep(10 * time.Millisecond)
			}
			time.Sleep(delay)
			w.kill(agent)
			time.Sleep(10 * time.Second)
			w.start(agent)
			back := time.Now()
			w.await(time.Hour)
			if took := time.Since(back); took > 30*time.Second {
				t.Errorf("killed %v after the result is final: %v until all have ended", delay, took)
			}
			w.wantEnd("killed at the end", 0)
		})
	}
}
