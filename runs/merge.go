package runs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"dsbo"
	"dsbo/internal/atomicfile"
)

// A Membership is agent.json, which says whose run folder it is in. It is there when all agents have come to their end.
type Membership struct {
	Run    string `json:"run"`
	Hash   string `json:"hash"` // of the cluster file
	Agent  int    `json:"agent"`
	Agents int    `json:"agents"` // how many there are
}

// A Merged run is put together from the folders of all its agents.
type Merged struct {
	Membership // of agent 0
	Config     Config
	Summary    Summary
	Records    []Record
	folder     Folder // of agent 0
}

// Merge reads the run folders of all agents of a run and puts them together. The agents must be of one run, all be there and at
// their end, which an error that matches [dsbo.ErrConfig] says, and their numbers must agree to the last bit.
//
// Counts are those of all agents, and so are times that are of all agents together; other times and the memory are those of
// the slowest and the largest agent.
func Merge(folders []Folder) (*Merged, error) {
	parts := make([]part, 0, len(folders))
	for _, folder := range folders {
		p, err := readPart(folder)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	slices.SortStableFunc(parts, func(a, b part) int { return a.Agent - b.Agent })
	if err := checkOneRun(parts); err != nil {
		return nil, err
	}
	first := &parts[0]
	m := &Merged{first.Membership, first.config, first.summary, slices.Clone(first.records), first.folder}
	m.Config.Identity = ""
	m.Summary.PerAgent, m.Summary.Round = slices.Clone(first.summary.PerAgent), 0
	for i := 1; i < len(parts); i++ {
		if err := first.compare(&parts[i]); err != nil {
			return nil, err
		}
		m.add(&parts[i])
	}
	return m, nil
}

// add adds what another agent measured for itself.
func (m *Merged) add(p *part) {
	for k := range m.Records {
		r, o := &m.Records[k], p.records[k]
		r.Times.Add(o.Times)
		r.Seconds, r.EvaluationSeconds = max(r.Seconds, o.Seconds), max(r.EvaluationSeconds, o.EvaluationSeconds)
		r.MsPerIteration, r.PeakRSSMiB = larger(r.MsPerIteration, o.MsPerIteration), larger(r.PeakRSSMiB, o.PeakRSSMiB)
	}
	s, o := &m.Summary, p.summary
	s.PerAgent[p.Agent] = o.PerAgent[p.Agent]
	s.Times.Add(o.Times)
	s.Seconds = max(s.Seconds, o.Seconds)
	s.MsPerIteration, s.PeakRSSMiB = larger(s.MsPerIteration, o.MsPerIteration), larger(s.PeakRSSMiB, o.PeakRSSMiB)
}

// larger returns the larger of two numbers, or the one that is known.
func larger(a, b Number) Number {
	if !a.Known() || b > a {
		return b
	}
	return a
}

// Write fills a run folder, which is open; the summary, which says that it is complete, comes last.
func (m *Merged) Write(f Folder) error {
	if err := f.WriteConfig(m.Config); err != nil {
		return err
	}
	var lines bytes.Buffer
	for _, r := range m.Records {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		lines.Write(append(line, '\n'))
	}
	if err := atomicfile.WriteBytes(f.Path(MetricsFile), lines.Bytes()); err != nil {
		return err
	}
	for _, name := range []string{LambdaFile, OmegaFile} {
		data, err := os.ReadFile(m.folder.Path(name))
		if err != nil {
			return err
		}
		if err := atomicfile.WriteBytes(f.Path(name), data); err != nil {
			return err
		}
	}
	return f.WriteSummary(m.Summary)
}

// A part is the run folder of one agent.
type part struct {
	Membership
	folder  Folder
	config  Config
	summary Summary
	records []Record
}

func readPart(f Folder) (p part, err error) {
	p.folder = f
	state, err := f.State()
	switch {
	case err != nil:
		return p, err
	case state == Absent:
		return p, dsbo.Errorf(dsbo.ErrConfig, "%s must be the run folder of an agent; it holds no run", f)
	case state != Finished:
		return p, dsbo.Errorf(dsbo.ErrConfig, "%s must be a finished run; it is %s", f, state)
	}
	if p.Membership, err = f.ReadMembership(); err != nil {
		return p, dsbo.Errorf(dsbo.ErrConfig, "%s must be the run folder of an agent that has finished: %w", f, err)
	}
	if p.config, err = f.ReadConfig(); err != nil {
		return p, err
	}
	if p.summary, err = f.ReadSummary(); err != nil {
		return p, err
	}
	if p.Agent < 0 || p.Agent >= p.Agents || len(p.summary.PerAgent) != p.Agents {
		return p, dsbo.Errorf(dsbo.ErrConfig, "%s is of agent %d of %d, with a summary of %d: the folder was changed",
			f, p.Agent, p.Agents, len(p.summary.PerAgent))
	}
	p.records, err = f.Records()
	return p, err
}

// checkOneRun checks that the parts, in the order of agents, are those of all agents of one run.
func checkOneRun(parts []part) error {
	if len(parts) == 0 {
		return dsbo.Errorf(dsbo.ErrConfig, "the run folders of all agents are required")
	}
	first := parts[0]
	byAgent := map[int]Folder{}
	for _, p := range parts {
		if p.Run != first.Run || p.Hash != first.Hash || p.Agents != first.Agents {
			return dsbo.Errorf(dsbo.ErrConfig, "the agents must be of one run: %s is of run %s with the cluster file %.12s, %s of run %s with %.12s",
				first.folder, first.Run, first.Hash, p.folder, p.Run, p.Hash)
		}
		if other, twice := byAgent[p.Agent]; twice {
			return dsbo.Errorf(dsbo.ErrConfig, "each agent must have one run folder: %s and %s are both of agent %d", other, p.folder, p.Agent)
		}
		byAgent[p.Agent] = p.folder
	}
	var missing []string
	for i := range first.Agents {
		if _, ok := byAgent[i]; !ok {
			missing = append(missing, fmt.Sprint(i))
		}
	}
	if len(missing) > 0 {
		return dsbo.Errorf(dsbo.ErrConfig, "the run folders of all %d agents are required; agent %s is missing", first.Agents, strings.Join(missing, ", "))
	}
	return nil
}

// compare returns an error that names what differs in another part, to the last bit, of all that does not depend on who measured it.
func (p *part) compare(other *part) error {
	differ := func(what string, difference any) error {
		return fmt.Errorf("agents %d and %d do not agree: %s: %v (%s, %s)", p.Agent, other.Agent, what, difference, p.folder, other.folder)
	}
	if a, b := len(p.records), len(other.records); a != b {
		return differ(MetricsFile, fmt.Sprintf("%d records and %d", a, b))
	}
	type pair struct {
		what string
		a, b any
	}
	pairs := []pair{{ConfigFile, p.settings(), other.settings()}}
	for k, r := range p.records {
		pairs = append(pairs, pair{fmt.Sprintf("%s, iteration %d", MetricsFile, r.Iteration), r.Timeless(), other.records[k].Timeless()})
	}
	for _, v := range append(pairs, pair{SummaryFile, p.summary.Timeless(), other.summary.Timeless()}) {
		if d, err := Diff(v.a, v.b); err != nil {
			return err
		} else if len(d) > 0 {
			return differ(v.what, d[0])
		}
	}
	for _, name := range []string{LambdaFile, OmegaFile} {
		a, err := os.ReadFile(p.folder.Path(name))
		if err != nil {
			return err
		}
		b, err := os.ReadFile(other.folder.Path(name))
		if err != nil {
			return err
		}
		if !bytes.Equal(a, b) {
			return differ(name, "other numbers")
		}
	}
	return nil
}

// settings are the configuration without what may differ: the agent, the machine, and where on it a graph file lies.
func (p *part) settings() Config {
	c := p.config
	c.Build, c.Graph, c.Flags, c.Identity = Build{}, "", nil, ""
	return c
}
