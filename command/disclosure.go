package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"dsbo"
	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/internal/files"
	"dsbo/internal/wording"
	"dsbo/network/pki"
	"dsbo/runs"
)

// A disclosure is a report that a site has signed.
type disclosure struct {
	Report      json.RawMessage `json:"report"`
	Certificate []byte          `json:"certificate"` // in DER, with intermediate ones; nil: it is not signed
	Signature   []byte          `json:"signature"`
}

// signedBytes is what the signature is of.
func (d *disclosure) signedBytes() []byte {
	var b bytes.Buffer
	b.WriteString("dsbo disclosure\n")
	_ = json.Compact(&b, d.Report) // what is no JSON has not been read
	return b.Bytes()
}

// disclose writes the report of what has left the agent, with the hash of its audit's last line,
// signed if the agent has a certificate. end is the error with which the run ended. If nothing was
// sent there is no report. The tally is marked as finished last, so that after a crash the next
// process writes the report.
func (o *agentOptions) disclose(c *site.Cluster, t *site.Tally, audit string, id *pki.Identity, end error) error {
	if !t.HasSent() {
		return nil
	}
	state := string(runs.StateOf(end))
	r := t.Make(site.Report{Run: c.Run, Hash: c.Hash(), Agent: o.agent, Program: wording.Build().Version,
		State: state, Ended: time.Now().UTC().Truncate(time.Second), Masked: o.mask, Audit: audit}, o.guard)
	var d disclosure
	var err error
	if d.Report, err = json.Marshal(r); err == nil && id != nil {
		d.Certificate = id.Certificate()
		d.Signature, err = id.Sign(d.signedBytes())
	}
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(d, "", " ")
	if err == nil {
		err = files.WriteBytes(o.folder().Path(runs.DisclosureFile), text)
	}
	if err == nil {
		err = files.Write(o.folder().Path(runs.DisclosurePage), r.WritePage)
	}
	if err != nil {
		return err
	}
	return t.Finish()
}

// discloseLate writes the report of a process that was killed after it had the result.
func (o *agentOptions) discloseLate(c *site.Cluster) error {
	t, err := site.OpenTally(o.folder().Path(runs.SentFile))
	if err != nil || !t.IsOpen() {
		return err
	}
	var id *pki.Identity
	if o.certs != "" {
		if id, err = pki.Load(o.certs, o.agent, time.Now()); err != nil {
			return dsbo.ConfigErrorf("-certs: %w", err)
		}
	}
	return o.disclose(c, t, "", id, nil)
}

// disclosure runs the verb disclosure, which verifies agents' reports by the authority in -certs.
// With -cluster, reports must be of that file's run, and a certificate may also be valid by a
// pinned key of the file; without it the certificate must name the run.
func (p *program) disclosure(f *call) error {
	var certs, file string
	f.Vars(map[string]any{"certs": &certs, "cluster": &file})
	if err := f.parseOperands("certs"); err != nil {
		return err
	}
	trust, err := pki.LoadTrust(certs)
	if err != nil {
		return dsbo.ConfigErrorf("-certs: %w", err)
	}
	c := new(site.Cluster)
	if file != "" {
		if c, err = site.LoadCluster(file, p.checkTask); err != nil {
			return err
		}
	}
	for _, path := range f.Args() {
		r, err := verifyDisclosure(runs.Folder(path), trust, c.Keys)
		if err == nil && file != "" && c.Hash() != r.Hash {
			err = fmt.Errorf("the cluster file must be the run's, of hash %s; its hash is %s", r.Hash, c.Hash())
		}
		if err != nil {
			return dsbo.ConfigErrorf("%s: %w", path, err)
		}
		_ = cli.Printf(f.stdout, "%s; signed by its certificate\n", r.Line())
	}
	return nil
}

// readDisclosure returns the report in a run folder, which it does not verify, and the bytes of its
// file.
func readDisclosure(folder runs.Folder) (d disclosure, r site.Report, data []byte, err error) {
	if data, err = files.ReadFile(folder.Path(runs.DisclosureFile)); err != nil {
		return d, r, nil, err
	}
	if err = json.Unmarshal(data, &d); err == nil {
		err = json.Unmarshal(d.Report, &r)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", runs.DisclosureFile, err)
	}
	return d, r, data, err
}

// verifyDisclosure returns the report in a run folder, if its agent has signed it. The certificate
// must name the run, or have the agent's key of keys.
func verifyDisclosure(folder runs.Folder, trust *pki.Trust, keys []string) (site.Report, error) {
	d, r, data, err := readDisclosure(folder)
	if err != nil {
		return r, err
	}
	var all bytes.Buffer
	_ = json.Compact(&all, data)                                         // valid, as readDisclosure has parsed it
	if signed, _ := json.Marshal(d); !bytes.Equal(signed, all.Bytes()) { // such as a second "report" field
		return r, fmt.Errorf("%s must have report, certificate and signature alone, in this order",
			runs.DisclosureFile)
	}
	if d.Certificate == nil {
		return r, fmt.Errorf("%s must be signed; its agent had no certificate", runs.DisclosureFile)
	}
	trust = trust.InRun(r.Run, keys)
	if err := trust.Verify(r.Agent, d.Certificate, d.signedBytes(), d.Signature, r.Ended); err != nil {
		return r, fmt.Errorf("%s is not signed by agent %d: %w", runs.DisclosureFile, r.Agent, err)
	}
	page, want := []byte(nil), new(bytes.Buffer)
	if page, err = files.ReadFile(folder.Path(runs.DisclosurePage)); err == nil {
		err = r.WritePage(want)
	}
	if err == nil && !bytes.Equal(page, want.Bytes()) {
		err = fmt.Errorf("%s must be the page of the report in %s; it is another one", runs.DisclosurePage,
			runs.DisclosureFile)
	}
	return r, err
}
