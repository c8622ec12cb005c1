package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"dsbo"
	"dsbo/command/cluster"
	"dsbo/experiment/site"
	"dsbo/internal/disk"
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

// disclose writes what has left the agent, signed where it has a certificate.
func (o *agentOptions) disclose(c *cluster.Cluster, t *site.Tally, id *pki.Identity, end error) error {
	if !t.HasSent() {
		return nil
	}
	state := string(runs.StateOf(end))
	r := t.Make(site.Report{Run: c.Run, Hash: c.Hash(), Agent: o.agent, Program: wording.Build().Version,
		State: state, Ended: time.Now().UTC().Truncate(time.Second), Masked: o.mask}, o.guard)
	d, page := disclosure{}, new(bytes.Buffer)
	var err error
	if d.Report, err = json.Marshal(r); err == nil && id != nil {
		d.Certificate = id.Certificate()
		d.Signature, err = id.Sign(d.signedBytes())
	}
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		return err
	}
	if err := r.WritePage(page); err != nil {
		return err
	}
	for name, data := range map[string][]byte{runs.DisclosureFile: text, runs.DisclosurePage: page.Bytes()} {
		if err := disk.WriteBytes(o.folder().Path(name), data); err != nil {
			return err
		}
	}
	return t.Finish()
}

const disclosureIntro = `Checks what sites have signed of what left them: disclosure.json in the folder of each agent,
and its page disclosure.html. The signature must be of the key of the agent's certificate,
which an authority of ca.pem has signed, and the page must be the report's.`

// disclosure is the verb disclosure: it verifies the reports of agents.
func (p *program) disclosure(_ context.Context, args []string, stdout, _ io.Writer) error {
	f := p.flags("disclosure", disclosureIntro, "-certs DIR RUN...", "-certs certs results/mnist-8/agent-3")
	certs := f.String("certs", "", "`folder` with ca.pem")
	f.Group("Flags", "certs")
	if err := f.ParseOperands(args, stdout, "certs"); err != nil {
		return err
	}
	trust, err := pki.LoadTrust(*certs)
	if err != nil {
		return dsbo.ConfigErrorf("-certs: %w", err)
	}
	for _, path := range f.Args() {
		r, err := verifyDisclosure(runs.Folder(path), trust)
		if err != nil {
			return dsbo.ConfigErrorf("%s: %w", path, err)
		}
		fmt.Fprintf(stdout, "%s; signed by its certificate\n", r.Line())
	}
	return nil
}

// verifyDisclosure returns the report in a run folder, if its agent has signed it.
func verifyDisclosure(folder runs.Folder, trust *pki.Trust) (r site.Report, err error) {
	data, err := disk.ReadFile(folder.Path(runs.DisclosureFile))
	if err != nil {
		return r, err
	}
	var d disclosure
	if err = json.Unmarshal(data, &d); err == nil {
		err = json.Unmarshal(d.Report, &r)
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w", runs.DisclosureFile, err)
	}
	if d.Certificate == nil {
		return r, fmt.Errorf("%s must be signed; its agent had no certificate", runs.DisclosureFile)
	}
	if err := trust.Verify(r.Agent, d.Certificate, d.signedBytes(), d.Signature, r.Ended); err != nil {
		return r, fmt.Errorf("%s is not signed by agent %d: %w", runs.DisclosureFile, r.Agent, err)
	}
	page, want := []byte(nil), new(bytes.Buffer)
	if page, err = disk.ReadFile(folder.Path(runs.DisclosurePage)); err == nil {
		err = r.WritePage(want)
	}
	if err == nil && !bytes.Equal(page, want.Bytes()) {
		err = fmt.Errorf("%s must be the page of the report in %s; it is another one", runs.DisclosurePage,
			runs.DisclosureFile)
	}
	return r, err
}
