package command

import (
	"crypto/tls"
	"log/slog"
	"net"

	"dsbo"
	"dsbo/network/pki"
	"dsbo/network/relay"
)

// relayName is the base of the names of a relay's certificate and key.
const relayName = "relay"

// relay runs the verb relay, a relay between agents, until the context ends. Trust and certificate
// are functions that read files, so that renewed files are used; they are called once at the start,
// so that invalid files are reported at once. With -plain a server in front of the relay terminates
// TLS. Two agents need two connections, hence at least 2.
func (p *program) relay(f *call) error {
	var listen, certs string
	var plain, quiet bool
	connections, log := 1024, "text"
	f.Vars(map[string]any{"listen": &listen, "certs": &certs, "plain": &plain, "connections": &connections,
		"log": &log, "quiet": &quiet})
	if err := f.parse("listen", "certs"); err != nil {
		return err
	}
	if err := checkLogForm(log); err != nil {
		return err
	}
	if connections < 2 {
		return dsbo.ConfigErrorf("-connections must be at least 2; it is %d", connections)
	}
	trust := func() (*pki.Trust, error) { return pki.LoadTrust(certs) }
	if _, err := trust(); err != nil {
		return dsbo.ConfigErrorf("-certs: %w", err)
	}
	certificate := func() (*tls.Certificate, error) { return pki.LoadHost(certs, relayName) }
	if _, err := certificate(); err != nil && !plain {
		return dsbo.ConfigErrorf("-certs: %w; behind a server that ends TLS, set -plain", err)
	}
	if plain {
		certificate = nil
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return dsbo.ConfigErrorf("-listen: %w", err)
	}
	level := slog.LevelInfo
	if quiet {
		level = slog.LevelWarn
	}
	logger := slog.New(logHandler(log, f.stderr, level))
	logger.Info("relay", "address", l.Addr().String())
	return relay.Serve(f.ctx, l, relay.Options{Trust: trust, Certificate: certificate,
		Connections: connections, Log: logger})
}
