package pki_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network/pki"
)

func newKey() *ecdsa.PrivateKey { return testkit.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) }

// issueTo gives a site agent i's key and certificate and ca.pem, and returns the agent's identity.
func issueTo(t *testing.T, site string, a *pki.Authority, i int) *pki.Identity {
	t.Helper()
	testkit.OK(issue(t, a, i, start, end).Save(site))
	testkit.OK(a.SaveCertificate(site))
	return testkit.Get(pki.Load(site, i, now))
}

// TestRequest: a site makes its key, which nobody else can read, and a request that its key has
// signed, for the name of its agent.
func TestRequest(t *testing.T) {
	site := t.TempDir()
	first, second := testkit.Get(pki.MakeRequest(site, 3)), testkit.Get(pki.MakeRequest(site, 3))
	block, _ := pem.Decode(testkit.Get(os.ReadFile(filepath.Join(site, "agent-3.csr"))))
	csr := testkit.Get(x509.ParseCertificateRequest(block.Bytes))
	testkit.OK(csr.CheckSignature())
	digest := fmt.Sprintf("%x", sha256.Sum256(csr.RawSubjectPublicKeyInfo))
	if !slices.Equal(csr.DNSNames, []string{"agent-3"}) || first.Key != "ECDSA P-256" || first.Fingerprint != digest {
		t.Errorf("the request is %+v, for %q with a key of digest %s", first, csr.DNSNames, digest)
	}
	if *first != *second {
		t.Error("a second request is for another key")
	}
	if info := testkit.Get(os.Stat(filepath.Join(site, "agent-3-key.pem"))); info.Mode() != fs.FileMode(0o600) {
		t.Errorf("the key has mode %v", info.Mode())
	}
}

// TestKeysOfOtherPrograms are used in the forms in which these write them.
func TestKeysOfOtherPrograms(t *testing.T) {
	ec, rsaKey := newKey(), testkit.Get(rsa.GenerateKey(rand.Reader, 2048))
	block := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	sec1 := block("EC PRIVATE KEY", testkit.Get(x509.MarshalECPrivateKey(ec)))
	for _, c := range []struct{ name, text, want string }{
		{"SEC 1", sec1, "ECDSA P-256"},
		{"SEC 1 after its curve", block("EC PARAMETERS", []byte{6, 0}) + sec1, "ECDSA P-256"},
		{"PKCS #1", block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey)), "RSA 2048"},
		{"a weak key", block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(
			testkit.Get(rsa.GenerateKey(rand.Reader, 1024)))), "at least 2048 bits; it has 1024"},
		{"a certificate", block("CERTIFICATE", []byte{1}), "it is a CERTIFICATE"},
		{"words", "words", "there must be a PEM block, a private key; there is none"},
		{"nothing after the curve", block("EC PARAMETERS", []byte{6, 0}), "there is none"},
	} {
		dir := t.TempDir()
		testkit.OK(os.WriteFile(filepath.Join(dir, "agent-3-key.pem"), []byte(c.text), 0o600))
		r, err := pki.MakeRequest(dir, 3)
		switch {
		case err != nil && (!errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error %v, want dsbo.ErrConfig with %q", c.name, err, c.want)
		case err == nil && r.Key != c.want:
			t.Errorf("%s: a key %s, want %s", c.name, r.Key, c.want)
		}
	}
}

// TestRenew keeps the key, also of a certificate that has expired, and is for those that the
// authorities of ca.pem have signed.
func TestRenew(t *testing.T) {
	run, site := authority(t, "run"), t.TempDir()
	before := issueTo(t, site, run, 3)
	path := filepath.Join(site, "agent-3.pem")
	own := testkit.Get(pki.LoadCertificate(path))
	old := testkit.Get(run.Renew(own, start, now.Add(-time.Minute)))
	testkit.OK(pki.ReplaceCertificate(path, testkit.Get(run.Renew(old, start, end))))
	after := testkit.Get(pki.Load(site, 3, now))
	key := func(id *pki.Identity) string {
		return pki.KeyDigest(testkit.Get(x509.ParseCertificates(id.Certificate()))[0])
	}
	if key(after) != key(before) {
		t.Error("a renewed certificate must have the key of the one before")
	}
	other := filepath.Join(t.TempDir(), "agent-4.pem")
	issueTo(t, filepath.Dir(other), authority(t, "other"), 4)
	for want, cert := range map[string]*x509.Certificate{
		`it is signed by "other"`: testkit.Get(pki.LoadCertificate(other)),
		"must have one DNS name":  testkit.Get(pki.LoadCertificate(filepath.Join(site, "ca.pem"))),
	} {
		_, err := run.Renew(cert, start, end)
		testkit.WantError(t, "another certificate", err, dsbo.ErrConfig, want)
	}
}

// TestRollOver: while ca.pem has the new authority before the old one, certificates of both are
// accepted, in both directions, and the files are taken up when they change.
func TestRollOver(t *testing.T) {
	old, site := authority(t, "old"), t.TempDir()
	issueTo(t, site, old, 0)
	files := pki.Files{Folder: site, Agent: 0}
	changed := func(want bool) *pki.Identity {
		t.Helper()
		id, err := files.Changed(now)
		if err != nil || (id != nil) != want {
			t.Fatalf("the files have changed is %t, %v, want %t", id != nil, err, want)
		}
		return id
	}
	first := changed(true)
	changed(false)

	office := t.TempDir() // of the new authority, which accepts certificates of the old one too
	fresh := testkit.Get(pki.NewAuthority("new", start, end.Add(time.Hour)))
	testkit.OK(fresh.Save(office))
	ca := filepath.Join(office, "ca.pem")
	both := append(testkit.Get(os.ReadFile(ca)), testkit.Get(os.ReadFile(filepath.Join(site, "ca.pem")))...)
	testkit.OK(os.WriteFile(ca, both, 0o600))
	testkit.OK(os.WriteFile(filepath.Join(site, "ca.pem"), both, 0o600))
	between := changed(true) // a certificate of the old authority, and trust in both

	next := testkit.Get(pki.LoadAuthority(office))
	other := issue(t, next, 1, start, end.Add(time.Minute))
	connect(t, between, other)
	connect(t, other, between)
	if _, serverErr, _ := handshake(t, first.Server(), other.Client(0)); serverErr == nil {
		t.Error("who has the old authority alone accepts the new one")
	}
	path := filepath.Join(site, "agent-0.pem")
	renewed := testkit.Get(next.Renew(testkit.Get(pki.LoadCertificate(path)), start, end.Add(time.Minute)))
	testkit.OK(pki.ReplaceCertificate(path, renewed))
	if id := changed(true); id.Expires().Unix() != end.Add(time.Minute).Unix() {
		t.Errorf("expires %v, want %v", id.Expires(), end.Add(time.Minute))
	}
	testkit.OK(os.WriteFile(path, []byte("half"), 0o600))
	if _, err := files.Changed(now); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("half a file: %v", err)
	}
	changed(false) // it is said once
}
