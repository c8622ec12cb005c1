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

	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/network/pki"
	"dsbo/runs"
)

// TestAuditIsCutOff: a chain is unbroken that has lost its end; what shows that, and what does not,
// is said.
func TestAuditIsCutOff(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, runs.AuditFile)
	var a site.Audit
	testkit.OK(a.Open(path))
	var heads []string
	for k := range 3 {
		testkit.Get(a.Write(fmt.Appendf(nil, `{"time":"2026-01-0%d","event":"e"}`, k+1)))
		heads = append(heads, a.Head())
	}
	testkit.OK(a.Close())
	const whole = ", unbroken; its"
	const none = ", unbroken (that lines are cut off at its end shows by -head alone); its"
	const after = ", unbroken (that lines are cut off after the one of"
	for _, c := range []struct{ flag, signed, want string }{
		{"", "", none}, {heads[2], "", whole}, {heads[0], "", after}, {"", heads[2], whole}, {"", heads[1], after},
		{heads[0], heads[2], whole}, {heads[2], heads[0], whole},
	} {
		disclosure := filepath.Join(folder, runs.DisclosureFile)
		if os.Remove(disclosure); c.signed != "" {
			testkit.OK(os.WriteFile(disclosure, fmt.Appendf(nil, `{"report":{"audit":%q}}`, c.signed), 0o600))
		}
		told := runCommand(t, "audit", "-head="+c.flag, folder)
		if !strings.Contains(told, ": 3 lines from 2026-01-01 to 2026-01-03"+c.want) ||
			!strings.Contains(told, heads[2]) {
			t.Errorf("%+v: %s", c, told)
		}
	}
}

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
	head := regexp.MustCompile(`, unbroken.*; its head is ([0-9a-f]{64})\n$`).FindStringSubmatch(told)
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
