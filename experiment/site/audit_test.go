package site_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/experiment/site"
	"dsbo/internal/testkit"
)

// TestAudit: processes one after the other go on with the chain, lines that were logged before the
// file was open are in it, and what a killed process has left of a line is taken out.
func TestAudit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	process := func(early, late string) (head string) {
		a := new(site.Audit)
		log := slog.New(a.Handler())
		log.Info(early, "n", 1)
		testkit.OK(a.Open(path))
		log.With("agent", 3).Warn(late)
		head = a.Head()
		testkit.OK(a.Close())
		return head
	}
	first := process("a", "b")
	f := testkit.Get(os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0))
	testkit.Get(f.WriteString(`{"line":3,"previous":"`))
	testkit.OK(f.Close())
	last := process("c", "d")
	c := testkit.Get(site.VerifyAudit(path))
	if c.Lines != 5 || c.Head != last || !c.Has(first) || c.Has("") || c.First == "" || c.Last < c.First {
		t.Errorf("%+v, with heads %s and %s", c, first, last)
	}
	text := string(testkit.Get(os.ReadFile(path)))
	at := 0
	for _, want := range []string{`{"line":1,"previous":"",`, `"event":"a","n":1}`,
		`"level":"WARN","event":"b","agent":3}`,
		`{"line":3,"previous":"` + first, `"event":"a line was cut and is taken out","bytes":22}`, `"event":"c"`,
		`"event":"d"`} {
		k := strings.Index(text[at:], want)
		if k < 0 {
			t.Fatalf("no %s after byte %d of\n%s", want, at, text)
		}
		at += k
	}
}
