package simulate

import (
	"flag"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

var (
	from  = flag.Uint64("from", 0, "first `seed` of TestSeeds")
	seeds = flag.Int("seeds", 12, "`number` of seeds of TestSeeds")
)

// TestSeeds: whatever happens to agents and links, each agent ends with the bits of one process.
func TestSeeds(t *testing.T) {
	count := *seeds
	if testing.Short() {
		count = min(count, 6)
	}
	var references References
	for seed := *from; seed < *from+uint64(count); seed++ {
		c := Draw(seed)
		synctest.Test(t, func(t *testing.T) {
			if r, err := c.Run(&references); err != nil {
				t.Errorf("seed %d: %v\n%+v\n%v", seed, err, c, r)
			}
		})
	}
}

// TestReplay: a seed has the same history twice.
func TestReplay(t *testing.T) {
	if racing {
		t.Skip("the race detector draws the order of goroutines")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var references References
	for seed := range uint64(3) {
		c := Draw(seed)
		var histories [2][]Line
		for k := range histories {
			synctest.Test(t, func(t *testing.T) {
				r, err := c.Run(&references)
				if err != nil {
					t.Fatal(err)
				}
				histories[k] = r.Trace
			})
			histories[k] = slices.DeleteFunc(histories[k], func(l Line) bool { return l.Logged })
		}
		if diff := cmp.Diff(histories[0], histories[1]); diff != "" {
			t.Errorf("seed %d: the histories of two runs differ:\n%s", seed, diff)
		}
	}
}
