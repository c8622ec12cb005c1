package command

import (
	"bufio"
	"context"
	"io"
	"path/filepath"
	"regexp"
	"sync"
	"testing"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
)

// TestRelayedAgents: agents without addresses, but for one, find over a relay what one
// process finds.
func TestRelayedAgents(t *testing.T) {
	testkit.Long(t, "as TestAgents, through a relay")
	dir := t.TempDir()
	certs, out := filepath.Join(dir, "certs"), filepath.Join(dir, "out")
	all := append(addresses(1), "", "", "")
	file := writeCluster(t, dir, 4, map[string]any{"agents": all, "relay": "127.0.0.1:1"})
	runCommand(t, "pki", "-cluster="+file, "-out="+certs)

	ctx, stop := context.WithCancel(t.Context())
	log, end := io.Pipe()
	var work sync.WaitGroup
	work.Go(func() {
		testkit.OK(run(ctx, []string{"relay", "-listen=127.0.0.1:0", "-certs=" + certs}, io.Discard, end))
		end.Close()
	})
	defer work.Wait()
	defer stop()
	lines := bufio.NewReader(log)
	at := regexp.MustCompile("address=(.*)").FindStringSubmatch(testkit.Get(lines.ReadString('\n')))[1]
	work.Go(func() { _, _ = io.Copy(io.Discard, lines) })

	edit(t, file, "127.0.0.1:1\"", at+"\"")
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
