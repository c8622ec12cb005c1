package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestMembersAtTheEnd: a run that sites left and joined reports the members behind its rows, and
// those at the end.
func TestMembersAtTheEnd(t *testing.T) {
	dir := t.TempDir()
	for site := range 3 {
		table := "a,y\n"
		for i := range 12 {
			table += fmt.Sprintf("%d,%d.5\n", i, i*i%7+site)
		}
		testkit.OK(os.WriteFile(filepath.Join(dir, fmt.Sprintf("site%d.csv", site)), []byte(table), 0o644))
	}
	log := filepath.Join(dir, "log.jsonl")
	testkit.OK(os.WriteFile(log,
		[]byte(
			`{"epoch":1,"iteration":1,"members":[0,2],"edges":[[0,2]],"proposer":0,"why":["agent 2 `+
				`joined","agent 1 left"]}`+"\n"), 0o644))
	out := filepath.Join(dir, "out")
	stdout := runCommand(t, "tune", "-data="+filepath.Join(dir, "site{agent}.csv"), "-target=y", "-agents=2",
		"-K=2", "-v",
		"-membership="+log, "-out="+out)
	if words := strings.Join(strings.Fields(stdout), " "); !strings.Contains(words,
		"2 sites with 18 training and 6 test rows together; ring, 2 agents") ||
		!strings.Contains(words, "members at the end 0, 2 ") {
		t.Errorf("the run says\n%s", stdout)
	}
	s, rows := testkit.Get(runs.Folder(out).ReadSummary()), 0
	for _, of := range s.Sites {
		rows += of.Examples
	}
	if s.AllSites == nil || len(s.Sites) != 2 || s.AllSites.Examples != rows || s.Sites[1].Name != "site 2" {
		t.Errorf("all sites are %+v, which are %+v", s.AllSites, s.Sites)
	}
	if page := string(testkit.Get(os.ReadFile(filepath.Join(out, "report.html")))); !strings.Contains(page,
		"Members at the end: 0, 2.") {
		t.Error("the page does not say who was there at the end")
	}
}
