package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo/algo"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestAccounting compares what the agents of a run send with the formula in the method's Cost.
func TestAccounting(t *testing.T) {
	more := map[string][][]string{
		"fednest": {{"-graph=server"}, {"-graph=server", "-set=nprime=[1,0,1]"}},
		"mdbo":    {{}, {"-set=nprime=[1,0,1]"}},
		"madsbo_tuned": {
			{}, {"-set=warm_z=true"}, {"-set=track_y=true", "-set=warm_z=true", "-graph=path"},
			{"-set=reuse_b=true", "-batch=3"},
		},
		"newtoncg": {
			{}, {"-set=init=x0"}, {"-set=damping=0.1", "-graph=path"}, {"-preset=tuned"},
			{"-set=most=6", "-set=reach=0.5"},
		},
		"fedmsa": {{"-graph=server"}}, "fedbioacc": {{"-graph=server", "-set=I=1"}}, "simfbo": {{"-graph=server"}},
		"brfedbi": {{"-graph=server"}},
		"sparkle": {{}, {`-set=strategy={"x":"gt","y":"extra","z":"ed"}`}},
	}
	for _, name := range algo.Names() {
		m := testkit.Get(algo.New(name))
		// one sends nothing, the other is not for this problem
		if traits := algo.TraitsOf(m); traits.OneAgent || traits.Compositional {
			continue
		}
		variants := more[name]
		if variants == nil {
			variants = [][]string{{}}
		}
		for _, v := range variants {
			t.Run(name+strings.Join(v, ""), func(t *testing.T) {
				if testing.Short() && !slices.Contains([]string{"newtoncg", "madsbo", "adamcg"}, name) {
					t.Skip("the other methods")
				}
				dir := filepath.Join(t.TempDir(), "run")
				args := strings.Fields(small +
					" -r=1 -agents=4 -T=2 -N=3 -alpha=0.01 -preset=paper -evaluate=off -quiet")
				complete(t, append(append(args, "-algorithm="+name, "-out="+dir), v...)...)
				asCounted(t, dir)
			})
		}
	}
}

// asCounted checks that what the agents of a run have sent is what the formula says.
func asCounted(t *testing.T, dir string) {
	t.Helper()
	s := testkit.Get(runs.Folder(dir).ReadSummary())
	if s.FloatsSent <= 0 || s.FloatsSent != s.FloatsFormula {
		t.Errorf("sent %v numbers, %v by the formula", s.FloatsSent, s.FloatsFormula)
	}
}

// A resumed run knows how many products the iterations before it took.
func TestAccountingResumed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	interrupted(t, strings.Fields(small+" -r=1 -checkpoint-every=2 -out="+dir), "iteration 3", 1)
	complete(t, "-resume", "-report=false", "-quiet", "-out="+dir)
	asCounted(t, dir)
}
