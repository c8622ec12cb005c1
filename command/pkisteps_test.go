package command

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/network/pki"
)

// TestRequestAndRenew: a site makes its key and sees its digest; a certificate is renewed with the
// same key, and for no longer than the authority is valid.
func TestRequestAndRenew(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	asked := runCommand(t, "pki", "request", "-agent=1", "-out="+dir)
	told := regexp.MustCompile(`^agent-1 with a key ECDSA P-256, SHA-256 of the public key:\n  [0-9a-f]{64}\n$`)
	if !told.MatchString(asked) {
		t.Error(asked)
	}
	certs := t.TempDir()
	runCommand(t, "pki", "-cluster="+writeCluster(t, t.TempDir(), 2, nil), "-out="+certs)
	path := filepath.Join(certs, "agent-1.pem")
	before := testkit.Get(pki.LoadCertificate(path))
	runCommand(t, "pki", "renew", "-ca="+certs, "-days=20", path)
	after := testkit.Get(pki.LoadCertificate(path))
	if left := after.NotAfter.Sub(now); left > 21*24*time.Hour || pki.KeyDigest(before) != pki.KeyDigest(after) {
		t.Errorf("renewed for %v; it must be for 20 days, with the same key", left)
	}
	_, err := command(t, "pki", "renew", "-ca="+certs, path)
	wantError(t, err, cli.Usage, "-days 29 is the most")
}

// TestCertificate: an agent takes up files that change, keeps what it has when they are not good,
// and reports its expiry.
func TestCertificate(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	a := testkit.Get(pki.NewAuthority("run", now, now.AddDate(1, 0, 0)))
	testkit.OK(testkit.Get(a.Issue(1, now, now.AddDate(0, 0, 20))).Save(dir))
	testkit.OK(a.Save(dir))
	own := testkit.Get(pki.LoadCertificate(filepath.Join(dir, "agent-1.pem")))
	put := func(days int) {
		testkit.OK(pki.ReplaceCertificate(filepath.Join(dir, "agent-1.pem"),
			testkit.Get(a.Renew(own, now, now.AddDate(0, 0, days)))))
	}
	var log bytes.Buffer
	c := certificate{files: pki.Files{Folder: dir, Agent: 1}, run: "run", hash: "hash",
		log: slog.New(slog.NewTextHandler(&log, nil)), monitor: newMonitor("r", 1)}
	testkit.Get2(c.load(now))
	renewed, removed := 0, 0
	remove := func(run string) {
		_ = os.Remove(filepath.Join(dir, "agent-3.removal"))
		testkit.Get(pki.SaveWarrant(dir, testkit.Get(a.Remove(3, run, "hash"))))
	}
	for _, step := range []struct {
		name  string
		days  int // after the start
		files func()
		err   error // of the exchange
		log   string
		taken int

		removed int // removals that are known from then on
	}{
		{name: "as it was", days: 1},
		{name: "soon", days: 7, log: `level=WARN msg="the certificate expires soon" days=12`},
		{name: "said", days: 7},
		{name: "said again", days: 9, log: "days=10"},
		{name: "another key", days: 9, files: func() { put(30) }, err: errors.New("other key"),
			log: `and are not used" reason="other key"`},
		{name: "half", days: 9, files: func() {
			testkit.OK(os.WriteFile(filepath.Join(dir, "agent-1.pem"), nil, 0o600))
		}, log: "and are not used"},
		{name: "renewed", days: 9, files: func() { put(40) },
			log:   `msg="the certificate was renewed: connections are made again with it" name=agent-1 expires=`,
			taken: 1},
		{name: "later", days: 12},
		{name: "another run's removal", days: 12, files: func() { remove("other") },
			log: `msg="a removal is not used" reason=`},
		{name: "a removal", days: 12, files: func() { remove("run") }, removed: 1},
		{name: "gone", days: 41, log: "days=-1"},
	} {
		if step.files != nil {
			step.files()
		}
		log.Reset()
		fake := countingAgent{err: step.err}
		c.check(now.AddDate(0, 0, step.days), &fake)
		renewed, removed = fake.renewed, max(removed, step.removed)
		if len(fake.removals) != removed {
			t.Errorf("%s: removals %q, want %d", step.name, fake.removals, removed)
		}
		if text := log.String(); renewed != step.taken || !strings.Contains(text, step.log) ||
			step.log == "" && text != "" {
			t.Errorf("%s: %d renewals, and the log says\n%swant %d and %q", step.name, renewed, text,
				step.taken, step.log)
		}
	}
	if want := now.AddDate(0, 0, 40).Unix(); c.monitor.current().expires.Unix() != want {
		t.Errorf("the monitor says %v", c.monitor.current().expires)
	}
	stop := c.watchFiles(nil)
	stop()
}

// A countingAgent is an agent that counts what it takes up.
type countingAgent struct {
	err      error // of a new certificate
	renewed  int
	removals []string
}

func (c *countingAgent) Renew(*pki.Identity) error {
	if c.err == nil {
		c.renewed++
	}
	return c.err
}

func (c *countingAgent) Remove(removals []string) error {
	c.removals = removals
	return nil
}
