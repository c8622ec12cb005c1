package holdup

import "testing"

// TestReadReport: what no agent says of itself is no report.
func TestReadReport(t *testing.T) {
	want := Report{Doing: Saving, Round: 1 << 40, Holder: 7, Cause: BySaving, Beyond: 3, Hops: 2}
	if got, ok := ReadReport(want.Round, want.Encode()); !ok || got != want {
		t.Errorf("%+v, %v; it must be %+v", got, ok, want)
	}
	for _, text := range [][]byte{nil, {1}, {byte(activityEnd), 9: 0},
		{0, byte(causeEnd), 9: 0}, make([]byte, reportLength-1)} {
		if r, ok := ReadReport(0, text); ok {
			t.Errorf("% x is read as %+v", text, r)
		}
	}
}
