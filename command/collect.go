package command

import (
	"fmt"
	"io"
	"os"

	"dsbo"
	"dsbo/experiment"
	"dsbo/internal/wording"
	"dsbo/runs"
)

// collect runs the verb collect, which merges the run folders of all agents into one. Files among
// the paths, such as logs that a shell pattern matched, are skipped; a missing path is an error of
// the merge. The output must not be one of the inputs.
func (p *program) collect(f *call) error {
	var out string
	var force bool
	page := true
	f.Vars(map[string]any{"out": &out, "force": &force, "report": &page})
	if err := f.parseOperands("out"); err != nil {
		return err
	}
	var agents []runs.Folder
	outInfo, _ := os.Stat(out) // nil: there is none
	for _, path := range f.Args() {
		info, err := os.Stat(path)
		switch {
		case err == nil && info.Mode().IsRegular(): // such as agent-0.log beside agent-0
			continue
		case err == nil && outInfo != nil && os.SameFile(info, outInfo):
			return dsbo.ConfigErrorf("-out must not be one of the run folders; it is %s", out)
		}
		agents = append(agents, runs.Folder(path))
	}
	m, err := runs.Merge(agents)
	if err != nil {
		return err
	}
	folder := runs.Folder(out)
	lock, err := folder.Lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := folder.Open(runs.ModeOf(false, force)); err != nil {
		return err
	}
	return writeMerged(f.stdout, m, folder, page)
}

// writeMerged writes the run of all agents into its folder, which is open, with a page or without,
// and prints its results.
func writeMerged(stdout io.Writer, m *runs.Merged, out runs.Folder, page bool) error {
	if err := m.Write(out); err != nil {
		return err
	}
	head := fmt.Sprintf("%s: %s, which agree to the last bit; time and memory are of the slowest and the largest.",
		m.Run, wording.Count(m.Members, "agent"))
	return experiment.WriteResult(stdout, &m.Summary, head, out, page, true)
}
