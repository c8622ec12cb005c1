package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dsbo"
	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/network/membership"
	"dsbo/network/pki"
)

// pkiAdmission runs pki admission, by which the authority admits a site to a run that has begun: it
// signs an admission for an agent whose number follows the cluster file's. The quorum bounds the
// number, since it must remain more than half of all agents.
func (p *program) pkiAdmission(f *call) error {
	w := newWarrant(f)
	var list string
	f.Vars(map[string]any{"neighbours": &list})
	c, err := p.parseCluster(f, "ca", "neighbours", "cluster", "out")
	if err != nil {
		return err
	}
	neighbours, err := neighboursOf(list, c)
	if err != nil {
		return err
	}
	first, most := len(c.Addresses), membership.LargestRoster(c.Quorum)
	if most <= first {
		return dsbo.ConfigErrorf(
			`nobody can be admitted to %s: the cluster file must have a "quorum" of more than half of %d `+
				`agents; it is %d`, c.Run, first+1, c.Quorum)
	}
	path, err := w.sign(first, most, func(a *pki.Authority) (string, error) {
		return a.Admit(membership.Admission{Agent: w.agent, Neighbours: neighbours}, c.Run, c.Hash())
	})
	if err != nil {
		return err
	}
	return cli.Printf(f.stdout, "%s is admitted to %s beside agents %s by %s\n", pki.Name(w.agent), c.Run, list,
		path)
}

// A warrantFlags has the flags of what an authority signs of an agent.
type warrantFlags struct {
	folder, out string
	agent       int
}

// newWarrant adds the flags.
func newWarrant(f *call) *warrantFlags {
	w := &warrantFlags{agent: -1}
	f.Vars(map[string]any{"ca": &w.folder, "agent": &w.agent, "out": &w.out})
	return w
}

// sign has the authority sign something of an agent, first to most-1, and returns the file of that.
func (w *warrantFlags) sign(first, most int, by func(*pki.Authority) (string, error)) (path string, err error) {
	if w.agent < first || w.agent >= most {
		return "", dsbo.ConfigErrorf("-agent must be %d to %d; it is %d", first, most-1, w.agent)
	}
	authority, err := pki.LoadAuthority(w.folder)
	if err != nil {
		return "", fmt.Errorf("-ca: %w", err)
	}
	text, err := by(authority)
	if err == nil {
		err = makeOut(w.out)
	}
	if err != nil {
		return "", err
	}
	return pki.SaveWarrant(w.out, text)
}

// neighboursOf parses a list of agents of a cluster file and returns it ascending, without
// repetitions. Each must have an address, since the admitted agent connects to them.
func neighboursOf(list string, c *site.Cluster) (all []int, err error) {
	for _, text := range strings.Split(list, ",") {
		i, err := strconv.Atoi(text)
		if err != nil || i < 0 || i >= len(c.Addresses) {
			return nil, dsbo.ConfigErrorf(
				"-neighbours must be agents of the cluster file, 0 to %d, separated by commas; it is %s",
				len(c.Addresses)-1, list)
		}
		if c.Addresses[i] == "" {
			return nil, dsbo.ConfigErrorf("-neighbours must be agents with addresses; agent %d has none", i)
		}
		all = append(all, i)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}
