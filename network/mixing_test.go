package network_test

import (
	"fmt"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/membership"
)

func TestParseMixing(t *testing.T) {
	for text, want := range map[string]network.Mixing{
		"plain": network.Plain{}, "matchings": network.Matchings{}, "failing:0.25": network.Failing{Probability: 0.25},
	} {
		if got, err := network.ParseMixing(text); err != nil || got != want {
			t.Errorf("%q is %v, %v; it must be %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "mean", "plain:1", "Matchings", "matchings:2", "failing", "failing:0",
		"failing:1", "failing:NaN", "Trimmed", "clip"} {
		_, err := network.ParseMixing(text)
		testkit.WantError(t, text, err, dsbo.ErrConfig, "it is ")
	}
}

// TestFormerMixings: mixings of former versions are refused by name, with what does instead.
func TestFormerMixings(t *testing.T) {
	for text, name := range map[string]string{
		"clipped": "clipped", "clipped:2": "clipped", "trimmed": "trimmed", "trimmed:": "trimmed",
		"trimmed:x": "trimmed",
	} {
		_, err := network.ParseMixing(text)
		testkit.WantError(t, text, err, dsbo.ErrConfig, fmt.Sprintf(
			"mixing %s is gone: operators remove a member that sends what cannot be; it is %q", name, text))
	}
}

func FuzzParseMixing(f *testing.F) {
	f.Add("failing:0.5")
	f.Fuzz(func(t *testing.T, text string) {
		x, err := network.ParseMixing(text)
		if err != nil {
			return
		}
		if again, err := network.ParseMixing(x.String()); err != nil || again != x {
			t.Errorf("%q is %v, which is read as %v, %v", text, x, again, err)
		}
	})
}

func TestWithMixing(t *testing.T) {
	for _, tt := range []struct {
		graph  string
		n      int
		mixing network.Mixing
		want   string // "": it works
	}{
		{"ring", 8, network.Plain{}, ""},
		{"server", 8, network.Plain{}, ""},
		{"ring", 8, network.Failing{Probability: 0.5}, ""},
		{"star", 5, network.Matchings{}, ""},
		{"server", 8, network.Failing{Probability: 0.5}, "weights cannot change on graph server"},
		{"server", 8, network.Matchings{}, "take graph complete"},
	} {
		g := testkit.Get(network.New(tt.graph, tt.n, network.Options{}))
		w, err := g.W.WithMixing(tt.mixing)
		testkit.WantError(t, fmt.Sprint(g, tt.mixing), err, dsbo.ErrConfig, tt.want)
		if err == nil && (w.Mixing() != tt.mixing || w.Rho() != g.W.Rho()) {
			t.Errorf("%s, %v: it mixes %v, with ρ %v", g, tt.mixing, w.Mixing(), w.Rho())
		}
	}
}

// TestMembersMixAlike holds that later epochs mix as the first, or say in which they cannot.
func TestMembersMixAlike(t *testing.T) {
	complete := testkit.Get(network.New("complete", 6, network.Options{})).W
	e := membership.Epoch{Number: 1, Members: []int{0, 2, 3, 5}}
	w := testkit.Get(complete.WithMixing(network.Failing{Probability: 0.5}))
	if m := testkit.Get(w.Members(e)); m.Mixing() != w.Mixing() {
		t.Errorf("members mix %v; it must be %v", m.Mixing(), w.Mixing())
	}
	_, err := testkit.Get(network.Sequence([][][]float64{complete.Dense()})).Members(e)
	testkit.WantError(t, "lists of six", err, dsbo.ErrConfig,
		"epoch 1: a graph whose weights are lists has the same 6 agents always; it has 4")
}
