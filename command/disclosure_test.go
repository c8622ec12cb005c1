package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/pki"
	"dsbo/runs"
)

// disclosed checks that the reports of n agents are signed and name all that was sent, each by a
// name of docs/privacy.md, and returns the first one.
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
			if !isDocumented(row.Name) || row.Times == 0 && row.Numbers != "" {
				t.Errorf("agent %d: %+v", i, row)
			}
		}
	}
	return first
}

// isDocumented reports whether a name, and each of its ends such as ", all folds", is one of
// docs/privacy.md.
func isDocumented(name string) bool {
	documented := privacyNames()
	for !documented[name] {
		at := strings.LastIndex(name, ", ")
		if at < 0 || !documented[name[at+2:]] {
			return false
		}
		name = name[:at]
	}
	return true
}

// privacyNames returns the names of quantities in the tables of docs/privacy.md.
var privacyNames = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for line := range strings.Lines(string(testkit.Get(os.ReadFile("../docs/privacy.md")))) {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			for _, m := range regexp.MustCompile(`\*([^*]+)\*`).FindAllStringSubmatch(cells[1]+cells[2], -1) {
				names[m[1]] = true
			}
		}
	}
	return names
})

// TestNamesOfDisclosures: docs/privacy.md has the name of whatever leaves, and -explain-privacy
// too, for a default run and for a method that mixes; each quantity has a row.
func TestNamesOfDisclosures(t *testing.T) {
	images := t.TempDir()
	testkit.OK(testkit.WriteMNIST(images, 90, 30))
	flags := map[string][]string{"synthetic": small, "mnist": {"-data=" + images, "-train=15", "-val=10", "-K=2"}}
	task := testkit.Sized("synthetic", "synthetic", "mnist")
	for _, c := range []struct {
		task         string
		flags, names []string
	}{
		{task, flags[task], []string{"gradients", "residuals",
			"products with the Hessian", "diagonal of the Hessian", "hypergradient", "training and validation loss"}},
		{"synthetic", append(slices.Clone(small), "-algorithm=madsbo"), []string{network.Mixed, network.Fingerprints,
			"largest curvature", "x", "y", "z", "u", "distances from the average"}},
		{"synthetic", append(slices.Clone(small), "-algorithm=jhip"), []string{network.Matrices}},
		{"mnist", append(flags["mnist"], "-model=mlp", "-hidden=2", "-evaluate=off", "-rivals=false"),
			[]string{"training losses of shorter steps"}},
	} {
		dir := t.TempDir()
		file, certs, out := writeCertified(t, dir, 3, map[string]any{"task": c.task, "flags": c.flags})
		agents(t, 3, "-cluster="+file, "-out="+out, "-certs="+certs, "-quiet")
		r := disclosed(t, out, certs, 3)
		wantExplained(t, r, append([]string{c.task, "-agents=3", "-explain-privacy"}, c.flags...)...)
		for _, name := range c.names {
			if !slices.ContainsFunc(r.Rows, func(s site.Sent) bool { return s.Name == name && s.Times > 0 }) {
				t.Errorf("%s: no row of the report is %q: %+v", c.task, name, r.Rows)
			}
		}
	}
}

// wantExplained checks that a command line explains what a report has counted, by the same names.
func wantExplained(t *testing.T, r site.Report, line ...string) {
	t.Helper()
	explained := runCommand(t, line...)
	for _, row := range r.Rows { // numbers of rows are below the table
		if row.Numbers != "" && row.Name != "numbers of rows" && !strings.Contains(explained, row.Name) {
			t.Errorf("%v has no %q:\n%s", line, row.Name, explained)
		}
	}
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
