package command

import (
	"context"
	"fmt"
	"io"
	"os"

	"dsbo"
	"dsbo/experiment/console"
	"dsbo/internal/wording"
	"dsbo/runs"
)

const collectIntro = `Makes one run folder from the folders of all agents of a run (agent-0, agent-1, ...), which
may come from several machines. They must be of one run, all be there and have finished,
but for agents that left for good, and their results must agree to the last bit. Plain
files, such as logs, may stand among them and are left out.

Times of oracles, exchanges and algebra are sums over all agents; the others are those
of the slowest agent, and the memory is that of the largest.`

// collect is the verb collect: it makes one run folder from the folders of all agents.
func (p *program) collect(_ context.Context, args []string, stdout, _ io.Writer) error {
	f := p.flags("collect", collectIntro, "-out DIR [flags] RUN...", "-out results/mnist-8/all results/mnist-8/agent-*")
	out := f.String("out", "", "`folder` for the run of all agents")
	force := f.Bool("force", false, "replace the run in the folder")
	page := f.Bool("report", true, "write report.html and its figures (default true)")
	f.Group("Flags", "out", "force", "report")
	if err := f.ParseOperands(args, stdout, "out"); err != nil {
		return err
	}
	var agents []runs.Folder
	outInfo, _ := os.Stat(*out) // nil: there is none
	for _, path := range f.Args() {
		info, err := os.Stat(path)
		switch {
		case err == nil && info.Mode().IsRegular(): // such as agent-0.log beside agent-0
			continue
		case err == nil && outInfo != nil && os.SameFile(info, outInfo):
			return dsbo.ConfigErrorf("-out must not be one of the run folders; it is %s", *out)
		}
		agents = append(agents, runs.Folder(path))
	}
	m, err := runs.Merge(agents)
	if err != nil {
		return err
	}
	folder := runs.Folder(*out)
	lock, err := folder.Lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := folder.Open(runs.ModeOf(false, *force)); err != nil {
		return err
	}
	return writeMerged(stdout, m, folder, *page)
}

// writeMerged writes the run of all agents into its folder, which is open, with a page or without,
// and prints its results.
func writeMerged(stdout io.Writer, m *runs.Merged, out runs.Folder, page bool) error {
	if err := m.Write(out); err != nil {
		return err
	}
	head := fmt.Sprintf("%s: %s, which agree to the last bit; time and memory are of the slowest and the largest.",
		m.Run, wording.Count(m.Members, "agent"))
	return console.Result(stdout, &m.Summary, head, out, page, true)
}
