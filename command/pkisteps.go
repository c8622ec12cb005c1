package command

import (
	"fmt"
	"os"
	"time"

	"dsbo"
	"dsbo/internal/cli"
	"dsbo/network/pki"
)

// pkiRequest runs pki request, by which a site makes its key and a request for its certificate in
// the folder of -out. An existing key is used again. -agent must be given, as agent 0 exists.
func (p *program) pkiRequest(f *call) error {
	var out string
	agent := -1
	f.Vars(map[string]any{"agent": &agent, "out": &out})
	if err := f.parse("out"); err != nil {
		return err
	}
	if agent < 0 {
		return dsbo.ConfigErrorf("-agent number is required, 0 or above (-h lists the flags)")
	}
	if err := makeOut(out); err != nil {
		return err
	}
	r, err := pki.MakeRequest(out, agent)
	if err != nil {
		return err
	}
	return cli.Printf(f.stdout, "%s with a key %s, SHA-256 of the public key:\n  %s\n", pki.Name(agent), r.Key,
		r.Fingerprint)
}

// makeOut makes the folder of -out, for keys and certificates.
func makeOut(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return dsbo.ConfigErrorf("-out: %w", err)
	}
	return nil
}

// pkiRenew runs pki renew, by which the authority extends the validity of certificates, in place.
// It stops at the first that fails; earlier ones are renewed.
func (p *program) pkiRenew(f *call) error {
	var folder string
	days := 90
	f.Vars(map[string]any{"ca": &folder, "days": &days})
	if err := f.parseOperands("ca"); err != nil {
		return err
	}
	if f.NArg() == 0 {
		return dsbo.ConfigErrorf("certificates to renew are required, such as signed/agent-3.pem")
	}
	from, until, err := validPeriod(days)
	if err != nil {
		return err
	}
	authority, err := pki.LoadAuthority(folder)
	if err != nil {
		return fmt.Errorf("-ca: %w", err)
	}
	// A certificate that outlives the authority would fail, in the middle of a run, when that
	// expires.
	if end := authority.Expires(); end.Before(until) {
		return dsbo.ConfigErrorf("-days %d: the authority in %s ends at %s, and nothing that it signs is "+
			"valid for longer: -days %d is the most", days, folder, end.Local().Format(time.DateTime),
			max(0, int(time.Until(end).Hours()/24))) // whole days, none of one that has ended
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
		_ = cli.Printf(f.stdout, "%s was valid until %s, and is until %s\n", path,
			old.NotAfter.Local().Format(time.DateTime), until.Format(time.DateTime))
	}
	return nil
}
