package command

import (
	"net"
	"path/filepath"
	"strings"
	"time"

	"dsbo"
	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/internal/wording"
	"dsbo/network/pki"
)

// pki runs the verb pki: with flags alone it makes the certificates of all agents at once; a word
// after pki is one of the steps by which sites and an authority make them without sharing keys.
func (p *program) pki(f *call) error {
	if len(f.args) == 0 || strings.HasPrefix(f.args[0], "-") {
		return p.pkiAtOnce(f)
	}
	var names []string
	for _, s := range []verb{
		{name: "request", run: p.pkiRequest},
		{name: "admission", run: p.pkiAdmission},
		{name: "remove", run: p.pkiRemove},
		{name: "renew", run: p.pkiRenew},
	} {
		if s.name == f.args[0] {
			return s.run(f.under(p, "pki "+s.name, f.args[1:]))
		}
		names = append(names, s.name)
	}
	return dsbo.ConfigErrorf("what follows pki must be flags, or one of %s; it is %q%s",
		strings.Join(names, ", "), f.args[0], cli.Suggest("", f.args[0], names))
}

// clockSlack is how long before now certificates begin to be valid, for machines whose clocks
// are behind.
const clockSlack = 10 * time.Minute

// maxDays is for how many days certificates can be valid.
const maxDays = 3650

// pkiAtOnce makes an authority, and by it the certificates of all agents with their keys, on one
// machine: for a run whose sites trust that one.
func (p *program) pkiAtOnce(f *call) error {
	var out string
	days := 30
	f.Vars(map[string]any{"out": &out, "days": &days})
	c, err := p.parseCluster(f, "cluster", "out")
	if err != nil {
		return err
	}
	from, until, err := validPeriod(days)
	if err != nil {
		return err
	}
	if err := makeCertificates(out, c, (*pki.Authority).Save, from, until); err != nil {
		return err
	}
	return cli.Printf(f.stdout, "an authority and %s of %s in %s, valid until %s\n",
		wording.Count(len(c.Addresses), "agent"), c.Run, out, until.Format(time.DateTime))
}

// validPeriod returns the first and the last time of certificates that are made now for some days.
func validPeriod(days int) (from, until time.Time, err error) {
	if days < 1 || days > maxDays {
		return from, until, dsbo.ConfigErrorf("-days must be 1 to %d; it is %d", maxDays, days)
	}
	now := time.Now()
	return now.Add(-clockSlack), now.AddDate(0, 0, days), nil
}

// makeCertificates makes an authority and writes the certificates of all agents, and of the relay
// if there is one, into a folder, which must have none. save writes the authority, with its key or
// without.
func makeCertificates(folder string, c *site.Cluster, save func(*pki.Authority, string) error, from,
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
