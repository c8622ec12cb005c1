package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestSpecialFiles: a run folder that somebody sent, in which a file is a FIFO, a device or longer
// than any is, neither hangs a verb nor fills memory: it is refused by name with exit code 2.
func TestSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "run")
	var rows strings.Builder
	rows.WriteString("a,t\n")
	for i := range 60 {
		fmt.Fprintf(&rows, "%d,%s\n", i%7, []string{"no", "yes"}[i%3/2])
	}
	testkit.OK(os.WriteFile(filepath.Join(dir, "site.csv"), []byte(rows.String()), 0o666))
	tune := []string{"tune", "-data", filepath.Join(dir, "site.csv"), "-target", "t", "-agents", "2", "-K", "1",
		"-model", "linear", "-quiet", "-report=false"}
	testkit.Get(command(t, append(tune, "-out", run)...))
	predict := []string{"predict", "-data", dir + "/site.csv", "-model"}
	from := append(tune, "-out", dir+"/next", "-from")
	for name, verbs := range map[string][][]string{
		runs.ConfigFile:  {{"report"}, {"collect", "-out", dir + "/all"}, append(tune, "-resume", "-out")},
		runs.MetricsFile: {{"report"}, {"collect", "-out", dir + "/all"}},
		runs.LambdaFile:  {{"report"}},
		runs.ModelFile:   {{"report"}, from, predict},
		runs.WeightsFile: {predict},
		runs.SumsFile:    {{"report"}, from, predict},
	} {
		for what, c := range specialFiles {
			out := filepath.Join(t.TempDir(), "sent")
			testkit.OK(os.CopyFS(out, os.DirFS(run)))
			path := filepath.Join(out, name)
			testkit.OK(os.Remove(path))
			testkit.OK(c.put(path))
			for _, verb := range verbs {
				t.Run(verb[0]+" "+name+" "+what, func(t *testing.T) {
					_, err := command(t, append(verb[:len(verb):len(verb)], out)...)
					wantError(t, err, cli.Usage, c.says)
					wantError(t, err, cli.Usage, path)
				})
			}
		}
		if name == runs.SumsFile {
			out := filepath.Join(t.TempDir(), "emptied")
			testkit.OK(os.CopyFS(out, os.DirFS(run)))
			testkit.OK(os.WriteFile(filepath.Join(out, name), nil, 0o666))
			for _, verb := range verbs {
				_, err := command(t, append(verb[:len(verb):len(verb)], out)...)
				wantError(t, err, cli.Usage, "must list the files of the run")
			}
		}
	}
}

// specialFiles are what a file may be in place of a regular one, with what is said of it.
var specialFiles = map[string]struct {
	put  func(path string) error
	says string
}{
	"FIFO": {func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"must be a regular file; its mode is p"},
	"device": {func(path string) error { return os.Symlink("/dev/zero", path) },
		"must be a regular file; its mode is D"},
	"long": {func(path string) error {
		testkit.OK(os.WriteFile(path, nil, 0o600))
		return os.Truncate(path, 5<<30) // which takes no space
	}, "bytes; it has 5368709120"},
}

// TestSpecialSettings: nor do files of a run's settings that somebody sent.
func TestSpecialSettings(t *testing.T) {
	dir := t.TempDir()
	certs, path := filepath.Join(dir, "certs"), filepath.Join(dir, "special.json")
	whole := writeCluster(t, dir, 3, nil)
	runCommand(t, "pki", "-cluster="+whole, "-out="+certs)
	table := filepath.Join(dir, "site.csv")
	testkit.OK(os.WriteFile(table, []byte("a,b\n"+strings.Repeat("1,2\n2,3\n3,1\n", 20)), 0o600))
	agent := []string{"agent", "-agent=0", "-check", "-out=" + dir, "-certs=" + certs, "-cluster="}
	ours := func(name string) string { return filepath.Join(certs, name) }
	for name, c := range map[string]struct {
		path string
		args []string
	}{
		"cluster file": {path, append(agent[:5:5], "-cluster="+path)},
		"policy":       {ours("site.json"), append(agent[:5:5], "-cluster="+whole)},
		"authority":    {ours("ca.pem"), append(agent[:5:5], "-cluster="+whole)},
		"certificate":  {ours("agent-0.pem"), append(agent[:5:5], "-cluster="+whole)},
		"key":          {ours("agent-0-key.pem"), append(agent[:5:5], "-cluster="+whole)},
		"graph":        {path, []string{"synthetic", "-K=1", "-graph=" + path, "-out=" + dir + "/graph"}},
		"spec":         {path, []string{"compare", "-out=" + dir + "/compared", path}},
		"groups": {path, []string{"tune", "-agents=1", "-data=" + table, "-target=a", "-groups=" + path,
			"-out=" + dir + "/grouped"}},
		"renewal": {ours("agent-1.pem"),
			[]string{"pki", "renew", "-days=9", "-ca=" + certs, ours("agent-1.pem")}},
		"kit's cluster": {path, []string{"kit", "-cluster=" + path, "-ca=" + certs, "-out=" + dir + "/kits"}},
	} {
		for what, special := range specialFiles {
			if name == "key" && what == "device" { // others can read it, which is refused before
				continue
			}
			t.Run(name+" "+what, func(t *testing.T) {
				before, err := os.ReadFile(c.path)
				_ = os.Remove(c.path)
				testkit.OK(special.put(c.path))
				_, refused := command(t, c.args...)
				testkit.OK(os.Remove(c.path))
				if err == nil {
					testkit.OK(os.WriteFile(c.path, before, 0o600))
				}
				wantError(t, refused, cli.Usage, special.says)
				wantError(t, refused, cli.Usage, c.path)
			})
		}
	}
}
