package command

import (
	"errors"
	"fmt"
	"io/fs"

	"dsbo"
	"dsbo/experiment/site"
	"dsbo/internal/cli"
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
		_ = cli.Printf(f.stdout, "%s: %s from %s to %s, unbroken%s; its head is %s\n", path,
			wording.Count(c.Lines, "line"), c.First, c.Last, unseen, c.Head)
	}
	return nil
}

// verifyAudit checks the audit in a run folder. It must contain the line with hash head, if given,
// and the line that the agent's report names, if there is a report that names one. A chain does not
// show whether lines after its end were removed, so unseen warns about that, unless the last line
// is one of these two.
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
