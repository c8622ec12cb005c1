package command

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"dsbo"
	"dsbo/command/cluster"
	"dsbo/network/membership"
	"dsbo/network/pki"
)

const admissionIntro = `Admits a site to a run that goes on. Shows what its request holds and, with -yes, signs it and
the admission. -out then has for the site

  agent-<i>.pem        its certificate
  agent-<i>.admission  the number of its agent, and which agents it connects to

which go to it with ca.pem and the cluster file of the run. The agent's number is the next one
after those of the cluster file and of sites that have been admitted before. The quorum of the
cluster file must be more than half of all agents, this one included. The other sites get no
new file: the agent shows its admission, and they check the signature.`

// admissionOptions are the flags of pki admission.
type admissionOptions struct {
	*signer
	neighbours string // list of agents, as it is given
	out        string
	yes        bool
}

// pkiAdmission is the step in which the authority admits a site.
func (p *program) pkiAdmission(_ context.Context, args []string, stdout, _ io.Writer) error {
	f := p.flags("pki admission", admissionIntro, "-ca DIR -cluster FILE -neighbours LIST -out DIR [flags] REQUEST",
		"-ca authority -cluster cluster.json -neighbours 0,3 -out signed -yes agent-8.csr")
	o := admissionOptions{signer: newSigner(f)}
	f.String("cluster", "", "cluster `file` of the run")
	f.StringVar(&o.neighbours, "neighbours", "",
		"`agents` of the cluster file that the agent connects to, such as 0,3: two or more, so that it stays "+
			"when one leaves")
	f.StringVar(&o.out, "out", "", "`folder` for the certificate and the admission")
	f.BoolVar(&o.yes, "yes", false, "sign: the digest is the one that the site sees")
	f.Group("Flags", "ca", "cluster", "neighbours", "out", "days", "yes")
	if err := f.ParseOperands(args, stdout, "ca", "neighbours", "cluster", "out"); err != nil {
		return err
	}
	c, err := p.loadCluster(f)
	if err != nil {
		return err
	}
	if f.NArg() != 1 {
		return dsbo.ConfigErrorf("one request is required, such as agent-%d.csr", len(c.Addresses))
	}
	return o.admit(c, f.Arg(0), stdout)
}

// admit shows a request and, with -yes, signs it and the admission of its agent.
func (o *admissionOptions) admit(c *cluster.Cluster, request string, stdout io.Writer) error {
	neighbours, err := neighboursOf(o.neighbours, c)
	if err != nil {
		return err
	}
	if err := o.load(); err != nil {
		return err
	}
	if most := membership.LargestRoster(c.Quorum); most <= len(c.Addresses) {
		return dsbo.ConfigErrorf(
			`nobody can be admitted to %s: the cluster file must have a "quorum" of more than half of %d `+
				`agents; it is %d`,
			c.Run, len(c.Addresses)+1, c.Quorum)
	}
	granted, err := o.grant([]string{request}, c.Run, len(c.Addresses), membership.LargestRoster(c.Quorum), stdout)
	if err != nil {
		return err
	}
	if !o.yes {
		_, err := fmt.Fprintln(stdout, "nothing is signed: -yes signs it, if the digest is the one that the site sees")
		return err
	}
	agent, err := pki.Agent(granted[0])
	if err != nil {
		return err
	}
	text, err := o.Admit(pki.Admission{Agent: agent, Neighbours: neighbours}, c.Run, c.Hash())
	if err != nil {
		return err
	}
	if err := o.save(o.out, granted); err != nil {
		return err
	}
	if err := pki.SaveAdmission(o.out, agent, text); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s is admitted to %s beside agents %s; its files are in %s, valid until %s\n",
		pki.Name(agent), c.Run, o.neighbours, o.out, o.until.Format(time.DateTime))
	return err
}

// neighboursOf reads the numbers of agents of a cluster file to which others can
// connect, ascending.
func neighboursOf(list string, c *cluster.Cluster) (all []int, err error) {
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
