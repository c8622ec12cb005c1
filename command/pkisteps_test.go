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

	"dsbo/internal/testkit"
	"dsbo/network/pki"
)

// TestPKISteps: sites make their keys, the authority signs what it has shown, and renews it.
func TestPKISteps(t *testing.T) {
	dir := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	file := writeCluster(t, dir, 2, nil)
	runCommand(t, "pki", "authority", "-out="+at("ca"), "-name=our consortium", "-days=60")
	digest := regexp.MustCompile("[0-9a-f]{64}")
	var digests, requests []string
	for i, site := range []string{at("site0"), at("site1")} {
		asked := runCommand(t, "pki", "request", "-agent="+[]string{"0", "1"}[i], "-out="+site)
		digests = append(digests, digest.FindString(asked))
		requests = append(requests, filepath.Join(site, pki.Name(i)+".csr"))
	}
	sign := append([]string{"pki", "sign", "-ca=" + at("ca"), "-cluster=" + file, "-out=" + at("signed")}, requests...)
	shown := runCommand(t, sign...)
	for i, d := range digests {
		if d == "" || !strings.Contains(shown, d) || !strings.Contains(shown, pki.Name(i)+" with a key ECDSA P-256") {
			t.Errorf("the digest of %s is %q; what is shown:\n%s", pki.Name(i), d, shown)
		}
	}
	if _, err := os.Stat(at("signed")); !errors.Is(err, os.ErrNotExist) ||
		!strings.Contains(shown, "nothing is signed: -yes signs them") {
		t.Errorf("signed without -yes: %v\n%s", err, shown)
	}
	sign = append(append([]string{}, sign[:5]...), append([]string{"-yes"}, requests...)...)
	if out := runCommand(t, sign...); !strings.Contains(out, "2 signed in ") {
		t.Error(out)
	}
	for _, name := range []string{"ca.pem", "agent-1.pem"} {
		testkit.OK(os.WriteFile(at("site1", name), testkit.Get(os.ReadFile(at("signed", name))), 0o600))
	}
	now := time.Now()
	before := testkit.Get(pki.Load(at("site1"), 1, now))
	if _, err := os.Stat(at("signed", "agent-1-key.pem")); err == nil {
		t.Error("the authority has a key of a site")
	}
	if left := before.Expires().Sub(now); left > 60*24*time.Hour {
		t.Errorf("valid for %v, longer than the authority", left)
	}
	runCommand(t, "pki", "renew", "-ca="+at("ca"), "-days=20", at("site1", "agent-1.pem"))
	after := testkit.Get(pki.Load(at("site1"), 1, now))
	if left := after.Expires().Sub(now); left > 21*24*time.Hour || !after.SameKey(before) {
		t.Errorf("renewed for %v; it must be for 20 days, with the same key", left)
	}
}

// TestCertificate: an agent takes up files that change, keeps what it has when they are not good,
// and says when it expires.
func TestCertificate(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	a := testkit.Get(pki.NewAuthority("run", now, now.AddDate(1, 0, 0)))
	r := testkit.Get(pki.MakeRequest(dir, 1))
	put := func(days int) {
		testkit.OK(pki.ReplaceCertificate(filepath.Join(dir, "agent-1.pem"),
			testkit.Get(a.Grant(r, now, now.AddDate(0, 0, days)))))
	}
	put(20)
	testkit.OK(a.Save(dir))
	var log bytes.Buffer
	c := certificate{files: pki.Files{Folder: dir, Agent: 1}, run: "run", hash: "hash",
		log: slog.New(slog.NewTextHandler(&log, nil)), monitor: newMonitor("r", 1)}
	testkit.Get2(c.load(now))
	renewed, removed := 0, 0
	remove := func(run string) {
		_ = os.Remove(pki.RemovalFile(dir, 3))
		removal := pki.Removal{Agent: 3, Run: run, Hash: "hash"}
		testkit.OK(pki.SaveRemoval(dir, 3, testkit.Get(a.Remove(removal))))
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
		clerk := clerk{err: step.err}
		c.check(now.AddDate(0, 0, step.days), &clerk)
		renewed, removed = clerk.renewed, max(removed, step.removed)
		if len(clerk.removals) != removed {
			t.Errorf("%s: removals %q, want %d", step.name, clerk.removals, removed)
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

// A clerk is an agent that counts what it takes up.
type clerk struct {
	err      error // of a new certificate
	renewed  int
	removals []string
}

func (c *clerk) Renew(*pki.Identity) error {
	if c.err == nil {
		c.renewed++
	}
	return c.err
}

func (c *clerk) Remove(removals []string) error {
	c.removals = removals
	return nil
}
