package networktest

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"sync"
)

// ProxyRules are the clients and requests that a [Proxy] accepts, beside its rule on ports.
type ProxyRules struct {
	Name, Password string   // that a request must have
	Schemes        []string // of Proxy-Authenticate: nobody is let through if it has any
	TLS            bool     // whether connections must begin as TLS does
}

// Proxy returns an HTTP proxy as sites have them: it lets CONNECT to port 443 through, and nothing
// else. It connects to one address, whatever the host of a request is.
func Proxy(address string, rules ProxyRules) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", r.Header.Get("Proxy-Authorization"))
		name, password, _ := r.BasicAuth()
		switch {
		case r.Method != http.MethodConnect || r.URL.Port() != "443":
			http.Error(w, "CONNECT to port 443 alone", http.StatusForbidden)
			return
		case rules.Schemes != nil:
			w.Header()["Proxy-Authenticate"] = rules.Schemes
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		case name != rules.Name || password != rules.Password:
			w.Header().Set("Proxy-Authenticate", `Basic realm="site"`)
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		to, err := net.Dial("tcp", address)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer to.Close()
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
		tunnel(conn, buffered.Reader, to, rules.TLS)
	})
}

// tunnel moves bytes both ways until one of the directions ends, and closes both connections. What
// must be TLS and is not is not moved. sent has what has come on conn.
func tunnel(conn net.Conn, sent *bufio.Reader, to net.Conn, mustBeTLS bool) {
	if start, _ := sent.Peek(2); mustBeTLS && !bytes.Equal(start, []byte{22, 3}) { // a handshake record
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(conn, to)
		conn.Close()
	})
	_, _ = io.Copy(to, sent)
	to.Close()
	back.Wait()
}
