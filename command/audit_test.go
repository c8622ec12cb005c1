package command

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/network/pki"
	"dsbo/runs"
)

// audited checks that the audit of an agent of TestDisclosure has what it did, and that the verb
// finds what is done to it.
func audited(t *testing.T, folder string) {
	t.Helper()
	path := filepath.Join(folder, runs.AuditFile)
	good := testkit.Get(os.ReadFile(path))
	key := pki.KeyDigest(testkit.Get(pki.LoadCertificate(filepath.Join(folder, "../../certs/agent-2.pem"))))
	for _, want := range []string{`"event":"starting","run":"small"`, `"event":"certificate","name":"agent-1"`,
		`"event":"connected to a neighbour","neighbour":2,"key":"` + key + `"`,
		`"event":"a session begins","session":[0-9]+,"members":\[0,1,2\]`,
		fmt.Sprintf(`"state":"finished","SHA256SUMS":"%x"`,
			sha256.Sum256(testkit.Get(runs.Folder(folder).ReadFile(runs.SumsFile))))} {
		if !regexp.MustCompile(want).Match(good) {
			t.Errorf("no %s in\n%s", want, good)
		}
	}
	told := runCommand(t, "audit", folder)
	head := regexp.MustCompile(`, whole; its head is ([0-9a-f]{64})\n$`).FindStringSubmatch(told)
	if head == nil {
		t.Fatal(told)
	}
	runCommand(t, "audit", "-head="+head[1], folder)
	_, err := command(t, "audit", "-head="+strings.Repeat("0", 64), folder)
	wantError(t, err, cli.Usage, "it must have a line of SHA-256 000")
	lines := bytes.SplitAfter(good, []byte("\n"))
	swapped := bytes.Clone(good)
	swapped = bytes.Replace(swapped, []byte(`"neighbour":2`), []byte(`"neighbour":0`), 1)
	for name, c := range map[string]struct {
		text []byte
		says string
	}{
		"changed":    {swapped, "must be of SHA-256"},
		"taken out":  {bytes.Join(append(lines[:1:1], lines[2:]...), nil), "line 2 must have this number; it has 3"},
		"cut":        {good[:len(good)-9], "it is cut or damaged"},
		"end is off": {lines[0], "as disclosure.json has it; it has none"},
	} {
		testkit.OK(os.WriteFile(path, c.text, 0o644))
		_, err := command(t, "audit", folder)
		if wantError(t, err, cli.Usage, c.says); t.Failed() {
			t.Log(name)
		}
	}
	testkit.OK(os.WriteFile(path, good, 0o644))
}
