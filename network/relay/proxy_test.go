package relay

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/network/networktest"
)

// echo runs a server that speaks first, then sends back what it gets, and returns its address.
func echo(t *testing.T) string {
	l := testkit.Get(net.Listen("tcp", "127.0.0.1:0"))
	var work sync.WaitGroup
	work.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() {
				defer conn.Close()
				_, _ = io.WriteString(conn, "first")
				_, _ = io.Copy(conn, conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		work.Wait()
	})
	return l.Addr().String()
}

// said returns what comes back from an echo for "second".
func said(conn net.Conn) string {
	defer conn.Close()
	testkit.Get(io.WriteString(conn, "second"))
	b := make([]byte, len("firstsecond"))
	testkit.Get(io.ReadFull(conn, b))
	return string(b)
}

// TestProxies: connections are straight or through a proxy with or without TLS and a password,
// which no error has in it; what the other end sends at once is not lost.
func TestProxies(t *testing.T) {
	address := echo(t)
	plain := httptest.NewServer(networktest.Proxy(address, networktest.ProxyRules{}))
	defer plain.Close()
	locked := httptest.NewServer(networktest.Proxy(address, networktest.ProxyRules{Name: "site", Password: "secret"}))
	defer locked.Close()
	kerberos := networktest.ProxyRules{Schemes: []string{"Negotiate", "NTLM realm=x"}}
	negotiating := httptest.NewServer(networktest.Proxy(address, kerberos))
	defer negotiating.Close()
	named := httptest.NewServer(networktest.Proxy(address, networktest.ProxyRules{Schemes: []string{"basic realm=x"}}))
	defer named.Close()
	covered := httptest.NewTLSServer(networktest.Proxy(address, networktest.ProxyRules{}))
	defer covered.Close()
	gone := httptest.NewServer(networktest.Proxy("127.0.0.1:1", networktest.ProxyRules{}))
	defer gone.Close()
	proxyRoots = covered.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	defer func() { proxyRoots = nil }()
	withUser := func(to, user string) string { return strings.Replace(to, "://", "://"+user+"@", 1) }
	for _, c := range []struct {
		name, proxy, address, want string
	}{
		{"none", "", address, ""},
		{"plain", plain.URL, "relay.example:443", ""},
		{"with a password", withUser(locked.URL, "site:secret"), "relay.example:443", ""},
		{"with TLS", covered.URL, "relay.example:443", ""},
		{"another port", plain.URL, "relay.example:7443", "403 Forbidden"},
		{"a wrong password", withUser(locked.URL, "site:wrong"), "relay.example:443",
			"site:xxxxx@" + strings.TrimPrefix(locked.URL, "http://") + ": 407 Proxy Authentication Required: the " +
				"URL of the proxy must have its name and password"},
		{"no Basic", negotiating.URL, "relay.example:443", "it takes Negotiate, NTLM, and names with passwords"},
		{"no name", named.URL, "relay.example:443", "the URL of the proxy must have its name and password"},
		{"with TLS of another name", strings.Replace(covered.URL, "127.0.0.1", "localhost", 1), "relay.example:443",
			"not localhost"},
		{"nobody behind it", gone.URL, "relay.example:443", "502 Bad Gateway"},
		{"another kind", "socks5://127.0.0.1:1", "relay.example:443", "it must begin with http:// or https://; it " +
			"begins with socks5://"},
	} {
		t.Setenv("HTTPS_PROXY", c.proxy)
		conn, err := Dial(t.Context(), c.address)
		if c.want != "" {
			testkit.WantError(t, c.name, err, nil, c.want)
			if err == nil {
				conn.Close()
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := said(conn); got != "firstsecond" {
			t.Errorf("%s: %q was heard", c.name, got)
		}
	}
}

// TestEnvironmentProxy: what is no URL in HTTPS_PROXY is an error without the value; NO_PROXY,
// loopback addresses and a host without a scheme are as in other programs.
func TestEnvironmentProxy(t *testing.T) {
	t.Setenv("NO_PROXY", "inside.example")
	for _, c := range []struct{ proxy, host, want, err string }{
		{"", "out.example:443", "<nil>", ""},
		{"http://proxy:3128", "out.example:443", "http://proxy:3128", ""},
		{"http://proxy:3128", "inside.example:443", "<nil>", ""},
		{"http://proxy:3128", "127.0.0.1:443", "<nil>", ""},
		{"proxy:3128", "out.example:443", "http://proxy:3128", ""},
		{"http://site:sec%ret@proxy:3128", "out.example:443", "", "HTTPS_PROXY must be a URL"},
	} {
		t.Setenv("HTTPS_PROXY", c.proxy)
		got, err := EnvironmentProxy(&url.URL{Scheme: "https", Host: c.host})
		if c.err != "" {
			if testkit.WantError(t, c.proxy, err, nil, c.err); err != nil && strings.Contains(err.Error(), "ret") {
				t.Errorf("%q has a part of the password", err)
			}
			continue
		}
		if text := "<nil>"; err != nil || got != nil && got.String() != c.want || got == nil && text != c.want {
			t.Errorf("%q for %s: %v, %v; it must be %s", c.proxy, c.host, got, err, c.want)
		}
	}
}

// TestPorts: the port of a proxy is its scheme's where its URL names none.
func TestPorts(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for proxy, want := range map[string]string{"http://127.0.0.1": "dial tcp 127.0.0.1:80:",
		"https://127.0.0.1": "dial tcp 127.0.0.1:443:"} {
		t.Setenv("HTTPS_PROXY", proxy)
		_, err := Dial(ended, "relay.example:443")
		testkit.WantError(t, proxy, err, nil, want)
	}
}

// TestRoundTripEnds: a connection that answers nothing ends with the context, and one that sends
// more than an answer keeps it.
func TestRoundTripEnds(t *testing.T) {
	r := func() *http.Request {
		return &http.Request{Method: "GET", URL: &url.URL{Path: "/"}, Host: "relay.example", Header: http.Header{}}
	}
	near, far := net.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = far.Read(make([]byte, 1<<10))
		cancel()
	}()
	if _, err := roundTrip(ctx, near, r()); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	near, far = net.Pipe()
	defer near.Close()
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() {
		_, _ = far.Read(make([]byte, 1<<10))
		_, _ = io.WriteString(far, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nrest")
		far.Close()
	})
	answer := testkit.Get(roundTrip(t.Context(), near, r()))
	rest := testkit.Get(io.ReadAll(near))
	if answer.StatusCode != http.StatusSwitchingProtocols || !bytes.Equal(rest, []byte("rest")) {
		t.Errorf("%s, then %q", answer.Status, rest)
	}
}
