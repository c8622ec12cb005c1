package tasks

import (
	"strings"
	"testing"
)

// TestDetections: of 10 wrong labels 8 are found, and of 20 right ones 4 taken for wrong: precision
// 8/12, recall 8/10.
func TestDetections(t *testing.T) {
	d := make([]float64, 4)
	for i := range 30 {
		wrong := i < 10
		d[detection(wrong, wrong && i < 8 || i >= 26)]++
	}
	text := detectionText(d) // F1 2·8/(16+4+2), and 2·16/(32+2+4) of right ones
	for _, want := range []string{"Of 10 wrong", "8 are found", "of 20 right ones 4", "wrong labels 72.73 %",
		"right ones 84.21 %"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q must say %q", text, want)
		}
	}
}
