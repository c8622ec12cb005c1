package command

import (
	"errors"
	"fmt"
	"io/fs"

	"dsbo"
	"dsbo/experiment/site"
	"dsbo/internal/wording"
	"dsbo/runs"
)

// audit is the verb audit: it checks the chains of audits in run folders, and stops at the first
// that is broken. With -head each must have that line.
func (p *program) audit(f *call) error {
	var head string
	f.Vars(map[string]any{"head": &head})
	if err := f.parseOperands(); err != nil {
		return err
	}
	if f.NArg() == 0 {
		return dsbo.ConfigErrorf("run folders of agents are required, such as results/mnist-8/agent-3")
	}
	for _, path := range f.Args() {
		c, unseen, err := verifyAudit(runs.Folder(path), head)
		if err != nil {
			return dsbo.ConfigErrorf("%s: %s: %w", path, runs.AuditFile, err)
		}
		fmt.Fprintf(f.stdout, "%s: %s from %s to %s, unbroken%s; its head is %s\n", path,
			wording.Count(c.Lines, "line"), wording.Plain(c.First), wording.Plain(c.Last), unseen, c.Head)
	}
	return nil
}

// verifyAudit checks the audit in a run folder, which must have the line of head and of the agent's
// report, if given: the report of an agent that did not end in order has none, and there may be no
// report. unseen describes the lines that may have been cut off: those after the last line known
// from elsewhere; "" where that is the last one.
func verifyAudit(folder runs.Folder, head string) (c site.Chain, unseen string, err error) {
	if c, err = site.VerifyAudit(folder.Path(runs.AuditFile)); err != nil {
		return c, "", err
	}
	_, r, _, err := readDisclosure(folder)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return c, "", err
	case head != "" && !c.Has(head):
		return c, "", fmt.Errorf("it must have a line of SHA-256 %s (-head); it has none", head)
	case r.Audit != "" && !c.Has(r.Audit):
		return c, "", fmt.Errorf("it must have a line of SHA-256 %s, as %s has it; it has none", r.Audit,
			runs.DisclosureFile)
	case c.Head == head || c.Head == r.Audit:
	case head+r.Audit == "":
		unseen = " (that lines are cut off at its end shows by -head alone)"
	default:
		unseen = " (that lines are cut off after the one of -head, or of " + runs.DisclosureFile + ", does not show)"
	}
	return c, unseen, nil
}
