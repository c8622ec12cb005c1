package command

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dsbo/experiment/experimenttest"
	"dsbo/experiment/site"
	"dsbo/internal/testkit"
	"dsbo/network/session"
	"dsbo/runs"
)

// deployed reads a file of the folder deploy.
func deployed(t *testing.T, name string) string {
	t.Helper()
	return string(testkit.Get(os.ReadFile(filepath.Join("..", "deploy", name))))
}

// The manifest's cluster file can be read, has as many agents as the job, and the agents' flags
// are such.
func TestKubernetes(t *testing.T) {
	text := deployed(t, "kubernetes.yaml")
	_, block, ok := strings.Cut(text, "cluster.json: |\n")
	block, _, ends := strings.Cut(block, "\n---")
	if !ok || !ends {
		t.Fatal("no cluster file")
	}
	c := testkit.Get(site.ParseCluster("kubernetes.yaml", []byte(block), testProgram().checkTask))
	n := len(c.Addresses)
	for _, want := range []string{fmt.Sprintf("completions: %d\n", n), fmt.Sprintf("parallelism: %d ", n),
		"-out=/runs/" + c.Run + "\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	file := filepath.Join(t.TempDir(), "c.json")
	testkit.OK(os.WriteFile(file, []byte(block), 0o644))
	args := regexp.MustCompile(`(?m)^ +- (-\S+)$`).FindAllStringSubmatch(text, -1)
	flags := []string{"agent", "-agent=0"}
	for _, a := range args {
		flags = append(flags, a[1])
	}
	flags = append(flags, "-cluster="+file)
	if _, o, _, err := agentLine(flags); err != nil || o.listen != ":7000" || len(args) < 6 {
		t.Errorf("%q: %v", flags, err)
	}

	text = deployed(t, "kubernetes-collect.yaml")
	for i := range n {
		if !strings.Contains(text, fmt.Sprintf("- /runs/%s/agent-%d\n", c.Run, i)) {
			t.Errorf("agent %d is not collected", i)
		}
	}
}

// A site's manifest runs the verb of its task, with flags that this one and the agent have.
func TestKubernetesSite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.json")
	testkit.OK(os.WriteFile(file,
		[]byte(`{"run": "r", "agents": ["a:1", "", "b:1"], "task": "tune", "flags": ["-target=diagnosis"]}`), 0o644))
	_, text, ok := strings.Cut(deployed(t, "kubernetes-site.yaml"), "- tune\n")
	if !ok {
		t.Fatal("no verb")
	}
	flags := []string{"tune"}
	for _, a := range regexp.MustCompile(`(?m)^ +- (-\S+)$`).FindAllStringSubmatch(text, -1) {
		flags = append(flags, a[1])
	}
	_, o, _, err := agentLine(append(flags, "-cluster="+file))
	if err != nil || o.agent != 2 || !slices.Equal(o.own, []string{"-data=/data/ours.csv"}) || o.log != "json" {
		t.Errorf("%q: agent %d, own flags %q, %v", flags, o.agent, o.own, err)
	}
}

func TestService(t *testing.T) {
	dir := t.TempDir()
	testkit.OK(os.WriteFile(filepath.Join(dir, "cluster.json"),
		[]byte(`{"run": "r", "agents": 4, "address": "a{agent}:1", "task": "mnist"}`), 0o644))
	unit := string(testkit.Get(kitFiles.ReadFile("kit/dsbo-agent@.service")))
	_, line, ok := strings.Cut(unit, "\nExecStart=/usr/local/bin/dsbo ${DSBO_VERB} ")
	line, _, _ = strings.Cut(line, "\n")
	if !ok || !strings.Contains(unit, "\nEnvironment=DSBO_VERB=agent\n") {
		t.Fatal("no command")
	}
	flags := strings.Fields(strings.NewReplacer("%i", "3", "%d", dir).Replace(line))
	if i := slices.Index(flags, "$DSBO_FLAGS"); i != len(flags)-1 {
		t.Fatalf("%q: want $DSBO_FLAGS last", flags)
	}
	if _, o, _, err := agentLine(append([]string{"agent"}, flags[:len(flags)-1]...)); err != nil || o.agent != 3 {
		t.Errorf("%q: %v", flags, err)
	}
}

// The batch script runs a task on three nodes, which are three loopback addresses, and again after
// a stop.
func TestSlurm(t *testing.T) {
	skipShort(t, "many processes")
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	testkit.OK(os.Mkdir(filepath.Join(dir, "bin"), 0o755))
	testkit.OK(os.Symlink(testkit.Get(os.Executable()), filepath.Join(dir, "bin", "dsbo")))
	for name, text := range map[string]string{
		"batch": deployed(t, "slurm.sbatch"),
		// pages take longest
		"dsbo": "#!/bin/sh\nverb=$1; shift\n[ $verb = collect ] && set -- -report=false \"$@\"\nexec bin/dsbo " +
			"$verb \"$@\"\n",
		// this test's own
		"scontrol": fmt.Sprintf("#!/bin/sh\nfor i in 1 2 3; do echo 127.$i.%d.%d; done\n", os.Getpid()>>8&255,
			os.Getpid()&255),
		"srun": `#!/bin/bash
shift
pids=()
for i in 0 1 2; do
  SLURM_PROCID=$i "$@" & pids+=($!)
done
for p in "${pids[@]}"; do wait "$p" || exit; done
`,
	} {
		testkit.OK(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
	}
	batch := func() {
		c := exec.Command(bash, filepath.Join(dir, "batch"))
		c.Dir = dir
		c.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "SLURM_JOB_NODELIST=n[1-3]",
			"SLURM_NTASKS_PER_NODE=1", "PORT=7000",
			"RUN=small", "TASK=synthetic", `FLAGS="`+strings.Join(small, `", "`)+`"`)
		var stdout, stderr bytes.Buffer
		c.Stdout, c.Stderr = &stdout, &stderr
		if err := c.Run(); err != nil {
			t.Fatalf("%v\n%s\n%s", err, stdout.String(), stderr.String())
		}
		if text := stdout.String(); !strings.Contains(text, "small: 3 agents, which agree to the last bit") {
			t.Error(text)
		}
	}
	out := filepath.Join(dir, "results", "small")
	batch()
	experimenttest.SameRun(t, filepath.Join(out, "all"), alone(t, dir, "-agents=3"))
	if _, err := os.Stat(filepath.Join(out, "certs", "ca-key.pem")); err == nil {
		t.Error("the authority's key is still there")
	}
	batch() // again
}

// TestMetricsOfDeploy: the dashboard and the alarms have metrics that an agent exports alone.
func TestMetricsOfDeploy(t *testing.T) {
	m := newMonitor("r", 1)
	m.update(func(p *position) {
		p.saved, p.expires, p.record = 4, time.Unix(1, 0), &runs.Record{MsPerIteration: 1}
		p.Remaining = 0
		p.status = func() session.Status {
			return session.Status{Quorum: 1, Since: time.Minute, Holdups: []int{2},
				Neighbours: []session.Neighbour{{Agent: 2}}}
		}
	})
	page := httptest.NewRecorder()
	m.handler().ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
	name := regexp.MustCompile(`\bdsbo_\w+`)
	for _, file := range []string{"grafana.json", "prometheus-rules.yaml", "prometheus-rules-test.yaml"} {
		names := name.FindAllString(deployed(t, file), -1)
		for _, n := range names {
			if !strings.Contains(page.Body.String(), "# TYPE "+n+" ") {
				t.Errorf("%s: an agent exports no %s", file, n)
			}
		}
		if len(names) < 5 {
			t.Errorf("%s has %d metrics", file, len(names))
		}
	}
}
