package command

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
)

// bridges is the environment variable of bridge: what stands for each host, HOST=ADDRESS, with
// commas between.
const bridges = "DSBO_TEST_BRIDGES"

// bridge is a stand-in for a platform that carries streams: bridge HOST PORT copies its stdin to
// what stands for the host, and back.
func bridge() {
	for pair := range strings.SplitSeq(os.Getenv(bridges), ",") {
		host, address, _ := strings.Cut(pair, "=")
		if host != os.Args[1] || os.Args[2] != "7000" {
			continue
		}
		conn := testkit.Get(net.Dial("tcp", address))
		go func() {
			_, _ = io.Copy(conn, os.Stdin)
			_ = conn.(*net.TCPConn).CloseWrite()
		}()
		_, _ = io.Copy(os.Stdout, conn)
		os.Exit(0)
	}
	os.Exit(1)
}

// TestConnectBy: agents whose connections a program makes, to names that only it knows, find what
// one process finds; agent -check goes the same way.
func TestConnectBy(t *testing.T) {
	testkit.Long(t, "a process for each connection")
	dir := t.TempDir()
	var pairs, names []string
	listen := addresses(3)
	for i, address := range listen {
		names = append(names, fmt.Sprintf("site-%d.invalid:7000", i))
		pairs = append(pairs, fmt.Sprintf("site-%d.invalid=%s", i, address))
	}
	t.Setenv(bridges, strings.Join(pairs, ","))
	file, certs, out := writeCertified(t, dir, 3, map[string]any{"agents": names})
	args := func(i int, more ...string) []string {
		return append([]string{"agent", fmt.Sprint("-agent=", i), "-cluster=" + file, "-out=" + out, "-certs=" + certs,
			"-listen=" + listen[i], "-quiet"}, more...)
	}
	atOnce(t, 3, changedAgent(func(o *agentOptions) {
		omitPage(o)
		o.connect = "bridge %h %p" // a line of -connect-by has blanks
	}), func(i int) []string { return args(i) })
	same(t, out, alone(t, dir, "-agents=3"), 3)
	text, err := command(t, args(0, "-check", "-connect-by=nothing-of-this-name %h")...)
	wantError(t, err, cli.Failure, "nothing-of-this-name")
	if !strings.Contains(text, "agent 1 at site-1.invalid:7000: ") {
		t.Error(text)
	}
}
