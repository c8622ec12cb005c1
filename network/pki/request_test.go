package pki_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network/pki"
)

// csr returns a request in PEM, as another program makes it.
func csr(key crypto.Signer, change func(*x509.CertificateRequest)) []byte {
	r := &x509.CertificateRequest{Subject: pkix.Name{CommonName: "agent-3", Organization: []string{"Hospital"}},
		DNSNames: []string{"agent-3"}}
	if change != nil {
		change(r)
	}
	return pem.EncodeToMemory(
		&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: testkit.Get(x509.CreateCertificateRequest(rand.Reader, r, key))})
}

func newKey() *ecdsa.PrivateKey { return testkit.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) }

// join gives a site what the authority grants it, and returns the site's identity.
func join(t *testing.T, site string, a *pki.Authority, r *pki.Request) *pki.Identity {
	t.Helper()
	testkit.OK(pki.SaveCertificate(site, testkit.Get(a.Grant(r, start, end))))
	testkit.OK(a.PutCertificate(site))
	testkit.OK(a.PutCertificate(site)) // what is there is the same
	return testkit.Get(pki.Load(site, r.Agent, now))
}

// TestRequest: sites that make their keys themselves connect with what the authority has signed,
// and the authority has no key of theirs.
func TestRequest(t *testing.T) {
	run := authority(t, "run")
	sites := [2]string{t.TempDir(), t.TempDir()}
	var ids [2]*pki.Identity
	for i, site := range sites {
		r := testkit.Get(pki.MakeRequest(site, i))
		again := testkit.Get(pki.LoadRequest(filepath.Join(site, pki.Name(i)+".csr")))
		if r.Agent != i || again.Fingerprint() != r.Fingerprint() || len(r.Fingerprint()) != 64 ||
			r.KeyKind() != "ECDSA P-256" {
			t.Errorf("the request is %d, %s, %s, read again %s", r.Agent, r.KeyKind(), r.Fingerprint(),
				again.Fingerprint())
		}
		ids[i] = join(t, site, run, again)
	}
	connect(t, ids[1], ids[0])
	if info := testkit.Get(os.Stat(filepath.Join(sites[0], "agent-0-key.pem"))); info.Mode() != fs.FileMode(0o600) {
		t.Errorf("the key has mode %v", info.Mode())
	}
	// A request where there is a key is for that key.
	first, second := testkit.Get(pki.MakeRequest(sites[0], 0)), testkit.Get(pki.MakeRequest(sites[0], 0))
	if first.Fingerprint() != second.Fingerprint() {
		t.Error("a second request is for another key")
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
		case err == nil && r.KeyKind() != c.want:
			t.Errorf("%s: a key %s, want %s", c.name, r.KeyKind(), c.want)
		}
	}
}

func TestRequestsRefused(t *testing.T) {
	key := newKey()
	names := func(names ...string) []byte {
		return csr(key, func(r *x509.CertificateRequest) { r.DNSNames = names })
	}
	forged, _ := pem.Decode(csr(key, nil))
	forged.Bytes[len(forged.Bytes)-1] ^= 1
	for _, c := range []struct {
		name string
		text []byte
		want string // "": it is good
	}{
		{"good", csr(key, nil), ""},
		{"RSA", csr(testkit.Get(rsa.GenerateKey(rand.Reader, 2048)), nil), ""},
		{"no name", names(), "it must ask for one DNS name such as agent-0, and no other; it asks for []"},
		{"two agents", names("agent-3", "agent-4"), `it asks for ["agent-3" "agent-4"]`},
		{"another name", names("agent-3", "example.com"), `it asks for ["agent-3" "example.com"]`},
		{"an address", csr(key, func(r *x509.CertificateRequest) { r.IPAddresses = []net.IP{{127, 0, 0, 1}} }),
			"127.0.0.1"},
		{"mail", csr(key, func(r *x509.CertificateRequest) { r.EmailAddresses = []string{"a@b"} }), "a@b"},
		{"a forged signature", pem.EncodeToMemory(forged), "it must be signed by its own key"},
		{"words", []byte("words"), "there must be a PEM block, a CERTIFICATE REQUEST"},
		{"garbage", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: []byte{1}}), "asn1"},
	} {
		r, err := pki.ParseRequest(c.text)
		testkit.WantError(t, c.name, err, nil, c.want)
		if err == nil && r.Agent != 3 {
			t.Errorf("%s: agent %d, want 3", c.name, r.Agent)
		}
	}
	if _, err := pki.LoadRequest("missing.csr"); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("no file: %v", err)
	}
}

// TestRenew keeps the key, also of a certificate that has expired, and is for those that the
// authorities of ca.pem have signed.
func TestRenew(t *testing.T) {
	run, site := authority(t, "run"), t.TempDir()
	r := testkit.Get(pki.MakeRequest(site, 3))
	before := join(t, site, run, r)
	path := filepath.Join(site, "agent-3.pem")
	old := testkit.Get(run.Grant(r, start, now.Add(-time.Minute)))
	testkit.OK(pki.ReplaceCertificate(path, testkit.Get(run.Renew(old, start, end))))
	after := testkit.Get(pki.Load(site, 3, now))
	if !after.SameKey(before) || after.SameKey(issue(t, run, 3, start, end)) {
		t.Error("a renewed certificate must have the key of the one before, and no other")
	}
	for want, cert := range map[string]*x509.Certificate{
		`it is signed by "other"`: testkit.Get(authority(t, "other").Grant(r, start, end)),
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
	r := testkit.Get(pki.MakeRequest(site, 0))
	join(t, site, old, r)
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

// FuzzParseRequest: what is read asks for one agent.
func FuzzParseRequest(f *testing.F) {
	f.Add(csr(newKey(), nil))
	f.Add([]byte("-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if r, err := pki.ParseRequest(text); err == nil &&
			(r.Agent < 0 || r.KeyKind() == "" || len(r.Fingerprint()) != 64) {
			t.Errorf("%+v", r)
		}
	})
}

func ExampleAuthority_Grant() {
	site, err := os.MkdirTemp("", "site")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(site)
	r, err := pki.MakeRequest(site, 3) // the site keeps agent-3-key.pem and sends agent-3.csr
	if err != nil {
		fmt.Println(err)
		return
	}
	from := time.Now()
	a, err := pki.NewAuthority("our consortium", from, from.AddDate(10, 0, 0))
	if err != nil {
		fmt.Println(err)
		return
	}
	cert, err := a.Grant(r, from, from.AddDate(0, 3, 0))
	fmt.Println(cert.DNSNames, r.KeyKind(), err)
	// Output: [agent-3] ECDSA P-256 <nil>
}
