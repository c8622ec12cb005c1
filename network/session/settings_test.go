package session

import "testing"

// TestSettingsDiffer: a refusal names the settings that differ, as far as the hellos have them.
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
		"the same": {theirs: long, room: 400},
		"a value":  {theirs: change(0, "-K=30"), room: 400, want: "agent 2 has -K=30; agent 1 has -K=20"},
		"a long value": {theirs: change(1, "-data=/another/long/path"), room: 400,
			want: "agent 2 has -data#9ea5bcd7; agent 1 has -data#071a1077"},
		"one of two": {theirs: change(4, "-set=b=3"), room: 400,
			want: "agent 2 has -set=b=3; agent 1 has -set=b=2"},
		"no value":    {theirs: change(0, "-K"), room: 400, want: "agent 2 has -K; agent 1 has -K=20"},
		"one missing": {theirs: long[1:], room: 400, want: "agent 1 has -K=20"},
		"one more":    {theirs: append([]string{"-L=3"}, long...), room: 400, want: "agent 2 has -L=3"},
		"all others": {theirs: []string{"a=1", "b=2", "c=3"}, room: 400,
			want: "agent 2 has a=1; agent 2 has b=2; agent 2 has c=3; agent 1 has -K=20; 5 more"},
		"no text": {room: 400},
		"no room": {theirs: change(0, "-K=3"), room: 40},
		"escapes of terminals": {theirs: change(0, "-K=\x1b[2J"), room: 400,
			want: "agent 2 has -K#05704e8a; agent 1 has -K=20"},
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
