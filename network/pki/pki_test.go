package pki_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network/pki"
)

var (
	now   = time.Now()
	start = now.Add(-24 * time.Hour)
	end   = now.Add(24 * time.Hour)
)

func authority(t *testing.T, name string) *pki.Authority {
	t.Helper()
	return testkit.Get(pki.NewAuthority(name, start, end))
}

func issue(t *testing.T, a *pki.Authority, agent int, from, until time.Time) *pki.Identity {
	t.Helper()
	return testkit.Get(a.Issue(agent, from, until))
}

// folder saves an authority and the identities of agents 0 and 1.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	a := authority(t, "run")
	testkit.OK(a.Save(dir))
	again := testkit.Get(pki.LoadAuthority(dir))
	for i := range 2 {
		testkit.OK(issue(t, again, i, start, end).Save(dir))
	}
	return dir
}

// handshake connects two ends over a pipe and returns their errors, and whom the server saw.
func handshake(t *testing.T, server, client *tls.Config) (agent int, serverErr, clientErr error) {
	t.Helper()
	a, b := net.Pipe()
	s, c := tls.Server(a, server), tls.Client(b, client)
	done := make(chan error, 1)
	go func() {
		err := c.HandshakeContext(t.Context())
		if err == nil { // a refused client certificate shows in the first read
			_, err = c.Read(make([]byte, 1))
		}
		b.Close()
		done <- err
	}()
	serverErr = s.HandshakeContext(t.Context())
	if serverErr == nil {
		agent, serverErr = pki.Agent(s.ConnectionState().PeerCertificates[0])
		if _, err := s.Write([]byte{1}); err != nil {
			t.Error(err)
		}
	}
	a.Close()
	return agent, serverErr, <-done
}

// connect has two agents connect.
func connect(t *testing.T, server, client *pki.Identity) {
	t.Helper()
	agent, serverErr, clientErr := handshake(t, server.Server(), client.Client(server.Agent))
	if agent != client.Agent || serverErr != nil || clientErr != nil {
		t.Errorf("agent %d saw agent %d (%v), which is %d and ended with %v", server.Agent, agent, serverErr,
			client.Agent, clientErr)
	}
}

func TestSavedIdentitiesConnect(t *testing.T) {
	dir := folder(t)
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 6 {
		t.Fatalf("%d files, error %v, want 6", len(files), err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s has mode %v, error %v, want -rw-------", f.Name(), info.Mode(), err)
		}
	}
	var ids [2]*pki.Identity
	for i := range ids {
		if ids[i], err = pki.Load(dir, i, now); err != nil {
			t.Fatal(err)
		}
		if got := ids[i].Expires(); got.Unix() != end.Unix() {
			t.Errorf("agent %d's identity expires at %v, want %v", i, got, end)
		}
	}
	connect(t, ids[1], ids[0])
}

// TestRefusedConnections: what package session does not show of whole agents.
func TestRefusedConnections(t *testing.T) {
	run := authority(t, "run")
	server, old := issue(t, run, 1, start, end).Server(), issue(t, run, 0, start, end).Client(1)
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	for _, c := range []struct {
		client                 *tls.Config
		wantServer, wantClient string
	}{
		{issue(t, run, 0, end.Add(-time.Hour), end).Client(1), "not yet valid", "remote error: tls"},
		{old, "unsupported versions", "protocol version not supported"},
	} {
		_, serverErr, clientErr := handshake(t, server, c.client)
		testkit.WantError(t, "the server", serverErr, nil, c.wantServer)
		testkit.WantError(t, "the client", clientErr, nil, c.wantClient)
	}
}

func TestLoadRefuses(t *testing.T) {
	other := t.TempDir()
	testkit.OK(authority(t, "other run").Save(other))
	words, bad := filepath.Join(other, "words"), filepath.Join(other, "bad")
	testkit.OK(os.WriteFile(words, []byte("hello"), 0o600))
	testkit.OK(os.WriteFile(bad, []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), 0o600))
	for _, c := range []struct {
		name  string
		files map[string]string // what a file is replaced by, "": nothing
		when  time.Time
		want  string
	}{
		{"no certificate", map[string]string{"agent-1.pem": ""}, now, "agent-1.pem: no such file"},
		{"no key", map[string]string{"agent-1-key.pem": ""}, now, "agent-1-key.pem: no such file"},
		{"no authority", map[string]string{"ca.pem": ""}, now, "ca.pem: no such file"},
		{"not PEM", map[string]string{"agent-1.pem": words}, now,
			"must be a certificate and its key: tls: failed to find any PEM data"},
		{"bad certificate", map[string]string{"agent-1.pem": bad}, now,
			"agent-1-key.pem must be a certificate and its key: x509: "},
		{"no PEM as authority", map[string]string{"ca.pem": words}, now,
			"ca.pem: there must be a PEM block, a CERTIFICATE; there is none"},
		{"an agent as authority", map[string]string{"ca.pem": "agent-0.pem"}, now,
			`certificates of authorities alone; it has that of "agent-0"`},
		{"bad authority", map[string]string{"ca.pem": bad}, now, "ca.pem: x509: "},
		{"a key as certificate", map[string]string{"agent-1.pem": "agent-1-key.pem"}, now, "did find a private key"},
		{"a key as authority", map[string]string{"ca.pem": "ca-key.pem"}, now,
			"ca.pem: every PEM block must be a CERTIFICATE; there is a PRIVATE KEY"},
		{"another agent's", map[string]string{"agent-1.pem": "agent-0.pem", "agent-1-key.pem": "agent-0-key.pem"}, now,
			"it must be the certificate of agent 1; it is that of agent 0"},
		{"another key", map[string]string{"agent-1-key.pem": "agent-0-key.pem"}, now, "private key does not match"},
		{"another authority", map[string]string{"ca.pem": filepath.Join(other, "ca.pem")}, now, "unknown authority"},
		{"expired", nil, end.Add(time.Minute), "expired"},
		{"the authority itself", map[string]string{"agent-1.pem": "ca.pem", "agent-1-key.pem": "ca-key.pem"}, now,
			`the certificate of "run" must have one DNS name such as agent-0; it has []`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folder(t)
			for to, from := range c.files {
				to = filepath.Join(dir, to)
				testkit.OK(os.Remove(to))
				if from != "" && !filepath.IsAbs(from) {
					from = filepath.Join(dir, from)
				}
				if from != "" {
					testkit.OK(os.Link(from, to))
				}
			}
			_, err := pki.Load(dir, 1, c.when)
			testkit.WantError(t, "an identity", err, dsbo.ErrConfig, c.want)
		})
	}
}

func TestNothingIsOverwritten(t *testing.T) {
	dir := folder(t)
	a := authority(t, "new")
	for _, err := range []error{a.Save(dir), issue(t, a, 1, start, end).Save(dir)} {
		testkit.WantError(t, "a file that is there", err, dsbo.ErrConfig, " exists: ")
	}
	if _, err := pki.Load(dir, 1, now); err != nil {
		t.Errorf("what was there before: %v", err)
	}
}

func TestBadArguments(t *testing.T) {
	if _, err := pki.NewAuthority("run", end, start); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("an authority that ends before it begins: %v, want dsbo.ErrConfig", err)
	}
	if _, err := authority(t, "run").Issue(-1, start, end); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("agent -1: %v, want dsbo.ErrConfig", err)
	}
	dir := folder(t)
	for to, from := range map[string]string{"ca.pem": "agent-0.pem", "ca-key.pem": "agent-0-key.pem"} {
		testkit.OK(os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)))
	}
	_, err := pki.LoadAuthority(dir)
	testkit.WantError(t, "an agent's certificate as authority", err, nil, "must hold certificates of authorities alone")
}

func TestAgentOfName(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  int
	}{
		{[]string{"agent-0"}, 0},
		{[]string{"agent-17"}, 17},
		{[]string{"tuning.hospital.example", "agent-3"}, 3},
		{[]string{"agent-01"}, -1},
		{[]string{"agent--1"}, -1},
		{[]string{"agent-+1"}, -1},
		{[]string{"agent-"}, -1},
		{[]string{"agent-99999999999999999999"}, -1},
		{[]string{"Agent-1"}, -1},
		{[]string{"agent-1", "agent-2"}, -1},
		{nil, -1},
	} {
		got, err := pki.Agent(&x509.Certificate{DNSNames: c.names})
		if c.want < 0 {
			if err == nil {
				t.Errorf("%q: agent %d, want an error", c.names, got)
			}
		} else if got != c.want || err != nil {
			t.Errorf("%q: agent %d, error %v, want agent %d", c.names, got, err, c.want)
		}
	}
}

func Example() {
	from := time.Now()
	a, err := pki.NewAuthority("my run", from, from.AddDate(10, 0, 0))
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := a.Issue(3, from, from.AddDate(1, 0, 0))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(id.Agent, id.Client(4).ServerName)
	// Output: 3 agent-4
}

// TestInRun: the certificates of one authority are good for the runs that they name, and for those
// that pin their keys; whatever the run, a pinned key lets no other one in.
func TestInRun(t *testing.T) {
	a := authority(t, "consortium")
	issue := func(agent int, runs ...string) *pki.Identity {
		return testkit.Get(a.Issue(agent, start, end, runs...))
	}
	leaf := func(id *pki.Identity) *x509.Certificate {
		return testkit.Get(x509.ParseCertificates(id.Certificate()))[0]
	}
	one, both, none := issue(1, "A"), issue(1, "A", "B/2 %"), issue(1)
	pin := []string{"", pki.KeyDigest(leaf(none))}
	for _, c := range []struct {
		name string
		peer *pki.Identity
		run  string
		keys []string
		want string // "" where the peer is of the run
	}{
		{"named", one, "A", nil, ""},
		{"another run", one, "B/2 %", nil, `must name run "B/2 %"`},
		{"a run of two", both, "B/2 %", nil, ""},
		{"no run", none, "A", nil, `must name run "A"`},
		{"a part of a name", one, "", nil, `must name run ""`},
		{"pinned", none, "A", pin, ""},
		{"named, and another key pinned", one, "A", pin, "the key of agent-1 must be the one that the run has for it"},
		{"a key of another agent pinned", one, "A", pin[:1], ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			own := testkit.Get(issue(0, c.run).InRun(c.run, c.keys))
			_, err := own.Peer([]*x509.Certificate{leaf(c.peer)})
			testkit.WantError(t, "a connection", err, nil, c.want)
			message := []byte("test: a message")
			err = own.Verify(1, c.peer.Certificate(), message, testkit.Get(c.peer.Sign(message)), now)
			testkit.WantError(t, "a signature", err, nil, c.want)
			_, err = c.peer.InRun(c.run, c.keys)
			testkit.WantError(t, "its own", err, dsbo.ErrConfig, c.want)
		})
	}
	renewed := testkit.Get(a.Renew(leaf(both), start, end))
	if got := pki.RunsOf(renewed); len(got) != 2 || got[1] != "B/2 %" {
		t.Errorf("a renewed certificate names %q; it must name the runs of the one before", got)
	}
}
