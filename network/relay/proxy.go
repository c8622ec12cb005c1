package relay

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// Dial opens a connection to host:port that leaves a site: straight, or through the HTTP proxy that
// the site's machines must use, by HTTPS_PROXY and NO_PROXY at the time, as curl and net/http do;
// loopback addresses need no proxy. An error names the proxy, without its password.
//
// A proxy gets a CONNECT request for host:port, with the name and password of its URL. Most proxies
// let port 443 alone through. What is sent on a connection afterwards is the caller's: agents and
// relays speak TLS, so that a proxy sees the host and the number of bytes only.
//
// Of proxy authentication only Basic is supported. For Kerberos or NTLM, use a local program such
// as cntlm as the proxy.
func Dial(ctx context.Context, address string) (net.Conn, error) {
	proxy, err := EnvironmentProxy(&url.URL{Scheme: "https", Host: address})
	if err != nil {
		return nil, fmt.Errorf("the proxy for %s: %w", address, err)
	}
	if proxy == nil {
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}
	conn, err := through(ctx, proxy, address)
	if err != nil {
		return nil, fmt.Errorf("proxy %s: %w", proxy.Redacted(), err)
	}
	return conn, nil
}

// EnvironmentProxy returns the proxy of HTTPS_PROXY for a URL, nil for none, as NO_PROXY has it. A
// value that is no URL is an error, where net/http takes it for none.
func EnvironmentProxy(u *url.URL) (*url.URL, error) {
	c := httpproxy.FromEnvironment()
	if _, err := url.Parse(c.HTTPSProxy); err != nil {
		if _, err := url.Parse("http://" + c.HTTPSProxy); err != nil { // the value may have a password
			return nil, errors.New("HTTPS_PROXY must be a URL, such as http://proxy.example:3128; it is none")
		}
	}
	return c.ProxyFunc()(u)
}

// AddressOf returns host:port of a proxy, whose URL may leave the port to its scheme.
func AddressOf(proxy *url.URL) (string, error) {
	port, ok := map[string]string{"http": "80", "https": "443"}[proxy.Scheme]
	if !ok {
		return "", fmt.Errorf("it must begin with http:// or https://; it begins with %s://", proxy.Scheme)
	}
	return net.JoinHostPort(proxy.Hostname(), cmp.Or(proxy.Port(), port)), nil
}

// proxyRoots are the authorities of proxies whose URL begins with https; nil: the system's.
var proxyRoots *x509.CertPool

// through opens a connection to host:port by the CONNECT of a proxy, with the name and password of
// its URL, over TLS to the proxy if the URL begins with https.
func through(ctx context.Context, proxy *url.URL, address string) (net.Conn, error) {
	at, err := AddressOf(proxy)
	if err != nil {
		return nil, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", at)
	if err != nil {
		return nil, err
	}
	if proxy.Scheme == "https" {
		conn = tls.Client(conn, &tls.Config{ServerName: proxy.Hostname(), RootCAs: proxyRoots})
	}
	r := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address,
		Header: http.Header{"User-Agent": {"dsbo"}}}
	if user := proxy.User; user != nil {
		password, _ := user.Password()
		both := base64.StdEncoding.EncodeToString([]byte(user.Username() + ":" + password))
		r.Header.Set("Proxy-Authorization", "Basic "+both)
	}
	answer, err := roundTrip(ctx, conn, r)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(proxyRefusal(answer))
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// proxyRefusal describes the answer of a proxy that does not connect, and what to do where it asks
// for a name and a password, or for what is not supported.
func proxyRefusal(answer *http.Response) string {
	if answer.StatusCode != http.StatusProxyAuthRequired {
		return answer.Status
	}
	var schemes []string
	for _, value := range answer.Header.Values("Proxy-Authenticate") {
		scheme, _, _ := strings.Cut(value, " ")
		schemes = append(schemes, scheme)
		if strings.EqualFold(scheme, "Basic") {
			return answer.Status + ": the URL of the proxy must have its name and password"
		}
	}
	return fmt.Sprintf("%s: it takes %s, and names with passwords (Basic) alone are possible here; a program such as "+
		"cntlm can stand between", answer.Status, cmp.Or(strings.Join(schemes, ", "), "nothing that it names"))
}

// roundTrip sends a request on a connection and reads the head of the answer, and not a byte after
// it unless the answer has a body. The connection then is the caller's again, without deadlines.
// When ctx ends first, its error is returned.
func roundTrip(ctx context.Context, conn net.Conn, r *http.Request) (*http.Response, error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // long ago: ends all waits
	err := r.Write(conn)
	var answer *http.Response
	if err == nil {
		answer, err = http.ReadResponse(bufio.NewReader(byByte{conn}), r)
	}
	if !stop() { // the deadline is set, or about to be
		return nil, ctx.Err()
	}
	return answer, err
}

// A byByte reads one byte at a time, so that a buffer on top of it never has what comes later.
type byByte struct{ from io.Reader }

// Read implements io.Reader.
func (b byByte) Read(p []byte) (int, error) { return b.from.Read(p[:min(len(p), 1)]) }

// A Command is a program that makes connections for a site whose way out is neither TCP nor an HTTP
// proxy. Like ssh's ProxyCommand, it gets sent bytes on stdin and writes received ones to stdout.
// %h and %p are replaced by host and port; arguments are separated by blanks alone.
type Command string

// commandEnd is how long a program may take to end once its connection is closed.
const commandEnd = 2 * time.Second

// Dial starts the program for host:port. A failure to start is an error; a program that cannot
// connect ends, and the connection with it. Its stderr is this process's.
func (c Command) Dial(_ context.Context, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	words := strings.Fields(string(c))
	if len(words) == 0 {
		return nil, errors.New("a program is required; there is none")
	}
	for i, w := range words {
		words[i] = strings.NewReplacer("%h", host, "%p", port, "%%", "%").Replace(w)
	}
	ctx, stop := context.WithCancel(context.Background()) // the connection outlives its dialling
	p := exec.CommandContext(ctx, words[0], words[1:]...)
	own, theirs := net.Pipe()
	p.Stdin, p.Stdout, p.Stderr, p.WaitDelay = theirs, theirs, os.Stderr, commandEnd
	if err := p.Start(); err != nil {
		stop()
		return nil, fmt.Errorf("connecting to %s: %w", address, err)
	}
	go func() {
		_ = p.Wait() // the caller sees the end of the connection
		stop()
		theirs.Close()
	}()
	return commandConn{own, stop}, nil
}

// A commandConn is a connection to a program, which is killed as it is closed.
type commandConn struct {
	net.Conn
	stop context.CancelFunc
}

// Close implements net.Conn.
func (c commandConn) Close() error {
	c.stop()
	return c.Conn.Close()
}
