// Package tools_test reads the files of the folder deploy with the libraries of the programs that
// use them.
package tools_test

import (
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const folder = "../deploy"

// checks has who reads each file.
var checks = map[string]func(t *testing.T, path string, text []byte){
	"README.md":                  func(*testing.T, string, []byte) {}, // command.TestBlocks
	"build.sh":                   checkShell,                          // image.TestImage
	"compose.yaml":               checkCompose,
	"consortium.sh":              checkShell, // it runs by hand, as root
	"grafana.json":               checkGrafana,
	"kubernetes.yaml":            func(t *testing.T, _ string, text []byte) { kinds(t, text) },
	"kubernetes-collect.yaml":    func(t *testing.T, _ string, text []byte) { kinds(t, text) },
	"kubernetes-site.yaml":       func(t *testing.T, _ string, text []byte) { kinds(t, text) },
	"kustomization.yaml":         checkKustomize,
	"prometheus-rules.yaml":      checkRules,
	"prometheus-rules-test.yaml": func(*testing.T, string, []byte) {}, // promtool
	"slurm.sbatch":               checkShell,                          // command.TestSlurm
	"slurm-mpi.sbatch":           checkShell,
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestDeploy(t *testing.T) {
	for _, entry := range must(os.ReadDir(folder)) {
		check, path := checks[entry.Name()], filepath.Join(folder, entry.Name())
		if check == nil {
			t.Errorf("nobody reads %s", path)
			continue
		}
		t.Run(entry.Name(), func(t *testing.T) { check(t, path, must(os.ReadFile(path))) })
	}
}

func checkShell(t *testing.T, path string, _ []byte) {
	if text, err := exec.Command("bash", "-n", path).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, text)
	}
}

// kinds decodes the documents of a Kubernetes file, in which each field must be known, and returns
// their kinds and names.
func kinds(t *testing.T, text []byte) (all string) {
	for _, doc := range regexp.MustCompile(`(?m)^---$`).Split(string(text), -1) {
		var head struct {
			APIVersion, Kind string
			Metadata         struct{ Name string }
		}
		if err := yaml.Unmarshal([]byte(doc), &head); err != nil {
			t.Fatal(err)
		}
		into, ok := map[string]any{"v1 ConfigMap": &core.ConfigMap{}, "v1 Service": &core.Service{},
			"v1 Secret": &core.Secret{}, "v1 PersistentVolumeClaim": &core.PersistentVolumeClaim{},
			"batch/v1 Job": &batch.Job{}}[head.APIVersion+" "+head.Kind]
		if !ok {
			t.Fatalf("a %s %s", head.APIVersion, head.Kind)
		}
		if err := yaml.UnmarshalStrict([]byte(doc), into); err != nil {
			t.Errorf("%s %s: %v", head.Kind, head.Metadata.Name, err)
		}
		all += head.Kind + " " + head.Metadata.Name + "\n"
	}
	return all
}

// checkKustomize builds the base, and the site's own folder of its comment.
func checkKustomize(t *testing.T, path string, text []byte) {
	build := func(dir string) string {
		m := krusty.MakeKustomizer(krusty.MakeDefaultOptions())
		return string(must(must(m.Run(filesys.MakeFsOnDisk(), dir)).AsYaml()))
	}
	want := "PersistentVolumeClaim dsbo-runs\nJob dsbo-agent-2\n"
	if got := kinds(t, []byte(build(folder))); got != want {
		t.Errorf("the base has\n%s", got)
	}
	dir := t.TempDir()
	own := ""
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "#   "); ok {
			own += rest
		}
	}
	base := must(filepath.Rel(must(filepath.EvalSymlinks(dir)), must(filepath.Abs(folder))))
	own = strings.Replace(own, "../dsbo/deploy", base, 1)
	for name, text := range map[string]string{"kustomization.yaml": own, "cluster.json": "{}", "ca.pem": "x",
		"agent-0.pem": "x", "agent-0-key.pem": "x", "site.json": "{}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	made := build(dir)
	got := kinds(t, []byte(made))
	for _, want := range []string{"Job dsbo-agent-0\n", "Secret dsbo-certs\n", "ConfigMap dsbo-cluster\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("a site has\n%s", got)
		}
	}
	if !strings.Contains(made, "- -agent=0\n") || strings.Contains(made, "- -agent=2\n") ||
		!strings.Contains(made, "image: registry.example/dsbo:") {
		t.Error(made)
	}
}

func checkCompose(t *testing.T, path string, _ []byte) {
	p, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{WorkingDir: folder,
		ConfigFiles: []types.ConfigFile{{Filename: path}}, Environment: map[string]string{"AGENT": "2"}})
	if err != nil {
		t.Fatal(err)
	}
	s := p.Services["agent"]
	if s.User != "65532:65532" || !s.ReadOnly || len(s.Volumes) != 3 || s.Command[1] != "-agent=2" {
		t.Errorf("%+v", s)
	}
}

// checkGrafana decodes the dashboard, in which each field must be known, and parses its queries.
func checkGrafana(t *testing.T, _ string, text []byte) {
	//lint:ignore SA1019 the file is of this version, which all of Grafana take
	var d dashboard.Dashboard
	if err := d.UnmarshalJSONStrict(text); err != nil && err.Error() != "" {
		t.Error(err)
	}
	queries := regexp.MustCompile(`"expr": "([^"]*)"`).FindAllSubmatch(text, -1)
	if len(queries) < 10 || len(d.Panels) < 10 {
		t.Errorf("%d queries, %d panels", len(queries), len(d.Panels))
	}
	for _, q := range queries {
		if _, err := parser.NewParser(parser.Options{}).ParseExpr(string(q[1])); err != nil {
			t.Errorf("%s: %v", q[1], err)
		}
	}
}

func checkRules(t *testing.T, _ string, text []byte) {
	g, errs := rulefmt.Parse(text, false, model.UTF8Validation, parser.NewParser(parser.Options{}),
		slog.New(slog.DiscardHandler))
	if err := errors.Join(errs...); err != nil || len(g.Groups) != 1 {
		t.Error(err)
	}
}
