package command

import (
	"bufio"
	"context"
	"io"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/network/networktest"
)

// TestRelayedAgents: agents without addresses, but for one, find over a relay what one
// process finds.
func TestRelayedAgents(t *testing.T) {
	testkit.Long(t, "as TestAgents, through a relay")
	dir := t.TempDir()
	file, certs, out := writeCertified(t, dir, 4,
		map[string]any{"agents": append(addresses(1), "", "", ""), "relay": "127.0.0.1:1"})
	edit(t, file, "127.0.0.1:1\"", startRelay(t, certs)+"\"")
	agents(t, 4, "-cluster="+file, "-out="+out, "-certs="+certs, "-quiet")
	same(t, out, alone(t, dir, "-agents=4"), 4)

	for want, args := range map[string][]string{
		"-listen must be left out: agent 1 has no address in ": {
			"-agent=1", "-certs=" + certs, "-listen=:0"},
		"agents 1 and 2 are neighbours, and neither has an address: there must be a relay, and certificates for it": {
			"-agent=1"},
	} {
		_, err := command(t, append([]string{"agent", "-cluster=" + file, "-out=" + filepath.Join(dir, "other")},
			args...)...)
		wantError(t, err, cli.Usage, want)
	}
}

// startRelay runs a relay until the test ends, and returns its address.
func startRelay(t *testing.T, certs string) string {
	ctx, stop := context.WithCancel(context.Background())
	log, end := io.Pipe()
	var work sync.WaitGroup
	work.Go(func() {
		testkit.OK(run(ctx, []string{"relay", "-listen=127.0.0.1:0", "-certs=" + certs}, io.Discard, end))
		end.Close()
	})
	t.Cleanup(func() {
		stop()
		work.Wait()
	})
	lines := bufio.NewReader(log)
	address := regexp.MustCompile("address=(.*)").FindStringSubmatch(testkit.Get(lines.ReadString('\n')))[1]
	work.Go(func() { _, _ = io.Copy(io.Discard, lines) })
	return address
}

// TestAgentsBehindProxies: where nothing but TLS to port 443 leaves a site, and that through a
// proxy with a password, agents find what one process finds.
func TestAgentsBehindProxies(t *testing.T) {
	testkit.Long(t, "as TestRelayedAgents, through a proxy")
	dir := t.TempDir()
	file, certs, out := writeCertified(t, dir, 4,
		map[string]any{"agents": []string{"", "", "", ""}, "relay": "relay.invalid:443"})
	rules := networktest.ProxyRules{Name: "site", Password: "secret", TLS: true}
	proxy := httptest.NewServer(networktest.Proxy(startRelay(t, certs), rules))
	t.Cleanup(proxy.Close)
	t.Setenv("HTTPS_PROXY", strings.Replace(proxy.URL, "://", "://site:secret@", 1))
	agents(t, 4, "-cluster="+file, "-out="+out, "-certs="+certs, "-quiet")
	same(t, out, alone(t, dir, "-agents=4"), 4)
}
