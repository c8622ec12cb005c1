package command

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"os"
	"time"

	"dsbo"
	"dsbo/internal/cli"
	"dsbo/network/pki"
)

// pkiSteps are the steps in which a consortium makes certificates.
func (p *program) pkiSteps() []verb {
	return []verb{
		{"authority", "make a certificate authority, once, for all runs of a consortium", p.pkiAuthority},
		{"request", "at a site: make the agent's key, and a request for its certificate", p.pkiRequest},
		{"sign", "at the authority: sign the requests of sites", p.pkiSign},
		{"admission", "at the authority: admit a site to a run that goes on", p.pkiAdmission},
		{"remove", "at the authority: take a site out of a run for good", p.pkiRemove},
		{"renew", "at the authority: make certificates valid for longer, with the same keys", p.pkiRenew},
	}
}

const authorityIntro = `Makes a certificate authority: ca.pem, which every site gets, and ca-key.pem, which stays
where certificates are signed. Existing files are not overwritten.

To go over to a new authority, make it in a folder of its own and append the old ca.pem to
the new one; sites that have this file accept certificates of both. When all have it, renew
their certificates with the new authority, and later give them its ca.pem alone. Running
agents take up files that change.`

func (p *program) pkiAuthority(_ context.Context, args []string, stdout, _ io.Writer) error {
	f := p.flags("pki authority", authorityIntro, "-out DIR [flags]", "-out authority -name 'our consortium'")
	out := f.String("out", "", "`folder` for ca.pem and ca-key.pem")
	name := f.String("name", "dsbo", "`name` of the authority, for people who read its certificate")
	days := f.Int("days", maxDays, "`days` from now on in which it is valid, and with it all that it signs")
	f.Group("Flags", "out", "name", "days")
	if err := f.Parse(args, stdout, "out", "name"); err != nil {
		return err
	}
	from, until, err := validPeriod(*days)
	if err != nil {
		return err
	}
	a, err := pki.NewAuthority(*name, from, until)
	if err != nil {
		return err
	}
	if err := makeOut(*out); err != nil {
		return err
	}
	if err := a.Save(*out); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "the authority %q in %s, valid until %s\n", *name, *out, until.Format(time.DateTime))
	return err
}

const requestIntro = `Makes a site's request for the certificate of its agent:

  agent-<i>-key.pem  the agent's key, which must not leave this machine
  agent-<i>.csr      the request, which goes to the authority

A key that is there already is used. Read the digest that is printed to the authority, over
another way than the request has taken: it sees the same before it signs.`

func (p *program) pkiRequest(_ context.Context, args []string, stdout, _ io.Writer) error {
	f := p.flags("pki request", requestIntro, "-agent N -out DIR", "-agent 3 -out certs")
	agent := f.Int("agent", -1, "the agent's `number` (required)")
	out := f.String("out", "", "`folder` for the key and the request")
	f.Group("Flags", "agent", "out")
	if err := f.Parse(args, stdout, "out"); err != nil {
		return err
	}
	if *agent < 0 {
		return dsbo.ConfigErrorf("-agent number is required, 0 or above (-h lists the flags)")
	}
	if err := makeOut(*out); err != nil {
		return err
	}
	r, err := pki.MakeRequest(*out, *agent)
	if err != nil {
		return err
	}
	return printRequest(stdout, r)
}

// printRequest prints what a request holds.
func printRequest(w io.Writer, r *pki.Request) error {
	_, err := fmt.Fprintf(w, "%s with a key %s, SHA-256 of the public key:\n  %s\n", pki.Name(r.Agent), r.KeyKind(),
		r.Fingerprint())
	return err
}

const signIntro = `Shows what the requests of sites hold and, with -yes, signs them. -out then has, for each
site, agent-<i>.pem, which goes back to it with ca.pem. A request for anything but the name
of an agent of the cluster file is refused, and so are two for one agent. The certificates are good for
the run of the cluster file alone.`

func (p *program) pkiSign(_ context.Context, args []string, stdout, _ io.Writer) error {
	f := p.flags("pki sign", signIntro, "-ca DIR -cluster FILE -out DIR [flags] REQUEST...",
		"-ca authority -cluster cluster.json -out signed -yes agent-*.csr")
	s := newSigner(f)
	f.String("cluster", "", "cluster `file`, of which the name of the run and the number of agents are used")
	out := f.String("out", "", "`folder` for the certificates")
	yes := f.Bool("yes", false, "sign the requests: their digests are those that the sites see")
	f.Group("Flags", "ca", "cluster", "out", "days", "yes")
	if err := f.ParseOperands(args, stdout, "ca", "cluster", "out"); err != nil {
		return err
	}
	c, err := p.loadCluster(f)
	if err != nil {
		return err
	}
	if f.NArg() == 0 {
		return dsbo.ConfigErrorf("requests to sign are required, such as agent-3.csr")
	}
	if err := s.load(); err != nil {
		return err
	}
	granted, err := s.grant(f.Args(), c.Run, 0, len(c.Addresses), stdout)
	if err != nil {
		return err
	}
	if !*yes {
		_, err := fmt.Fprintln(stdout,
			"nothing is signed: -yes signs them, if the digests are those that the sites see")
		return err
	}
	if err := s.save(*out, granted); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%d signed in %s, valid until %s\n", len(granted), *out, s.until.Format(time.DateTime))
	return err
}

// A signer is the authority of -ca, and from when until when is valid what it signs.
type signer struct {
	*pki.Authority // nil before load
	from, until    time.Time

	folder string
	days   int
}

// newSigner adds the flags of a signer, -ca and -days.
func newSigner(f *cli.Flags) *signer {
	s := &signer{}
	f.StringVar(&s.folder, "ca", "", "`folder` with ca.pem and ca-key.pem")
	f.IntVar(&s.days, "days", 90,
		"`days` from now on in which certificates are valid, at most as long as the authority")
	return s
}

// load reads the authority that the flags name. What it signs is not valid for longer than itself.
func (s *signer) load() (err error) {
	if s.from, s.until, err = validPeriod(s.days); err != nil {
		return err
	}
	if s.Authority, err = pki.LoadAuthority(s.folder); err != nil {
		return fmt.Errorf("-ca: %w", err)
	}
	if end := s.Expires().Local(); end.Before(s.until) {
		s.until = end
	}
	return nil
}

// checkPeriod returns an error if the authority ends before what it is to sign would: a certificate
// that is renewed for longer than that looks good, and ends a run on the authority's last day.
func (s *signer) checkPeriod() error {
	now, end := s.from.Add(clockSlack), s.Expires()
	if end.Before(now.AddDate(0, 0, s.days)) {
		return dsbo.ConfigErrorf("-days %d: the authority in %s ends at %s, and nothing that it signs is "+
			"valid for longer: -days %d is the most; with a new authority (pki authority) more is possible",
			s.days, s.folder, end.Local().Format(time.DateTime), max(0, int(end.Sub(now).Hours()/24)))
	}
	return nil
}

// grant makes the certificates that requests ask for, of agents first to n-1 of a run, and prints
// what each request holds.
func (s *signer) grant(requests []string, run string, first, n int,
	stdout io.Writer) ([]*x509.Certificate, error) {
	var granted []*x509.Certificate
	earlier := map[int]string{}
	for _, path := range requests {
		r, err := pki.LoadRequest(path)
		if err != nil {
			return nil, err
		}
		if r.Agent < first || r.Agent >= n {
			return nil, dsbo.ConfigErrorf("%s asks for %s, but the agent must be one of %d to %d", path,
				pki.Name(r.Agent), first, n-1)
		}
		if before := earlier[r.Agent]; before != "" {
			return nil, dsbo.ConfigErrorf("%s and %s both ask for %s", before, path, pki.Name(r.Agent))
		}
		earlier[r.Agent] = path
		if err := printRequest(stdout, r); err != nil {
			return nil, err
		}
		cert, err := s.Grant(r, s.from, s.until, run)
		if err != nil {
			return nil, err
		}
		granted = append(granted, cert)
	}
	return granted, nil
}

// save writes certificates and the certificate of the authority, which has signed them, to
// a folder.
func (s *signer) save(folder string, signed []*x509.Certificate) error {
	if err := makeOut(folder); err != nil {
		return err
	}
	for _, cert := range signed {
		if err := pki.SaveCertificate(folder, cert); err != nil {
			return err
		}
	}
	return s.PutCertificate(folder)
}

// makeOut makes the folder of -out, for keys and certificates.
func makeOut(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return dsbo.ConfigErrorf("-out: %w", err)
	}
	return nil
}

const renewIntro = `Puts a new certificate for the same key in the place of each that is named, which an
authority of ca.pem must have signed. It may have expired. Only the certificate has to go to
the site: an agent that runs takes it up when its file changes. Its key stays, as it has to
during a run. An authority that ends before -days have passed is refused.`

func (p *program) pkiRenew(_ context.Context, args []string, stdout, _ io.Writer) error {
	f := p.flags("pki renew", renewIntro, "-ca DIR [flags] CERTIFICATE...", "-ca authority signed/agent-3.pem")
	s := newSigner(f)
	f.Group("Flags", "ca", "days")
	if err := f.ParseOperands(args, stdout, "ca"); err != nil {
		return err
	}
	if f.NArg() == 0 {
		return dsbo.ConfigErrorf("certificates to renew are required, such as signed/agent-3.pem")
	}
	if err := s.load(); err != nil {
		return err
	}
	if err := s.checkPeriod(); err != nil {
		return err
	}
	for _, path := range f.Args() {
		old, err := pki.LoadCertificate(path)
		if err != nil {
			return err
		}
		renewed, err := s.Renew(old, s.from, s.until)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := pki.ReplaceCertificate(path, renewed); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s was valid until %s, and is until %s\n", path,
			old.NotAfter.Local().Format(time.DateTime), s.until.Format(time.DateTime))
	}
	return nil
}
