package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"dsbo"
	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/internal/wording"
	"dsbo/runs"
)

const auditIntro = `Checks the audits of agents, audit.jsonl in the folder of each: who connected with which
key, sessions and their members, policies, certificates, how each process ended. Each line has
the SHA-256 of the line before it, so that a line that was changed, removed or put in shows.
Lines that were cut off at the end show where a head is known: by -head, or by the signed
disclosure.json of the folder.`

// auditor returns the verb audit, of a program that makes flags so: it checks the chains of audits.
func auditor(flags func(verb, intro, synopsis, example string) *cli.Flags) action {
	return func(_ context.Context, args []string, stdout, _ io.Writer) error {
		f := flags("audit", auditIntro, "[-head DIGEST] RUN...", "results/mnist-8/agent-3")
		head := f.String("head", "",
			"`SHA-256` of a line that each audit must have, which this verb has printed before")
		f.Group("Flags", "head")
		if err := f.ParseOperands(args, stdout); err != nil {
			return err
		}
		if f.NArg() == 0 {
			return dsbo.ConfigErrorf("run folders of agents are required, such as results/mnist-8/agent-3")
		}
		for _, path := range f.Args() {
			c, unseen, err := verifyAudit(runs.Folder(path), *head)
			if err != nil {
				return dsbo.ConfigErrorf("%s: %s: %w", path, runs.AuditFile, err)
			}
			fmt.Fprintf(stdout, "%s: %s from %s to %s, unbroken%s; its head is %s\n", path,
				wording.Count(c.Lines, "line"), wording.Plain(c.First), wording.Plain(c.Last), unseen, c.Head)
		}
		return nil
	}
}

// verifyAudit checks the audit in a run folder, which must have the line of head and of the agent's
// report, if given. unseen describes the lines that may have been cut off: those after the last
// line known from elsewhere.
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
