package command

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/network/pki"
	"dsbo/runs"
)

// disclosed checks that the reports of n agents are signed and name all that was sent, and returns
// the first one.
func disclosed(t *testing.T, out, certs string, n int) (first site.Report) {
	t.Helper()
	trust := testkit.Get(pki.LoadTrust(certs))
	for i := range n {
		r, err := verifyDisclosure(runs.Folder(filepath.Join(out, fmt.Sprint("agent-", i))), trust)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = r
		}
		if r.Agent != i || r.State != "finished" || r.Killed != 0 || len(r.Sessions) != 1 || r.All.Bytes == 0 {
			t.Errorf("agent %d has signed %+v", i, r)
		}
		for _, row := range r.Rows {
			if row.Name == site.Unlisted || row.Times == 0 && row.Numbers != "" {
				t.Errorf("agent %d: %+v", i, row)
			}
		}
	}
	return first
}

// TestDisclosure: after a run each agent has signed what left it, by the names of -explain-privacy
// and as often as the method asks; one byte of another report, page or agent is refused.
func TestDisclosure(t *testing.T) {
	dir := t.TempDir()
	file := writeCluster(t, dir, 3, map[string]any{"flags": append(slices.Clone(small), "-algorithm=dsoba",
		"-alpha=0.1", "-beta=0.1", "-gamma=0.1", "-rivals=false")})
	certs, out := filepath.Join(dir, "certs"), filepath.Join(dir, "out")
	runCommand(t, "pki", "-cluster="+file, "-out="+certs)
	agents(t, 3, "-cluster="+file, "-out="+out, "-certs="+certs, "-quiet")
	r := disclosed(t, out, certs, 3)
	k := slices.IndexFunc(r.Rows, func(s site.Sent) bool { return s.Name == "copies of x, y, z, trackers" })
	if k < 0 || r.Rows[k].SeenBy != "each neighbour" || r.Rows[k].To[1].Vectors != r.Rows[k].Times {
		t.Errorf("no vectors to each neighbour, or others: %+v", r.Rows)
	}
	folders := testkit.Get(filepath.Glob(filepath.Join(out, "agent-*")))
	if text := runCommand(t, append([]string{"disclosure", "-certs=" + certs}, folders...)...); strings.Count(text,
		"signed by its certificate\n") != 3 {
		t.Errorf("the verb says %s", text)
	}
	report, page := filepath.Join(folders[1], runs.DisclosureFile), filepath.Join(folders[1], runs.DisclosurePage)
	for _, c := range []struct{ path, old, new, says string }{
		{report, `"format": 1`, `"format": 2`, "not signed by agent 1"},
		{report, `"agent": 1`, `"agent": 2`, "not signed by agent 2"},
		{page, "What left site 1", "What left site 2", "must be the page"},
	} {
		good := testkit.Get(os.ReadFile(c.path))
		edited := strings.Replace(string(good), c.old, c.new, 1)
		if edited == string(good) {
			t.Fatalf("%s has no %s", c.path, c.old)
		}
		testkit.OK(os.WriteFile(c.path, []byte(edited), 0o666))
		_, err := command(t, "disclosure", "-certs="+certs, folders[1])
		wantError(t, err, cli.Usage, c.says)
		testkit.OK(os.WriteFile(c.path, good, 0o666))
	}
	others := filepath.Join(dir, "others")
	runCommand(t, "pki", "-cluster="+file, "-out="+others)
	_, err := command(t, "disclosure", "-certs="+others, folders[1])
	wantError(t, err, cli.Usage, "not signed by agent 1")
}
