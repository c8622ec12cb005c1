package command

import (
	"dsbo/internal/cli"
	"dsbo/network/membership"
	"dsbo/network/pki"
)

// pkiRemove is the step in which the authority takes a site out of a run.
func (p *program) pkiRemove(f *call) error {
	w := newWarrant(f)
	c, err := p.parseCluster(f, "ca", "cluster", "out")
	if err != nil {
		return err
	}
	path, err := w.sign(0, max(len(c.Addresses), membership.LargestRoster(c.Quorum)),
		func(a *pki.Authority) (string, error) { return a.Remove(w.agent, c.Run, c.Hash()) })
	if err != nil {
		return err
	}
	return cli.Printf(f.stdout, "%s is removed from %s as soon as an agent has %s in its folder of certificates\n",
		pki.Name(w.agent), c.Run, path)
}
