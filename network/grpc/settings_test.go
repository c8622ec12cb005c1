package grpc

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
)

// TestSettingsDiffer: a refusal says which settings differ, as far as the hellos have them.
func TestSettingsDiffer(t *testing.T) {
	long := []string{"-K=20", "-data=/a/long/path/to/a/folder", "-quick", "-set=a=1", "-set=b=2", "seed=1"}
	change := func(k int, v string) []string {
		s := append([]string{}, long...)
		s[k] = v
		return s
	}
	for name, tt := range map[string]struct {
		theirs []string
		room   int
		want   string
	}{
		"the same":     {theirs: long, room: 400},
		"a value":      {theirs: change(0, "-K=30"), room: 400, want: "-K is 30 at agent 2, 20 at agent 1"},
		"a long value": {theirs: change(1, "-data=/another/long/path"), room: 400, want: "-data differs"},
		"one of two": {theirs: change(4, "-set=b=3"), room: 400,
			want: "-set is a, 1, b, 3 at agent 2, a, 1, b, 2 at agent 1"},
		"no value":    {theirs: change(0, "-K"), room: 400, want: "-K is without a value at agent 2, 20 at agent 1"},
		"one missing": {theirs: long[1:], room: 400, want: "agent 1 alone has -K=20"},
		"one more":    {theirs: append([]string{"-L=3"}, long...), room: 400, want: "agent 2 alone has -L=3"},
		"all others": {theirs: []string{"a=1", "b=2", "c=3"}, room: 400,
			want: "agent 1 alone has -K=20; agent 1 alone has -data#071a1077; agent 1 alone has -quick; 5 more"},
		"no text":              {room: 400},
		"cut before it":        {theirs: change(5, "seed=2"), room: 40},
		"cut after it":         {theirs: change(0, "-K=3"), room: 40, want: "-K is 3 at agent 2, 20 at agent 1"},
		"no room":              {theirs: change(0, "-K=3"), room: 2},
		"escapes of terminals": {theirs: change(0, "-K=\x1b[2J"), room: 400, want: "-K differs"},
	} {
		theirs, ours := settingsText(tt.theirs, tt.room), settingsText(long, tt.room)
		if len(theirs) > tt.room || len(ours) > tt.room || !ascii(theirs) {
			t.Errorf("%s: the texts %q and %q must be of %d bytes at most", name, theirs, ours, tt.room)
		}
		if got := settingsDiffer(2, theirs, 1, ours); got != tt.want {
			t.Errorf("%s: %q; it must be %q", name, got, tt.want)
		}
	}
}

// TestStrangeSettings: two agents with other settings end as soon as they meet, and both say which
// setting differs. One that has met a neighbour with its own settings goes on.
func TestStrangeSettings(t *testing.T) {
	for _, strange := range []int{0, 1} {
		if testing.Short() && strange == 0 {
			continue // when agent 1 waits for the end of its context
		}
		synctest.Test(t, func(t *testing.T) {
			configs, _ := virtual(newGraph("path", 3))
			for i := range configs {
				configs[i].Settings = []string{"agents=3", "-K=20"}
			}
			configs[strange].Hash, configs[strange].Settings = "mash", []string{"agents=3", "-K=30"}
			ms, closeAll := open(configs)
			defer closeAll()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			ends := make([]chan error, 3)
			for i, m := range ms {
				ends[i] = make(chan error, 1)
				go func() { ends[i] <- m.Mix(ctx, make([]float64, 3), make([]float64, 3)) }()
			}
			began := time.Now()
			met := map[int][]int{0: {0}, 1: {0, 1, 2}}[strange] // those that meet nobody else
			for _, i := range met {
				testkit.WantError(t, fmt.Sprintf("agent %d", i), <-ends[i], dsbo.ErrConfig, "-K is ",
					fmt.Sprintf("30 at agent %d", strange))
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("the agents end after %v", took)
			}
			if strange == 0 {
				if err := <-ends[1]; !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("agent 1 ends with %v; it must wait for agent 0", err)
				}
			}
		})
	}
}
