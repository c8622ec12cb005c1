package session

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestBrokenEdge: an edge that is broken for 5 s in each minute costs a run with iterations of 20 s
// less than a twentieth of its time, and ends no session.
func TestBrokenEdge(t *testing.T) {
	const iterations = 30
	took := func(broken bool) (d time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			w := newToyNetwork(t,
				toy{matrix: ring(5), k: iterations, every: 5, length: 16, compute: 20 * time.Second}, 0)
			defer w.close()
			began := time.Now()
			for i := range w.now {
				w.start(i)
			}
			for broken && time.Since(began) < iterations*20*time.Second {
				time.Sleep(17 * time.Second)
				w.cut(1, 2, true)
				time.Sleep(5 * time.Second)
				w.cut(1, 2, false)
				time.Sleep(38 * time.Second)
			}
			w.await(time.Hour)
			w.wantEnd("broken edge", 0)
			if n := len(w.sessions); n != 1 {
				t.Errorf("broken: %t: the run took %d sessions", broken, n)
			}
			d = w.last.Sub(began)
		})
		return d
	}
	whole, lost := took(false), took(true)
	if t.Logf("%v without, %v with breaks", whole, lost); lost > whole*21/20 {
		t.Errorf("an edge that breaks costs %v of %v", lost-whole, whole)
	}
}
