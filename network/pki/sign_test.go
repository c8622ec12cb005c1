package pki_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network/pki"
)

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
