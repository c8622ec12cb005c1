package command

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dsbo/internal/cli"
	"dsbo/pki"
	"dsbo/runs"
)

// put makes an agent's run folder, with agent.json, and its log.
func put(t *testing.T, out string, agent int) {
	t.Helper()
	o := agentOptions{out: out, agent: agent}
	if err := os.MkdirAll(string(o.folder()), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	write(o.folder().WriteConfig(runs.SeriesConfig{Build: runs.ThisBuild()}))
	write(o.folder().WriteMembership(runs.Membership{Agent: agent}))
	write(os.WriteFile(string(o.folder())+".log", nil, 0o644))
}

func names(t *testing.T, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// opened is what the command does before it starts agents.
func opened(t *testing.T, args ...string) error {
	t.Helper()
	o, c, err := testProgram().parseRun(args, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return o.open(c)
}

// A run that ends as its folder is made can be resumed, with all certificates and no key to make more.
func TestResumeOfABeginning(t *testing.T) {
	dir := t.TempDir()
	file, out := writeCluster(t, dir, 2, nil), filepath.Join(dir, "out")
	if err := opened(t, "-cluster="+file, "-out="+out); err != nil {
		t.Fatal(err)
	}
	certs := filepath.Join(out, certsName)
	if err := os.Rename(certs, filepath.Join(out, ".certs.tmp")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(out, ".certs.tmp", "agent-1.pem")); err != nil {
		t.Fatal(err)
	}
	put(t, out, 0)
	if err := opened(t, "-cluster="+file, "-out="+out); cli.Code(err) != cli.Usage || !strings.Contains(err.Error(), "-resume goes on") {
		t.Errorf("without -resume: %v", err)
	}
	if err := opened(t, "-cluster="+file, "-out="+out, "-resume"); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if _, err := pki.Load(certs, i, time.Now()); err != nil {
			t.Error(err)
		}
	}
	if got, want := names(t, certs), "agent-0-key.pem agent-0.pem agent-1-key.pem agent-1.pem ca.pem"; got != want {
		t.Errorf("certificates %s, want %s", got, want)
	}
	if got, want := names(t, out), "agent-0 agent-0.log certs config.json"; got != want {
		t.Errorf("the folder has %s, want %s", got, want)
	}
	if got, want := names(t, filepath.Join(out, "agent-0")), "config.json"; got != want {
		t.Errorf("agent 0 has %s, want %s", got, want)
	}
}

// -force removes all that the agents of the old run left, and nothing if there is something else.
func TestForce(t *testing.T) {
	dir := t.TempDir()
	file, out := writeCluster(t, dir, 2, nil), filepath.Join(dir, "out")
	if err := opened(t, "-cluster="+file, "-out="+out); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		put(t, out, i)
	}
	thesis := filepath.Join(out, "agent-9")
	for _, folder := range []string{thesis, filepath.Join(out, "agent-orange")} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "chapter.tex"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before := names(t, out)
	if err := opened(t, "-cluster="+file, "-out="+out, "-force"); cli.Code(err) != cli.Usage || !strings.Contains(err.Error(), "agent-9 is neither empty nor a run folder") {
		t.Errorf("a folder that is no run's: %v", err)
	}
	if after := names(t, out); after != before {
		t.Errorf("%s are left of %s", after, before)
	}
	if err := os.RemoveAll(thesis); err != nil {
		t.Fatal(err)
	}
	if err := opened(t, "-cluster="+file, "-out="+out, "-force", "-insecure"); err != nil {
		t.Fatal(err)
	}
	if got, want := names(t, out), "agent-orange config.json"; got != want {
		t.Errorf("the folder has %s, want %s", got, want)
	}
}
