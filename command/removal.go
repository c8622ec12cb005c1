package command

import (
	"context"
	"fmt"
	"io"

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
	w := newWarrant(f)
	f.Group("Flags", "ca", "cluster", "agent", "out")
	c, err := p.parseCluster(f, args, stdout, "ca")
	if err != nil {
		return err
	}
	path, err := w.sign(0, max(len(c.Addresses), membership.LargestRoster(c.Quorum)),
		func(a *pki.Authority) (string, error) { return a.Remove(w.agent, c.Run, c.Hash()) })
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s is removed from %s as soon as an agent has %s in its folder of certificates\n",
		pki.Name(w.agent), c.Run, path)
	return err
}
