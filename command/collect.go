package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsbo"
	"dsbo/experiment"
	"dsbo/internal/cli"
	"dsbo/train"
)

const collectIntro = `Makes one run folder from those of all agents of a run (agent-0, agent-1, ...), which may come from several machines.
They must be of one run, all be there and have finished, and their results must agree to the last bit. Plain files, such as
logs, may stand among them and are left out.

Times of oracles, exchanges and algebra are sums over all agents; the others are those of the slowest agent, and the memory is
that of the largest.`

func (p *program) collect(_ context.Context, args []string, stdout, _ io.Writer) error {
	var out string
	var force, page bool
	f := cli.NewFlags(p.name+" collect", collectIntro, "")
	f.Synopsis, f.Example = "-out DIR [flags] RUN...", p.name+" collect -out runs/mnist-8/all runs/mnist-8/agent-*"
	f.StringVar(&out, "out", "", "`folder` for the run of all agents")
	f.BoolVar(&force, "force", false, "replace the run in the folder")
	f.BoolVar(&page, "report", true, "write report.html and its figures (default true)")
	f.Group("Flags", "out", "force", "report")
	if err := f.ParseOperands(args, stdout); err != nil {
		return err
	}
	folders := f.Args()
	if i := slices.IndexFunc(folders, func(s string) bool { return strings.HasPrefix(s, "-") }); i >= 0 {
		return dsbo.Errorf(dsbo.ErrConfig, "%s must stand before the run folders", folders[i])
	}
	if err := f.Required("out"); err != nil {
		return err
	}
	if folders = slices.DeleteFunc(folders, isFile); len(folders) == 0 {
		return dsbo.Errorf(dsbo.ErrConfig, "the run folders of all agents are required, for instance out/agent-*")
	}
	for _, folder := range folders {
		if sameFolder(out, folder) {
			return dsbo.Errorf(dsbo.ErrConfig, "-out must not be one of the run folders; it is %s", out)
		}
	}
	m, err := merge(folders)
	if err != nil {
		return err
	}
	mode := train.Fresh
	if force {
		mode = train.Replace
	}
	if err := train.Folder(out).Open(mode); err != nil {
		return err
	}
	return m.finish(stdout, out, page)
}

// isFile reports whether path is a plain file, as agent-0.log beside agent-0 is one.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// sameFile reports whether two paths are of one folder that is there.
func sameFolder(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// A part is what one agent has left behind.
type part struct {
	membership
	folder  train.Folder
	config  map[string]json.RawMessage
	summary experiment.Summary
	records []train.Record
}

// merge reads the run folders of all agents and puts them together.
func merge(folders []string) (*merged, error) {
	parts := make([]part, 0, len(folders))
	for _, folder := range folders {
		p, err := readPart(folder)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	slices.SortStableFunc(parts, func(a, b part) int { return a.Agent - b.Agent })
	if err := oneRun(parts); err != nil {
		return nil, err
	}
	for _, p := range parts[1:] {
		if err := p.agrees(&parts[0]); err != nil {
			return nil, err
		}
	}
	m := &merged{parts: parts, config: parts[0].config}
	delete(m.config, "identity") // of agent 0
	m.sum()
	return m, nil
}

func readPart(folder string) (p part, err error) {
	p.folder = train.Folder(folder)
	state, err := p.folder.State()
	switch {
	case err != nil:
		return p, err
	case state == "":
		return p, dsbo.Errorf(dsbo.ErrConfig, "%s must be the run folder of an agent; it holds no run", folder)
	case state != train.Finished:
		return p, dsbo.Errorf(dsbo.ErrConfig, "%s must be a finished run; it is %s", folder, state)
	}
	if p.membership, err = readMembership(folder); err != nil {
		return p, err
	}
	if err := p.folder.ReadConfig(&p.config); err != nil {
		return p, err
	}
	if err := p.folder.ReadSummary(&p.summary); err != nil {
		return p, err
	}
	if p.Agent < 0 || p.Agent >= p.Agents || len(p.summary.PerAgent) != p.Agents {
		return p, dsbo.Errorf(dsbo.ErrConfig, "%s is of agent %d of %d, with a summary of %d: the folder was changed", folder, p.Agent, p.Agents, len(p.summary.PerAgent))
	}
	p.records, err = p.folder.Records()
	return p, err
}

// oneRun checks that the parts, in the order of agents, are those of all agents of one run.
func oneRun(parts []part) error {
	first := parts[0]
	there := map[int]train.Folder{}
	for _, p := range parts {
		if p.Run != first.Run || p.Hash != first.Hash || p.Agents != first.Agents {
			return dsbo.Errorf(dsbo.ErrConfig, "the agents must be of one run: %s is of run %s with the cluster file %.12s, %s of run %s with %.12s",
				first.folder, first.Run, first.Hash, p.folder, p.Run, p.Hash)
		}
		if other, twice := there[p.Agent]; twice {
			return dsbo.Errorf(dsbo.ErrConfig, "each agent must have one run folder: %s and %s are both of agent %d", other, p.folder, p.Agent)
		}
		there[p.Agent] = p.folder
	}
	var missing []string
	for i := range first.Agents {
		if _, ok := there[i]; !ok {
			missing = append(missing, fmt.Sprint(i))
		}
	}
	if len(missing) > 0 {
		return dsbo.Errorf(dsbo.ErrConfig, "the run folders of all %d agents are required; agent %s is missing", first.Agents, strings.Join(missing, ", "))
	}
	return nil
}

// agrees checks that all that does not depend on who measured it is the same in two parts, to the last bit.
func (p *part) agrees(other *part) error {
	differ := func(what, difference string) error {
		return fmt.Errorf("agents %d and %d do not agree: %s: %s (%s, %s)", other.Agent, p.Agent, what, difference, other.folder, p.folder)
	}
	if d, err := difference(other.settings(), p.settings()); err != nil || d != "" {
		return cmpError(err, differ("config.json", d))
	}
	if a, b := len(other.records), len(p.records); a != b {
		return differ("metrics.jsonl", fmt.Sprintf("%d records and %d", a, b))
	}
	for k, r := range p.records {
		if d, err := difference(other.records[k].Timeless(), r.Timeless()); err != nil || d != "" {
			return cmpError(err, differ(fmt.Sprintf("metrics.jsonl, iteration %d", r.Iteration), d))
		}
	}
	if d, err := difference(timeless(other.summary), timeless(p.summary)); err != nil || d != "" {
		return cmpError(err, differ("summary.json", d))
	}
	for _, name := range []string{lambdaFile, omegaFile} {
		a, err := os.ReadFile(filepath.Join(string(other.folder), name))
		if err != nil {
			return err
		}
		b, err := os.ReadFile(filepath.Join(string(p.folder), name))
		if err != nil {
			return err
		}
		if !bytes.Equal(a, b) {
			return differ(name, "other numbers")
		}
	}
	return nil
}

// cmpError returns the error of a comparison, or of what it has found.
func cmpError(failed, found error) error {
	if failed != nil {
		return failed
	}
	return found
}

// settings are the configuration without what may differ: the agent, the machine, and where on it a graph file lies.
func (p *part) settings() map[string]json.RawMessage {
	c := maps.Clone(p.config)
	for _, name := range []string{"build", "graph", "flags", "identity"} {
		delete(c, name)
	}
	return c
}

// timeless returns a summary without what an agent's machine makes of it.
func timeless(s experiment.Summary) experiment.Summary {
	s.Seconds, s.MsPerIteration, s.PeakRSSMiB, s.Round = 0, 0, 0, 0
	s.OracleSeconds, s.MixSeconds, s.AlgebraSeconds = 0, 0, 0
	s.PerAgent = slices.Clone(s.PerAgent)
	for i := range s.PerAgent {
		a := &s.PerAgent[i]
		a.OracleSeconds, a.MixSeconds, a.AlgebraSeconds = 0, 0, 0
	}
	return s
}

// difference names a field in which two values differ as JSON objects, "" if there is none. JSON keeps every bit of a
// number.
func difference(a, b any) (string, error) {
	var fields [2]map[string]json.RawMessage
	for i, v := range []any{a, b} {
		data, err := json.Marshal(v)
		if err != nil {
			return "", err
		}
		if err := json.Unmarshal(data, &fields[i]); err != nil {
			return "", err
		}
	}
	all := maps.Clone(fields[0])
	maps.Copy(all, fields[1])
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if x, y := fields[0][name], fields[1][name]; !bytes.Equal(x, y) {
			return fmt.Sprintf("%s is %.80s and %.80s", name, x, y), nil
		}
	}
	return "", nil
}
