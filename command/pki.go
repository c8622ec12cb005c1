package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"dsbo/cluster"
	"dsbo/internal/cli"
	"dsbo/pki"
)

const pkiIntro = `usage: dsbo pki -cluster FILE -out DIR [-days N]

Makes a certificate authority for a run and the certificate of each of its agents, by which they know each other.
The folder then holds

  ca.pem, ca-key.pem                the authority: the key stays here, or is thrown away
  agent-<i>.pem, agent-<i>-key.pem  agent i, whose machine needs these two and ca.pem (dsbo agent -certs DIR)

Whoever has an agent's key can speak for it. Files that are there are not overwritten.`

// slack is how far back certificates are valid, for machines whose clocks are behind.
const slack = 10 * time.Minute

func runPKI(_ context.Context, args []string, stdout, _ io.Writer) error {
	var file, out string
	var days int
	f := cli.NewFlags("dsbo pki", pkiIntro, "")
	f.StringVar(&file, "cluster", "", "cluster `file`, for its name and how many agents there are")
	f.StringVar(&out, "out", "", "`folder` for the certificates")
	f.IntVar(&days, "days", 30, "`days` for which they are valid, from now on")
	f.Group("Flags", "cluster", "out", "days")
	if err := f.Parse(args, stdout); err != nil {
		return err
	}
	if err := required(f, "cluster", "out"); err != nil {
		return err
	}
	if days < 1 || days > 3650 {
		return bad("-days %d: want 1 to 3650", days)
	}
	c, err := cluster.Load(file)
	if err != nil {
		return err
	}
	now := time.Now()
	until := now.AddDate(0, 0, days)
	if err := makeCertificates(out, c, (*pki.Authority).Save, now.Add(-slack), until); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "an authority and %d agents of %s in %s, valid until %s\n", len(c.Addresses), c.Run, out, until.Format(time.DateTime))
	return err
}

// makeCertificates fills a folder in which there are none yet; save writes what is kept of the authority.
func makeCertificates(folder string, c *cluster.Cluster, save func(*pki.Authority, string) error, from, until time.Time) error {
	for _, pattern := range []string{"ca*.pem", "agent-*.pem"} {
		found, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return bad("-out %s: %v", folder, err)
		}
		if len(found) > 0 {
			return bad("%s is there already: remove it or name another folder", found[0])
		}
	}
	authority, err := pki.NewAuthority(c.Run, from, until)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	if err := save(authority, folder); err != nil {
		return err
	}
	for i := range c.Addresses {
		id, err := authority.Issue(i, from, until)
		if err != nil {
			return err
		}
		if err := id.Save(folder); err != nil {
			return err
		}
	}
	return nil
}
