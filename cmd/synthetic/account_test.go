package main

import (
	"path/filepath"
	"strings"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestAccounting compares what the agents of a run send with the formula in the method's Cost: by
// trees, by a server, and by exchanges alone. Conformance tests of algo do so for every method.
func TestAccounting(t *testing.T) {
	for _, flags := range []string{"-algorithm=newtoncg -set=damping=0.1 -graph=path",
		"-algorithm=newtoncg -preset=tuned", "-algorithm=fednest -graph=server -set=nprime=[1,0,1]",
		"-algorithm=madsbo_tuned -set=track_y=true -set=reuse_b=true -batch=3", "-algorithm=pdsbo_al",
		"-algorithm=c2dfb", "-algorithm=fedbioacc -graph=server -set=I=1"} {
		t.Run(flags, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			complete(t, strings.Fields(small+
				" -r=1 -agents=4 -T=2 -N=3 -alpha=0.01 -preset=paper -evaluate=off -quiet "+flags+" -out="+dir)...)
			asCounted(t, dir)
		})
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
