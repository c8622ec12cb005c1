package command

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/network/pki"
)

// unpack writes the files of an archive, and returns the folder that has all of them.
func unpack(t *testing.T, path, folder string) (top string) {
	t.Helper()
	r := tar.NewReader(testkit.Get(gzip.NewReader(bytes.NewReader(testkit.Get(os.ReadFile(path))))))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return top
		}
		testkit.OK(err)
		name := filepath.Join(folder, h.Name)
		testkit.OK(os.MkdirAll(filepath.Dir(name), 0o755))
		testkit.OK(os.WriteFile(name, testkit.Get(io.ReadAll(r)), h.FileInfo().Mode()))
		top = filepath.Join(folder, strings.Split(h.Name, "/")[0])
	}
}

// TestKit: 2n + 3 commands bring n sites to a run: the authority's own, kit and sign.sh, and at
// each site pki request and install.sh, which refuses what is not filled in. The policy of the kit
// lets the run pass, whose sites sign what has left them.
func TestKit(t *testing.T) {
	skipShort(t, "a run of tune over TLS")
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip(err)
	}
	const n = 3
	dir := t.TempDir()
	authority, kits := filepath.Join(dir, "authority"), filepath.Join(dir, "kits")
	requests := filepath.Join(dir, "asked")
	testkit.OK(os.MkdirAll(authority, 0o755))
	testkit.OK(os.MkdirAll(requests, 0o755))
	file := writeCluster(t, dir, n, map[string]any{"run": "ill", "task": "tune", "flags": tuneFlags})
	execute(t, nil, "", openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
		"-keyout", authority+"/ca-key.pem", "-out", authority+"/ca.pem", "-days", "3650", "-subj", "/CN=ours")
	told := runCommand(t, "kit", "-cluster="+file, "-ca="+authority, "-out="+kits)
	if told != "3 kits of ill, and sign.sh for the authority, in "+kits+"\n" {
		t.Error(told)
	}
	again := filepath.Join(dir, "again")
	runCommand(t, "kit", "-cluster="+file, "-ca="+authority, "-out="+again)
	var homes []string
	for i := range n {
		name := fmt.Sprintf("ill-agent-%d.tar.gz", i)
		if !bytes.Equal(testkit.Get(os.ReadFile(filepath.Join(kits, name))),
			testkit.Get(os.ReadFile(filepath.Join(again, name)))) {
			t.Errorf("%s is another one the second time", name)
		}
		home := unpack(t, filepath.Join(kits, name), filepath.Join(dir, fmt.Sprint("home", i)))
		homes = append(homes, home)
		runCommand(t, "pki", "request", fmt.Sprint("-agent=", i), "-out="+filepath.Join(home, "certs"))
		move(filepath.Join(home, "certs"), requests, pki.Name(i)+".csr")
	}
	sign := func(answers string, agents ...int) string {
		args := []string{filepath.Join(kits, "sign.sh"), authority}
		for _, i := range agents {
			args = append(args, filepath.Join(requests, pki.Name(i)+".csr"))
		}
		return execute(t, nil, answers, "sh", args...)
	}
	if text := sign("no\n", 0); !strings.Contains(text, "agent-0 is not signed") {
		t.Error(text)
	}
	if text := sign("yes\nyes\nyes\n", 0, 1, 2); strings.Count(text, "agent-") != 2*n {
		t.Error(text)
	}
	for i, home := range homes {
		move(requests, filepath.Join(home, "certs"), pki.Name(i)+".pem")
		writeTable(filepath.Join(home, "ours.csv"), i)
	}
	install(t, dir, homes[1], 1)
	out := filepath.Join(dir, "out")
	atOnce(t, n, withoutPage, func(i int) []string {
		home := homes[i]
		return []string{"tune", "-cluster=" + home + "/cluster.json", fmt.Sprint("-agent=", i),
			"-certs=" + home + "/certs", "-out=" + out, "-data=" + home + "/ours.csv"}
	})
	disclosed(t, out, authority, n)
}

// move takes a file from a folder to another.
func move(from, to, name string) {
	testkit.OK(os.Rename(filepath.Join(from, name), filepath.Join(to, name)))
}

// install runs install.sh of a kit before and after its gaps are filled in.
func install(t *testing.T, dir, home string, agent int) {
	t.Helper()
	bin, root := filepath.Join(dir, "bin"), filepath.Join(dir, "root")
	testkit.OK(os.MkdirAll(bin, 0o755))
	testkit.OK(os.Symlink(testkit.Get(os.Executable()), filepath.Join(bin, "dsbo")))
	testkit.OK(os.WriteFile(filepath.Join(bin, "systemctl"), []byte("#!/bin/sh\necho systemctl \"$@\"\n"), 0o755))
	env := []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "DESTDIR=" + root}
	script := filepath.Join(home, "install.sh")
	if text := execute(t, env, "", "sh", script); !strings.Contains(text, "FILL_IN must be replaced") {
		t.Error(text)
	}
	edit(t, filepath.Join(home, pki.Name(agent)+".env"), "FILL_IN", filepath.Join(home, "ours.csv"))
	text := execute(t, env, "", "sh", script)
	for _, want := range []string{"certificate: ok", "data, and site.json: ok",
		"the agent tries again what was not reached", "systemctl enable --now dsbo-agent@1"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, name := range []string{"cluster.json", "site.json", "agent-1.env", "certs/ca.pem", "certs/agent-1.pem",
		"certs/agent-1-key.pem"} {
		if info, err := os.Stat(filepath.Join(root, "etc/dsbo", name)); err != nil || info.Size() == 0 {
			t.Errorf("%s is not installed: %v", name, err)
		}
	}
	testkit.OK(os.WriteFile(filepath.Join(root, "etc/dsbo/site.json"), []byte("{}"), 0o644))
	if text := execute(t, env, "", "sh", script); !strings.Contains(text, "/etc/dsbo/site.json is another one") {
		t.Error(text)
	}
}

// execute runs a program with more environment and an input, and returns all that it wrote.
func execute(t *testing.T, env []string, input, name string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Env, c.Stdin = append(os.Environ(), env...), strings.NewReader(input)
	text, err := c.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 2) {
		t.Fatalf("%v\n%s", err, text)
	}
	return string(text)
}

// TestKitFiles: a kit has what its README names, for each task; its policy is one, and asks for
// what is known of the run; it replaces no file.
func TestKitFiles(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name    string
		cluster map[string]any
		readme  []string
		env     string
	}{
		{
			"a site's table",
			map[string]any{"task": "tune", "agents": []string{"a:7000", "", "c:7002"},
				"flags": []string{"-target=ill"}},
			[]string{"dsbo tune -cluster cluster.json -agent 1 -certs certs -out results -data=FILL_IN",
				"the site's own -data", "outbound", "HTTPS_PROXY"},
			"DSBO_VERB=tune\nDSBO_FLAGS=\"-log=json -data=FILL_IN\"\n",
		},
		{"common data", nil, []string{"dsbo agent -cluster"}, "DSBO_VERB=agent\nDSBO_FLAGS=\"-log=json\"\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			here := t.TempDir()
			kits := filepath.Join(here, "kits")
			file, certs, _ := writeCertified(t, here, 3, c.cluster)
			runCommand(t, "kit", "-cluster="+file, "-ca="+certs, "-out="+kits)
			home := unpack(t, filepath.Join(kits, "small-agent-1.tar.gz"), filepath.Join(dir, c.name))
			read := func(name string) string { return string(testkit.Get(os.ReadFile(filepath.Join(home, name)))) }
			for _, want := range c.readme {
				if !strings.Contains(read("README.txt"), want) {
					t.Errorf("no %q in\n%s", want, read("README.txt"))
				}
			}
			if !strings.HasSuffix(read("agent-1.env"), c.env) {
				t.Error(read("agent-1.env"))
			}
			if read("cluster.json") != string(testkit.Get(os.ReadFile(file))) || read("certs/ca.pem") !=
				string(testkit.Get(os.ReadFile(filepath.Join(certs, "ca.pem")))) {
				t.Error("another cluster file or authority")
			}
			p := testkit.Get(site.ParsePolicy([]byte(read("certs/site.json"))))
			if p.LeastSites != 3 || p.Unmasked || len(p.Admit) != 1 {
				t.Errorf("policy %+v", p)
			}
			fields := map[string]any{}
			testkit.OK(json.Unmarshal(testkit.Get(json.Marshal(site.Policy{})), &fields))
			for name := range fields {
				if !strings.Contains(read("README.txt"), "\n       "+name+" ") {
					t.Errorf("README.txt does not explain %s", name)
				}
			}
			names := testkit.Get(filepath.Glob(filepath.Join(home, "*")))
			slices.Sort(names)
			if len(names) != 6 {
				t.Errorf("files %q", names)
			}
			_, err := command(t, "kit", "-cluster="+file, "-ca="+certs, "-out="+kits)
			wantError(t, err, cli.Usage, "exists: remove it or name another folder")
		})
	}
}
