package command

import (
	"context"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"time"

	"dsbo"
	"dsbo/command/cluster"
	"dsbo/internal/cli"
	"dsbo/internal/wording"
	"dsbo/network/pki"
)

const pkiIntro = `Makes a certificate authority for a run and the certificate of each of its agents, by
which they know each other. The folder then holds

  ca.pem, ca-key.pem                the authority; keep the key here, or remove it
  agent-<i>.pem, agent-<i>-key.pem  agent i, whose machine needs these two and ca.pem
  relay.pem, relay-key.pem          the relay, if the cluster file names one, which needs
                                    these two and ca.pem

Whoever has an agent's key can speak for it. Existing files are not overwritten.

Here one machine makes all keys, which is for trials, and for agents of one owner. Where each
site keeps its own, a consortium's authority signs by openssl, step-ca or a program of its own,
as deploy/README.md has it, and beside it there are:

`

// pki is the verb pki: it makes the certificates of all agents, or is one of the steps beside a
// consortium's authority.
func (p *program) pki(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	steps := p.pkiSteps()
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return p.pkiAtOnce(steps, args, stdout)
	}
	var names []string
	for _, s := range steps {
		if s.name == args[0] {
			return s.run(ctx, args[1:], stdout, stderr)
		}
		names = append(names, s.name)
	}
	return dsbo.ConfigErrorf("what follows pki must be flags, or one of %s; it is %q%s",
		strings.Join(names, ", "), args[0], cli.Suggest("", args[0], names))
}

// clockSlack is how long before now certificates begin to be valid, for machines whose clocks
// are behind.
const clockSlack = 10 * time.Minute

// maxDays is for how many days certificates can be valid.
const maxDays = 3650

// pkiAtOnce makes the certificates of all agents.
func (p *program) pkiAtOnce(steps []verb, args []string, stdout io.Writer) error {
	intro := pkiIntro
	for _, s := range steps {
		intro += fmt.Sprintf("  %-14s %s\n", "pki "+s.name, s.about)
	}
	f := p.flags("pki", strings.TrimSuffix(intro, "\n"), "-cluster FILE -out DIR [-days N]",
		"-cluster cluster.json -out certs")
	f.String("cluster", "", "cluster `file`, of which the name of the run and the number of agents are used")
	out := f.String("out", "", "`folder` for the certificates")
	days := f.Int("days", 30, "`days` from now on in which the certificates are valid")
	f.Group("Flags", "cluster", "out", "days")
	c, err := p.parseCluster(f, args, stdout)
	if err != nil {
		return err
	}
	from, until, err := validPeriod(*days)
	if err != nil {
		return err
	}
	if err := makeCertificates(*out, c, (*pki.Authority).Save, from, until); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "an authority and %s of %s in %s, valid until %s\n",
		wording.Count(len(c.Addresses), "agent"), c.Run, *out, until.Format(time.DateTime))
	return err
}

// validPeriod returns the times between which certificates are valid that are made now for a number
// of days.
func validPeriod(days int) (from, until time.Time, err error) {
	if days < 1 || days > maxDays {
		return from, until, dsbo.ConfigErrorf("-days must be 1 to %d; it is %d", maxDays, days)
	}
	now := time.Now()
	return now.Add(-clockSlack), now.AddDate(0, 0, days), nil
}

// makeCertificates writes the certificates into a folder without any; save writes the authority,
// with its key or without.
func makeCertificates(folder string, c *cluster.Cluster, save func(*pki.Authority, string) error, from,
	until time.Time) error {
	for _, pattern := range []string{"ca*.pem", "agent-*.pem", relayName + "*.pem"} {
		found, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return dsbo.ConfigErrorf("-out %s: %w", folder, err)
		}
		if len(found) > 0 {
			return dsbo.ConfigErrorf("%s exists: remove it or name another folder", found[0])
		}
	}
	authority, err := pki.NewAuthority(c.Run, from, until)
	if err != nil {
		return err
	}
	if err := makeOut(folder); err != nil {
		return err
	}
	if err := save(authority, folder); err != nil {
		return err
	}
	for i := range c.Addresses {
		id, err := authority.Issue(i, from, until, c.Run)
		if err != nil {
			return err
		}
		if err := id.Save(folder); err != nil {
			return err
		}
	}
	if c.Relay == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(c.Relay)
	if err != nil {
		return err
	}
	return authority.SaveHost(folder, relayName, host, from, until)
}
