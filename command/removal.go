package command

import (
	"context"
	"fmt"
	"io"

	"dsbo"
	"dsbo/internal/cli"
	"dsbo/network/membership"
	"dsbo/network/pki"
)

const removalIntro = `Takes a site out of a run for good, such as one that will not return or sends what cannot be:
signs -out/agent-<i>.removal, which goes into the folder of certificates (-certs) of any agent that takes
part. That agent reads it within seconds, also while it runs, and all others learn of it: the next
session begins without that site, also where the cluster file has no quorum. There is no way back.`

// pkiRemove is the step in which the authority takes a site out of a run.
func (p *program) pkiRemove(_ context.Context, args []string, stdout, _ io.Writer) error {
	f := p.flags("pki remove", removalIntro, "-ca DIR -cluster FILE -agent N -out DIR",
		"-ca authority -cluster cluster.json -agent 3 -out signed")
	folder := f.String("ca", "", "`folder` with ca.pem and ca-key.pem")
	f.String("cluster", "", "cluster `file` of the run")
	agent := f.Int("agent", -1, "`number` of the agent (required)")
	out := f.String("out", "", "`folder` for the removal")
	f.Group("Flags", "ca", "cluster", "agent", "out")
	if err := f.Parse(args, stdout, "ca", "cluster", "out"); err != nil {
		return err
	}
	c, err := p.loadCluster(f)
	if err != nil {
		return err
	}
	if most := max(len(c.Addresses), membership.LargestRoster(c.Quorum)); *agent < 0 || *agent >= most {
		return dsbo.ConfigErrorf("-agent must be an agent of the run, 0 to %d; it is %d", most-1, *agent)
	}
	authority, err := pki.LoadAuthority(*folder)
	if err != nil {
		return fmt.Errorf("-ca: %w", err)
	}
	text, err := authority.Remove(pki.Removal{Agent: *agent, Run: c.Run, Hash: c.Hash()})
	if err != nil {
		return err
	}
	if err := makeOut(*out); err != nil {
		return err
	}
	if err := pki.SaveRemoval(*out, *agent, text); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s is removed from %s as soon as an agent has %s in its folder of certificates\n",
		pki.Name(*agent), c.Run, pki.RemovalFile(*out, *agent))
	return err
}

// textOf returns an error in one line, "" for none.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return cli.OneLine(err)
}
