package command

import (
	"path/filepath"

	"dsbo/experiment"
	"dsbo/experiment/site"
	"dsbo/network/membership"
	"dsbo/network/pki"
)

// machinePolicy is the policy of all agents of a machine; tests have another path.
var machinePolicy = "/etc/dsbo/" + site.PolicyFile

// loadPolicy reads the site's policies, before the cluster file: the machine's, and the one beside
// the agent's key.
func (o *agentOptions) loadPolicy() error {
	o.guard = new(site.Guard)
	err := o.guard.Load(machinePolicy)
	if err == nil && o.certs != "" {
		err = o.guard.Load(filepath.Join(o.certs, site.PolicyFile))
	}
	return err
}

// askSite returns an error if the run needs more of the site than its policy allows, as far as that
// is known before the agent meets others.
func (o *agentOptions) askSite(j *experiment.Job, c *site.Cluster, id *pki.Identity) error {
	from := site.Request{Unmasked: !o.mask, Admits: admitting(c, id)}
	return j.AskSite(o.agent, len(c.Addresses), from, o.guard.AddNeed)
}

// admitting returns the keys of the authorities that can let agents into a run.
func admitting(c *site.Cluster, id *pki.Identity) []string {
	if id == nil || membership.LargestRoster(c.Quorum) <= len(c.Addresses) {
		return nil
	}
	return id.AuthorityKeys()
}
