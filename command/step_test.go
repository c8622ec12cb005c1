package command

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network/pki"
)

// TestStep: the commands of step that deploy/README.md has make a certificate of agent 3 for its
// run, and renew it with its key.
func TestStep(t *testing.T) {
	for _, name := range []string{"step", "step-ca"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	dir, certs := t.TempDir(), t.TempDir()
	env, password := []string{"STEPPATH=" + dir}, filepath.Join(dir, "password")
	testkit.OK(os.WriteFile(password, []byte("secret\n"), 0o600))
	l := testkit.Get(net.Listen("tcp", "127.0.0.1:0"))
	address := l.Addr().String()
	testkit.OK(l.Close())
	execute(t, env, "", "step", "ca", "init", "--name=ours", "--dns=127.0.0.1", "--address="+address,
		"--provisioner=admin", "--password-file="+password, "--provisioner-password-file="+password,
		"--deployment-type=standalone")
	authority := exec.CommandContext(t.Context(), "step-ca", filepath.Join(dir, "config/ca.json"),
		"--password-file="+password)
	authority.Env = append(os.Environ(), env...)
	log := testkit.Get(authority.StderrPipe())
	testkit.OK(authority.Start())
	defer func() {
		_ = authority.Process.Kill()
		_ = authority.Wait()
	}()
	lines := bufio.NewScanner(log)
	for lines.Scan() && !strings.Contains(lines.Text(), "Serving HTTPS") {
	}
	go func() { _, _ = io.Copy(io.Discard, log) }()

	for _, l := range testkit.BlockTests("..") {
		if !strings.HasSuffix(l.How, "TestStep") {
			continue
		}
		for line := range strings.Lines(blockOf(t, l).Text) {
			text, _, _ := strings.Cut(strings.TrimSpace(line), "    ")
			text = strings.ReplaceAll(text, "--daemon", "--force")
			if strings.Contains(text, "--san") {
				text += " --provisioner-password-file " + password
			}
			before, _ := pki.LoadCertificate(filepath.Join(certs, "agent-3.pem"))
			c := exec.CommandContext(t.Context(), "sh", "-c", text)
			c.Dir, c.Env = certs, append(os.Environ(), env...)
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", text, err, out)
			}
			if after, _ := pki.LoadCertificate(filepath.Join(certs, "agent-3.pem")); before != nil &&
				pki.KeyDigest(before) != pki.KeyDigest(after) {
				t.Errorf("%s: another key", text)
			}
		}
	}
	id, now := testkit.Get(pki.Load(certs, 3, time.Now())), time.Now()
	trust := testkit.Get(pki.LoadTrust(certs)).InRun("tune-4", nil)
	message := []byte("message")
	if err := trust.Verify(3, id.Certificate(), message, testkit.Get(id.Sign(message)), now); err != nil {
		t.Error(err)
	}
}
