package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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
		r, err := verifyDisclosure(runs.Folder(filepath.Join(out, fmt.Sprint("agent-", i))), trust, nil)
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
	file, certs, out := writeCertified(t, dir, 3, map[string]any{"flags": append(slices.Clone(small),
		"-algorithm=dsoba", "-alpha=0.1", "-beta=0.1", "-gamma=0.1", "-rivals=false")})
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
	audited(t, folders[1])
	late(t, folders[2], func() { agents(t, 3, "-cluster="+file, "-out="+out, "-certs="+certs, "-quiet") }, certs)
	report, page := filepath.Join(folders[1], runs.DisclosureFile), filepath.Join(folders[1], runs.DisclosurePage)
	for _, c := range []struct{ path, old, new, says string }{
		{report, `"format": 1`, `"format": 2`, "not signed by agent 1"},
		{report, `"agent": 1`, `"agent": 2`, "not signed by agent 2"},
		{report, "{", `{"report": {}, `, "must have report, certificate and signature alone"},
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
	if text := runCommand(t, "disclosure", "-certs="+certs, "-cluster="+file, folders[1]); !strings.Contains(text,
		"agent 1 of run ") {
		t.Error(text)
	}
	trust := testkit.Get(pki.LoadTrust(certs))
	another := writeCluster(t, dir, 3, map[string]any{"seed": 9, "flags": small})
	_, err := command(t, "disclosure", "-certs="+certs, "-cluster="+another, folders[1])
	wantError(t, err, cli.Usage, "the cluster file must be the run's")
	good := testkit.Get(os.ReadFile(report))
	_, err = command(t, "agent", "-agent=1", "-cluster="+another, "-out="+out, "-certs="+certs, "-quiet")
	wantError(t, err, cli.Usage, "holds another run")
	if !bytes.Equal(good, testkit.Get(os.ReadFile(report))) {
		t.Error("a run that the folder refuses has written its report there")
	}
	id := testkit.Get(pki.Load(certs, 1, time.Now())) // of the run, which signs a report of another one
	d := disclosure{Report: testkit.Get(json.Marshal(site.Report{Run: "another", Agent: 1, Ended: time.Now()})),
		Certificate: id.Certificate()}
	d.Signature = testkit.Get(id.Sign(d.signedBytes()))
	testkit.OK(os.WriteFile(report, testkit.Get(json.Marshal(d)), 0o666))
	_, err = verifyDisclosure(runs.Folder(folders[1]), trust, nil)
	wantError(t, err, 1, `must name run "another"`)
	key := pki.KeyDigest(testkit.Get(pki.LoadCertificate(filepath.Join(certs, "agent-1.pem"))))
	_, err = verifyDisclosure(runs.Folder(folders[1]), trust, []string{"", key})
	wantError(t, err, 1, "must be the page")
	others := filepath.Join(dir, "others")
	runCommand(t, "pki", "-cluster="+file, "-out="+others)
	_, err = command(t, "disclosure", "-certs="+others, folders[1])
	wantError(t, err, cli.Usage, "not signed by agent 1")
}

// late checks that an agent that was killed between its result and its report writes that when it
// is started again.
func late(t *testing.T, folder string, again func(), certs string) {
	t.Helper()
	report := filepath.Join(folder, runs.DisclosureFile)
	testkit.OK(os.Remove(report))
	edit(t, filepath.Join(folder, runs.SentFile), `"running":false`, `"running":true`)
	again()
	r, err := verifyDisclosure(runs.Folder(folder), testkit.Get(pki.LoadTrust(certs)), nil)
	if err != nil || r.State != "finished" || r.Killed != 1 || r.All.Bytes == 0 {
		t.Errorf("the report of later is %+v, %v", r, err)
	}
	before := testkit.Get(os.ReadFile(report))
	again()
	if !bytes.Equal(before, testkit.Get(os.ReadFile(report))) {
		t.Error("a report that was there has been written again")
	}
}
