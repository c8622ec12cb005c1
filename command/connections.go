package command

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/url"
	"time"

	"dsbo"
	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/network/pki"
	"dsbo/network/relay"
)

// A connection is an outgoing or incoming connection of an agent.
type connection struct {
	inbound       bool
	peer          int // the other agent; -1: the relay
	address       string
	protocol, why string
}

// connectionsOf returns the connections of an agent of a cluster file, by the rules of sessions: of
// two neighbours with addresses, the lower number connects to the higher one; an agent without an
// address connects to one with an address; two without meet at the relay, to which one connection
// suffices.
func connectionsOf(c *site.Cluster, agent int) (list []connection) {
	own, relayed := c.Addresses[agent], false
	for _, j := range c.Graph.W.Neighbours(agent) {
		other := c.Addresses[j]
		why := fmt.Sprintf("sums and vectors of run %s with agent %d", c.Run, j)
		switch {
		case own == "" && other == "" && relayed:
		case own == "" && other == "":
			relayed = true
			list = append(list, connection{peer: -1, address: c.Relay, protocol: "HTTPS, Upgrade",
				why: "the relay: TLS 1.3 to agents without addresses passes it"})
		case other != "" && (own == "" || j > agent):
			list = append(list, connection{peer: j, address: other, protocol: "TCP, TLS 1.3", why: why})
		default:
			list = append(list, connection{inbound: true, peer: j, address: own, protocol: "TCP, TLS 1.3", why: why})
		}
	}
	return list
}

// network runs the verb network, which prints an agent's connections for a firewall. A connection
// that goes through a proxy of the environment is listed as one to the proxy, which is what a
// firewall sees.
func (p *program) network(f *call) error {
	var agent string
	f.Vars(map[string]any{"agent": &agent})
	c, err := p.parseCluster(f, "cluster", "agent")
	if err != nil {
		return err
	}
	i, err := agentNumber(agent, len(c.Addresses))
	if err != nil {
		return err
	}
	list := connectionsOf(c, i)
	for k, x := range list {
		if x.inbound {
			continue
		}
		proxy, err := relay.EnvironmentProxy(&url.URL{Scheme: "https", Host: x.address})
		if err == nil && proxy != nil {
			list[k].protocol = "HTTP, CONNECT " + x.address
			list[k].address, err = relay.AddressOf(proxy)
		}
		if err != nil {
			return dsbo.ConfigErrorf("the proxy of HTTPS_PROXY: %w", err)
		}
	}
	return cli.Table(f.stdout, connectionRows(list))
}

// connectionRows returns connections as a form for a firewall asks for them.
func connectionRows(list []connection) [][]string {
	rows := [][]string{{"direction", "host", "port", "protocol", "purpose"}}
	for _, x := range list {
		direction := "outbound"
		if x.inbound {
			direction = "inbound"
		}
		host, port, _ := net.SplitHostPort(x.address) // which the cluster file has checked
		rows = append(rows, []string{direction, host, port, x.protocol, x.why})
	}
	return rows
}

// dialTimeout bounds the check of one connection.
const dialTimeout = 10 * time.Second

// checkAgent runs agent -check: it tries everything that the agent needs, prints a line for each,
// and returns the first error after all were tried. An invalid certificate ends it at once, as
// nothing else can be tried. For an agent that is not in the cluster file no connections are tried,
// because the file does not have them.
func (p *program) checkAgent(ctx context.Context, o agentOptions, c *site.Cluster, stdout io.Writer) error {
	var first error
	step := func(name string, err error) {
		text := "ok"
		if err != nil {
			text = cli.OneLine(err)
			if first == nil {
				first = err
			}
		}
		_ = cli.Printf(stdout, "%s: %s\n", name, text)
	}
	step("cluster file "+o.cluster, nil)
	var id *pki.Identity
	if o.certs != "" {
		var err error
		if id, err = pki.Load(o.certs, o.agent, time.Now()); err == nil {
			id, err = id.InRun(c.Run, c.Keys)
		}
		step("certificate", err)
		if err != nil {
			return first
		}
	}
	j, err := p.agentJob(&o, c)
	if err == nil {
		err = o.askSite(j, c, id)
	}
	step("data, and "+site.PolicyFile, err)
	if o.agent < len(c.Addresses) {
		if address := cmp.Or(o.listen, c.Addresses[o.agent]); address != "" {
			l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
			if err == nil {
				err = l.Close()
			}
			step("listening on "+address, err)
		}
		for _, x := range connectionsOf(c, o.agent) {
			name := fmt.Sprintf("agent %d at %s", x.peer, x.address)
			if x.peer < 0 {
				name = "relay " + x.address
			}
			if x.inbound {
				fmt.Fprintf(stdout, "agent %d: connects to this agent\n", x.peer)
			} else {
				step(name, reach(ctx, o.dial(), x, id))
			}
		}
	}
	return first
}

// A dialer connects to host:port.
type dialer func(ctx context.Context, address string) (net.Conn, error)

// dial returns how the agent makes connections.
func (o *agentOptions) dial() dialer {
	if o.connect != "" {
		return relay.Command(o.connect).Dial
	}
	return relay.Dial
}

// reach connects once, through a proxy if there is one, and waits until the other side accepts this
// agent's certificate. In TLS 1.3 a client's handshake ends before that, and a refusal arrives with
// the first read. A peer that accepts sends a byte, as HTTP/2 begins with the server's settings; a
// relay waits for a request, so there the handshake must do.
func reach(ctx context.Context, dial dialer, x connection, id *pki.Identity) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := dial(ctx, x.address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if id == nil {
		return nil
	}
	host, _, _ := net.SplitHostPort(x.address) // which the cluster file has checked
	settings := id.ToHost(host)
	if x.peer >= 0 {
		settings = id.Client(x.peer)
		settings.NextProtos = []string{"h2"}
	}
	secured := tls.Client(conn, settings)
	if err := secured.HandshakeContext(ctx); err != nil || x.peer < 0 {
		return err
	}
	_ = secured.SetReadDeadline(time.Now().Add(dialTimeout)) // a read fails without it too
	_, err = secured.Read(make([]byte, 1))
	return err
}
