package command

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/network/pki"
)

// TestNetwork: the form has a row for each connection of an agent, direct, over the relay and
// through a proxy.
func TestNetwork(t *testing.T) {
	dir := t.TempDir()
	file := writeCluster(t, dir, 4, map[string]any{"agents": []string{"a:7000", "b:7001", "", ""},
		"relay": "relay:443"})
	t.Setenv("HTTPS_PROXY", "")
	for agent, want := range map[string][]string{
		"0": {`^outbound +b +7001 +TCP, TLS 1.3 +sums and vectors of run small with agent 1`,
			`^inbound +a +7000 .*agent 3`},
		"1": {`^inbound +b +7001 .*agent 0`, `^inbound +b +7001 .*agent 2`},
		"2": {`^outbound +b +7001 .*agent 1`, `^outbound +relay +443 +HTTPS, Upgrade`},
	} {
		lines := strings.Split(runCommand(t, "network", "-cluster="+file, "-agent="+agent), "\n")
		rows := 0
		for _, w := range want {
			for _, l := range lines {
				if regexp.MustCompile(w).MatchString(l) {
					rows++
				}
			}
		}
		if rows != len(want) {
			t.Errorf("agent %s:\n%s", agent, strings.Join(lines, "\n"))
		}
	}
	for proxy, port := range map[string]string{"http://proxy:3128": "3128", "http://proxy": "80"} {
		t.Setenv("HTTPS_PROXY", proxy)
		if text := runCommand(t, "network", "-cluster="+file, "-agent=2"); !regexp.MustCompile(
			`outbound +proxy +` + port + ` +HTTP, CONNECT b:7001`).MatchString(text) {
			t.Error(text)
		}
	}
	for _, proxy := range []string{"ftp://proxy"} {
		t.Setenv("HTTPS_PROXY", proxy)
		_, err := command(t, "network", "-cluster="+file, "-agent=2")
		wantError(t, err, cli.Usage, "the proxy of HTTPS_PROXY")
	}
}

// TestAgentCheck: each step is told, and what is wrong ends with its exit code: a neighbour that is
// not there with 1, one that is somebody else too, a policy with 2.
func TestAgentCheck(t *testing.T) {
	dir := t.TempDir()
	all := addresses(3)
	file, certs, out := writeCertified(t, dir, 3, map[string]any{"agents": all})
	args := []string{"agent", "-check", "-agent=1", "-cluster=" + file, "-out=" + out, "-certs=" + certs}
	text, err := command(t, args...)
	wantError(t, err, cli.Failure, "refused")
	if !strings.Contains(text, "certificate: ok\n") || !strings.Contains(text, "agent 0: connects to this agent\n") {
		t.Error(text)
	}
	serve := func(agent int) net.Listener {
		l := testkit.Get(tls.Listen("tcp", all[2], testkit.Get(pki.Load(certs, agent, time.Now())).Server()))
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = c.Write([]byte{0})
				c.Close()
			}
		}()
		return l
	}
	ctx, stop := context.WithCancel(t.Context()) // a real agent, which waits for the others
	listens, over := make(chan bool, 1), make(chan error)
	go func() {
		over <- run(ctx, []string{"agent", "-agent=2", "-cluster=" + file, "-out=" + filepath.Join(dir, "other"),
			"-certs=" + certs, "-log=json"}, io.Discard, lineWriter(func(line string) {
			if strings.Contains(line, "listening") {
				select {
				case listens <- true:
				default:
				}
			}
		}))
	}()
	select {
	case <-listens:
	case err := <-over:
		t.Fatal(err)
	}
	if text := runCommand(t, args...); !strings.Contains(text, "agent 2 at "+all[2]+": ok\n") {
		t.Error(text)
	}
	stop()
	wantError(t, <-over, cli.Interrupted, "")
	listen := testkit.Get(net.Listen("tcp", all[1]))
	_, err = command(t, args...)
	wantError(t, err, cli.Failure, "listen tcp "+all[1])
	testkit.OK(listen.Close())
	l := serve(2)
	if text := runCommand(t, args...); !strings.Contains(text, "agent 2 at "+all[2]+": ok\n") {
		t.Error(text)
	}
	testkit.OK(l.Close())
	l = serve(0)
	_, err = command(t, args...)
	wantError(t, err, cli.Failure, "agent-2")
	testkit.OK(l.Close())
	policyOf(certs, map[string]any{"tasks": []string{}})
	_, err = command(t, args...)
	wantError(t, err, cli.Usage, `by its rule "tasks"`)
}
