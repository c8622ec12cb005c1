package command

import (
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net"

	"dsbo"
	"dsbo/network/pki"
	"dsbo/network/relay"
)

// relayName is the base of the names of a relay's certificate and key.
const relayName = "relay"

const relayIntro = `Joins the connections of agents that can all only dial out: those of a cluster file with the
address "", whose "relay" is this one. It runs where all of them can connect to, until it is
stopped, for any number of runs.

What passes is TLS between the agents, of which the relay has no key: it sees who is connected
to whom in which run, when and how much. It serves agents whose certificates an authority of
ca.pem has signed.

The relay is an HTTPS server, which agents reach through proxies too. relay.pem and
relay-key.pem are its own certificate and key: of a public authority, or of one in the
agents' ca.pem. The three files are read again for each connection.`

// relay is the verb relay: it runs a relay until ctx ends.
func (p *program) relay(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := p.flags("relay", relayIntro, "-listen ADDRESS -certs DIR [flags]", "-listen :443 -certs certs")
	listen := f.String("listen", "", "`address` to listen on, for instance :443")
	certs := f.String("certs", "", "`folder` with ca.pem, relay.pem and relay-key.pem")
	plain := f.Bool("plain", false,
		"take connections without TLS, from a server such as an ingress that ends it and passes Upgrade on; -certs "+
			"needs ca.pem alone")
	connections := f.Int("connections", 1024, "most `connections` at once; two join each pair of agents")
	log := f.String("log", "text", logForms)
	quiet := f.Bool("quiet", false, "log warnings and errors alone")
	f.Group("Flags", "listen", "certs", "plain", "connections", "log", "quiet")
	if err := f.Parse(args, stdout, "listen", "certs"); err != nil {
		return err
	}
	if err := checkLogForm(*log); err != nil {
		return err
	}
	if *connections < 2 {
		return dsbo.ConfigErrorf("-connections must be at least 2; it is %d", *connections)
	}
	trust := func() (*pki.Trust, error) { return pki.LoadTrust(*certs) }
	if _, err := trust(); err != nil {
		return dsbo.ConfigErrorf("-certs: %w", err)
	}
	certificate := func() (*tls.Certificate, error) { return pki.LoadHost(*certs, relayName) }
	if _, err := certificate(); err != nil && !*plain {
		return dsbo.ConfigErrorf("-certs: %w; behind a server that ends TLS, set -plain", err)
	}
	if *plain {
		certificate = nil
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return dsbo.ConfigErrorf("-listen: %w", err)
	}
	level := slog.LevelInfo
	if *quiet {
		level = slog.LevelWarn
	}
	logger := slog.New(logHandler(*log, stderr, level))
	logger.Info("relay", "address", l.Addr().String())
	return relay.Serve(ctx, l, relay.Options{Trust: trust, Certificate: certificate,
		Connections: *connections, Log: logger})
}
