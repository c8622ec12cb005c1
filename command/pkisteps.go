package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"dsbo"
	"dsbo/network/pki"
)

// pkiSteps are what a consortium does whose authority is another program.
func (p *program) pkiSteps() []verb {
	return []verb{
		{"request", "at a site: make the agent's key, and a request for its certificate", p.pkiRequest},
		{"admission", "at the authority: admit a site to a run that goes on", p.pkiAdmission},
		{"remove", "at the authority: take a site out of a run for good", p.pkiRemove},
		{"renew", "at the authority: make certificates valid for longer, with the same keys", p.pkiRenew},
	}
}

const requestIntro = `Makes a site's request for the certificate of its agent:

  agent-<i>-key.pem  the agent's key, which must not leave this machine
  agent-<i>.csr      the request, which goes to the authority

A key that is there already is used. The authority signs the request by openssl, step-ca or a
program of its own (deploy/README.md has the commands). Read the digest that is printed to it,
over another way than the request has taken: it must see the same before it signs.`

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
	_, err = fmt.Fprintf(stdout, "%s with a key %s, SHA-256 of the public key:\n  %s\n", pki.Name(*agent), r.Key,
		r.Fingerprint)
	return err
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
	folder := f.String("ca", "", "`folder` with ca.pem and ca-key.pem")
	days := f.Int("days", 90, "`days` from now on in which the certificates are valid")
	f.Group("Flags", "ca", "days")
	if err := f.ParseOperands(args, stdout, "ca"); err != nil {
		return err
	}
	if f.NArg() == 0 {
		return dsbo.ConfigErrorf("certificates to renew are required, such as signed/agent-3.pem")
	}
	from, until, err := validPeriod(*days)
	if err != nil {
		return err
	}
	authority, err := pki.LoadAuthority(*folder)
	if err != nil {
		return fmt.Errorf("-ca: %w", err)
	}
	// A certificate that looks good for longer would end a run on the authority's last day.
	if end := authority.Expires(); end.Before(until) {
		return dsbo.ConfigErrorf("-days %d: the authority in %s ends at %s, and nothing that it signs is "+
			"valid for longer: -days %d is the most", *days, *folder, end.Local().Format(time.DateTime),
			max(0, int(time.Until(end).Hours()/24)))
	}
	for _, path := range f.Args() {
		old, err := pki.LoadCertificate(path)
		if err != nil {
			return err
		}
		renewed, err := authority.Renew(old, from, until)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := pki.ReplaceCertificate(path, renewed); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s was valid until %s, and is until %s\n", path,
			old.NotAfter.Local().Format(time.DateTime), until.Format(time.DateTime))
	}
	return nil
}
