package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"dsbo/experiment/experimenttest"
	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/network/pki"
	"dsbo/runs"
)

// runAll runs all agents of a cluster file and returns what the command wrote to stdout.
func runAll(ctx context.Context, stderr io.Writer, file, out string, more ...string) (string, error) {
	var stdout bytes.Buffer
	err := run(ctx, append([]string{"run", "-cluster=" + file, "-out=" + out}, more...), &stdout,
		&lockedWriter{w: stderr})
	return stdout.String(), err
}

// A lockedWriter is a stderr to which processes may write at the same time.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, out := writeCluster(t, dir, 3, nil), filepath.Join(dir, "out")
	var stderr bytes.Buffer
	page := !testing.Short() // which takes half of the time
	stdout, err := runAll(t.Context(), &stderr, file, out, fmt.Sprintf("-report=%t", page))
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	experimenttest.SameRun(t, out, alone(t, dir, "-agents=3"))
	for _, want := range []string{"small: 3 agents, which agree to the last bit; ", "\nλ tuned ", "\nreport "} {
		if !strings.Contains(stdout, want) && (page || want != "\nreport ") {
			t.Errorf("stdout lacks %q:\n%s", want, stdout)
		}
	}
	if !strings.Contains(stderr.String(), "\nagent 0: iteration 4  ") ||
		strings.Contains(stderr.String(), "agent 1: iteration") {
		t.Errorf("stderr:\n%s", stderr.String())
	}
	if log := testkit.Get(os.ReadFile(filepath.Join(out, "agent-1.log"))); !bytes.Contains(log,
		[]byte(`"iteration":4,`)) {
		t.Errorf("the log of agent 1:\n%s", log)
	}
	if info, err := os.Stat(filepath.Join(out, "report.html")); page && (err != nil || info.Size() == 0) {
		t.Errorf("no report: %v", err)
	}
	wantState(t, out, runs.Finished)

	// A finished run stays, but for -force.
	_, err = runAll(t.Context(), io.Discard, file, out)
	wantError(t, err, cli.Usage, "-force replaces it")
	if testing.Short() {
		return
	}
	stderr.Reset()
	other := writeCluster(t, dir, 3, map[string]any{"seed": 5})
	_, err = runAll(t.Context(), &stderr, other, out, "-force", "-insecure", "-quiet", "-report=false")
	if err != nil || strings.Count(stderr.String(), "agent ") != 1 ||
		!strings.Contains(stderr.String(), "-insecure: connections are not protected") {
		t.Fatalf("-force: %v, with one warning of one agent\n%s", err, stderr.String())
	}
	if _, err := os.Stat(filepath.Join(out, "certs")); err == nil {
		t.Error("-insecure has certificates")
	}
	experimenttest.SameRun(t, out, alone(t, t.TempDir(), "-agents=3", "-seed=5"))
}

// Agents that are killed, or asked to stop, are started again, and the run ends with the bits of
// one in which nothing went wrong.
func TestRunSurvives(t *testing.T) {
	testkit.Long(t, "many processes")
	dir := t.TempDir()
	file, out, faults := writeCluster(t, dir, 3, nil), filepath.Join(dir, "out"), filepath.Join(dir, "faults.json")
	// of about 700 vectors in four iterations
	testkit.OK(os.WriteFile(faults, testkit.Get(json.Marshal(map[int][]fault{
		0: {{Vectors: 450}},
		1: {{Vectors: 250}, {File: "lambda.npy"}},
		2: {{Vectors: 450, Signal: syscall.SIGTERM}},
	})), 0o600))
	t.Setenv(faultsVariable, faults)
	var stderr bytes.Buffer
	stdout, err := runAll(t.Context(), &stderr, file, out, "-report=false")
	text := stderr.String()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, want := range []string{"agent 0: signal: killed: starting it again (1 of 3 in an hour)\n",
		"agent 1: signal: killed: starting it again (2 of 3 in an hour)\n",
		"agent 2: interrupted "} {
		if !strings.Contains(text, want) {
			t.Errorf("stderr lacks %q:\n%s", want, text)
		}
	}
	if !strings.Contains(stdout, "which agree to the last bit") {
		t.Errorf("stdout:\n%s", stdout)
	}
	experimenttest.SameRun(t, out, alone(t, dir, "-agents=3"))
}

func TestInterruptedRun(t *testing.T) {
	skipShort(t, "many processes")
	dir := t.TempDir()
	// Enough iterations that the run is not over when the signal comes, however late.
	flags := []string{"-preset=madsbo_tuned", "-T=1", "-N=1", "-evaluate=off", "-rivals=false", "-K=150",
		"-eval-every=3"}
	file, out := writeCluster(t, dir, 3, map[string]any{"flags": slices.Concat(small, flags)}),
		filepath.Join(dir, "out")
	wantError(t, stoppedAt(t, "iteration 3 ", "run", "-cluster="+file, "-out="+out, "-report=false"), cli.Interrupted,
		"run: interrupted; -resume -out "+out+" goes on")
	wantState(t, out, runs.Interrupted)
	other := writeCluster(t, t.TempDir(), 3, map[string]any{"seed": 2})
	_, err := runAll(t.Context(), io.Discard, other, out, "-resume")
	wantError(t, err, cli.Usage, "-resume needs the cluster file with which the run")
	_, err = runAll(t.Context(), io.Discard, file, out, "-resume", "-report=false")
	testkit.OK(err)
	experimenttest.SameRun(t, out, alone(t, dir, append(flags, "-agents=3")...))
}

// A run ends with the error of an agent that cannot finish.
func TestRunFails(t *testing.T) {
	skipShort(t, "many processes")
	for _, tt := range []struct {
		name  string
		flags []string
		args  []string
		code  int
		want  string
		state runs.State
	}{
		{"divergence", []string{"-preset=madsbo_tuned", "-beta=1e6", "-K=20"}, nil, cli.Diverged,
			"diverged: agent ", runs.Diverged},
		{"a setting", []string{"-batch=5"}, nil, cli.Usage, "-batch must be at most 4", runs.Failed},
		{"certificates that are not there", nil, []string{"-certs=absent"}, cli.Usage,
			"-certs: open absent", runs.Absent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			file, out := writeCluster(t, dir, 2,
				map[string]any{"flags": append(append([]string{}, small...), tt.flags...)}), filepath.Join(dir, "out")
			_, err := runAll(t.Context(), io.Discard, file, out, tt.args...)
			wantError(t, err, tt.code, tt.want)
			wantState(t, out, tt.state)
		})
	}
}

// openRun does what the verb run does before it starts agents.
func openRun(t *testing.T, args ...string) error {
	t.Helper()
	p := testProgram()
	o, c := testkit.Get2(p.parseRun(callOf(p, "run", args)))
	defer testkit.Get(runs.Folder(o.out).Lock()).Close()
	return o.prepareFolder(c)
}

// makeAgentFolder makes an agent's run folder, with agent.json, and its log.
func makeAgentFolder(t *testing.T, out string, agent int) {
	t.Helper()
	o := agentOptions{options: options{out: out}, agent: agent}
	testkit.OK(os.MkdirAll(string(o.folder()), 0o755))
	testkit.OK(o.folder().WriteConfig(runs.Config{Build: runs.ThisBuild()}))
	testkit.OK(o.folder().WriteMembership(runs.Membership{Agent: agent}))
	testkit.OK(os.WriteFile(string(o.folder())+".log", nil, 0o644))
}

// wantFiles checks what is in a folder.
func wantFiles(t *testing.T, folder, want string) {
	t.Helper()
	var names []string
	for _, e := range testkit.Get(os.ReadDir(folder)) {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != want {
		t.Errorf("%s has %s, want %s", folder, got, want)
	}
}

// A run that ends as its folder is made can be resumed, with all certificates and no key to
// make more.
func TestResumeOfABeginning(t *testing.T) {
	dir := t.TempDir()
	file, out := writeCluster(t, dir, 2, nil), filepath.Join(dir, "out")
	testkit.OK(openRun(t, "-cluster="+file, "-out="+out))
	certs, making := filepath.Join(out, certsName), filepath.Join(out, ".certs.tmp")
	testkit.OK(os.Rename(certs, making))
	testkit.OK(os.Remove(filepath.Join(making, "agent-1.pem")))
	makeAgentFolder(t, out, 0)
	wantError(t, openRun(t, "-cluster="+file, "-out="+out), cli.Usage, "-resume goes on")
	testkit.OK(openRun(t, "-cluster="+file, "-out="+out, "-resume"))
	for i := range 2 {
		testkit.Get(pki.Load(certs, i, time.Now()))
	}
	wantFiles(t, certs, "agent-0-key.pem agent-0.pem agent-1-key.pem agent-1.pem ca.pem")
	wantFiles(t, out, "SHA256SUMS agent-0 agent-0.log certs config.json")
	wantFiles(t, filepath.Join(out, "agent-0"), "SHA256SUMS config.json")
}

// -force removes all that the agents of the old run left, and nothing if there is something else.
func TestForce(t *testing.T) {
	dir := t.TempDir()
	file, out := writeCluster(t, dir, 2, nil), filepath.Join(dir, "out")
	testkit.OK(openRun(t, "-cluster="+file, "-out="+out))
	for i := range 3 {
		makeAgentFolder(t, out, i)
	}
	for _, name := range []string{"agent-9", "agent-orange"} {
		testkit.OK(os.Mkdir(filepath.Join(out, name), 0o755))
		testkit.OK(os.WriteFile(filepath.Join(out, name, "chapter.tex"), nil, 0o644))
	}
	wantError(t, openRun(t, "-cluster="+file, "-out="+out, "-force"), cli.Usage,
		"agent-9 is neither empty nor a run folder")
	wantFiles(t, out,
		"SHA256SUMS agent-0 agent-0.log agent-1 agent-1.log agent-2 agent-2.log agent-9 agent-orange certs config.json")
	testkit.OK(os.RemoveAll(filepath.Join(out, "agent-9")))
	testkit.OK(openRun(t, "-cluster="+file, "-out="+out, "-force", "-insecure"))
	wantFiles(t, out, "SHA256SUMS agent-orange config.json")
}

// TestRunChecks: a run is not replaced where its data have gone, or certificates are not valid, as
// of a machine whose clock is ahead.
func TestRunChecks(t *testing.T) {
	dir := t.TempDir()
	certs, out, whole := filepath.Join(dir, "certs"), filepath.Join(dir, "out"), writeCluster(t, dir, 2, nil)
	runCommand(t, "synthetic", "-r=1", "-p=2", "-train=4", "-val=6", "-test=20", "-K=1", "-report=false", "-out="+out)
	tomorrow := time.Now().AddDate(0, 0, 1)
	testkit.OK(makeCertificates(certs, testkit.Get(site.LoadCluster(whole, testProgram().checkTask)),
		(*pki.Authority).Save, tomorrow, tomorrow.AddDate(0, 0, 1)))
	for _, c := range []struct {
		more map[string]any // of the cluster file
		flag string
		says string
	}{
		{nil, "-certs=" + certs, "agent-0.pem: x509: certificate has expired or is not yet valid"},
		{map[string]any{"task": "mnist", "flags": []string{"-data=" + dir + "/gone"}}, "-insecure", "gone"},
		{map[string]any{"task": "tune", "flags": []string{"-data=" + dir + "/gone{agent}.csv", "-target=y"}},
			"-insecure", "gone"},
	} {
		_, err := command(t, "run", "-cluster="+writeCluster(t, dir, 2, c.more), "-out="+out, c.flag, "-force")
		wantError(t, err, cli.Usage, c.says)
		wantState(t, out, runs.Finished)
	}
}
