package pki_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
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

// madeElsewhere returns the identity of agent 0, for a key of its own, with a certificate that an
// intermediate authority has signed, as step-ca does: it leads to the root of ca.pem.
func madeElsewhere(t *testing.T, key crypto.Signer) *pki.Identity {
	t.Helper()
	dir := t.TempDir()
	keys := [3]crypto.Signer{testkit.Get(ecdsa.GenerateKey(elliptic.P384(), rand.Reader)), newKey(), key}
	certificates := [3]*x509.Certificate{
		{Subject: pkix.Name{CommonName: "root"}, IsCA: true, KeyUsage: x509.KeyUsageCertSign},
		{Subject: pkix.Name{CommonName: "intermediate"}, IsCA: true, KeyUsage: x509.KeyUsageCertSign},
		{DNSNames: []string{pki.Name(0)},
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}},
	}
	for i, c := range certificates {
		c.NotBefore, c.NotAfter, c.BasicConstraintsValid = start, end.Add(time.Duration(-i)*time.Minute), true
		above := max(0, i-1)
		certificates[i] = testkit.Get(x509.ParseCertificate(testkit.Get(
			x509.CreateCertificate(rand.Reader, c, certificates[above], keys[i].Public(), keys[above]))))
	}
	write := func(name, kind string, ders ...[]byte) {
		var text []byte
		for _, der := range ders {
			text = append(text, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})...)
		}
		testkit.OK(os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	write("ca.pem", "CERTIFICATE", certificates[0].Raw)
	write("agent-0-key.pem", "PRIVATE KEY", testkit.Get(x509.MarshalPKCS8PrivateKey(key)))
	write("agent-0.pem", "CERTIFICATE", certificates[2].Raw)
	_, err := pki.Load(dir, 0, now)
	testkit.WantError(t, "without the intermediate one", err, dsbo.ErrConfig, "unknown authority")
	write("agent-0.pem", "CERTIFICATE", certificates[2].Raw, certificates[1].Raw)
	id := testkit.Get(pki.Load(dir, 0, now))
	if want := end.Add(-2 * time.Minute); id.Expires().Unix() != want.Unix() {
		t.Errorf("valid until %v, want %v", id.Expires(), want)
	}
	return id
}

// TestSign: what an agent signs with a key of any kind, another one of the run verifies, and
// nothing else; and it connects.
func TestSign(t *testing.T) {
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	testkit.OK(err)
	run := authority(t, "run")
	for name, id := range map[string]*pki.Identity{
		"P-256":   issue(t, run, 0, start, end),
		"Ed25519": madeElsewhere(t, ed),
		"RSA":     madeElsewhere(t, testkit.Get(rsa.GenerateKey(rand.Reader, 2048))),
	} {
		t.Run(name, func(t *testing.T) {
			message := []byte("a key")
			signature := testkit.Get(id.Sign(message))
			testkit.OK(id.Verify(0, id.Certificate(), message, signature, now))
			connect(t, id, id)
			for _, c := range []struct {
				name      string
				by        *pki.Identity
				agent     int
				message   string
				signature []byte
				now       time.Time
				want      string
			}{
				{"another message", id, 0, "a kex", signature, now, "verification"},
				{"another signature", id, 0, "a key", testkit.Get(id.Sign([]byte("other"))), now, "verification"},
				{"another agent", id, 1, "a key", signature, now,
					"it must be the certificate of agent 1; it is that of agent 0"},
				{"earlier", id, 0, "a key", signature, start.Add(-time.Hour), "not yet valid"},
				{"later", id, 0, "a key", signature, end.Add(time.Hour), "expired"},
				{"another authority", issue(t, authority(t, "other"), 1, start, end), 0, "a key", signature, now,
					"unknown authority"},
			} {
				err := c.by.Verify(c.agent, id.Certificate(), []byte(c.message), c.signature, c.now)
				testkit.WantError(t, c.name, err, nil, c.want)
			}
			for _, none := range []string{"no certificate", ""} {
				if err := id.Verify(0, []byte(none), message, signature, now); err == nil {
					t.Errorf("%q is taken for a certificate", none)
				}
			}
		})
	}
}

// TestDerive: the same agent derives the same bytes for a purpose, also when it has been loaded
// again, and others for another one.
func TestDerive(t *testing.T) {
	dir := folder(t)
	derive := func(agent int, purpose string) []byte {
		return testkit.Get(testkit.Get(pki.Load(dir, agent, now)).Derive(purpose))
	}
	first := derive(0, "masks")
	if len(first) != 32 || !bytes.Equal(first, derive(0, "masks")) {
		t.Errorf("%x and %x; it must be the same 32 bytes", first, derive(0, "masks"))
	}
	if bytes.Equal(first, derive(0, "other")) || bytes.Equal(first, derive(1, "masks")) {
		t.Error("another purpose or agent has the same bytes")
	}
}
