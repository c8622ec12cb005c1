package num

import "testing"

// TestHash: the first numbers of the published generator from seed 1234567.
func TestHash(t *testing.T) {
	for k, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431,
		16408922859458223821} {
		if got := SplitMix(1234567 + uint64(k)*SplitMixStep); got != want {
			t.Errorf("number %d is %d; it must be %d", k, got, want)
		}
	}
}
