package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"dsbo"
)

// A Membership is agent.json: the run and the agent to which a run folder belongs. It is written when the agent knows that all have finished.
type Membership struct {
	Run    string `json:"run"`
	Hash   string `json:"hash"` // hash of the cluster file
	Agent  int    `json:"agent"`
	Agents int    `json:"agents"` // number of agents in the run
	// Unconfirmed says that the agent's neighbours may not know yet that all have finished.
	Unconfirmed bool `json:"telling,omitzero"`
}

// A Merged is the content of a finished run's folder: of all agents, or of one as a part of it.
type Merged struct {
	Membership // membership of agent 0
	Config     Config
	Summary    Summary
	Records    []Record
	folder     Folder                   // run folder of agent 0
	files      [len(resultFiles)][]byte // the contents of these files; nil: there is none
}

// resultFiles are the files in which the agents' folders hold what the run has found, each of them all of it.
var resultFiles = [...]struct {
	name     string
	optional bool
	dated    bool // it says when it was made, so that those of two agents differ
}{
	{name: LambdaFile}, {name: OmegaFile}, {name: SetupFile, optional: true}, {name: LambdaTableFile, optional: true},
	{name: AssessmentFile, optional: true}, {name: WeightsFile, optional: true}, {name: ONNXFile, optional: true},
	{name: ModelFile, optional: true, dated: true},
}

// Merge reads the run folders of all agents of a run and puts them together. The agents must be of one run, all be there and at
// their end, which an error that matches [dsbo.ErrConfig] says, and their numbers must agree to the last bit.
//
// Counts are those of all agents, and so are times that are of all agents together; other times and the memory are those of
// the slowest and the largest agent.
func Merge(folders []Folder) (*Merged, error) {
	parts := make([]*Merged, len(folders))
	for k, folder := range folders {
		var err error
		if parts[k], err = readPart(folder); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(parts, func(a, b *Merged) int { return a.Agent - b.Agent })
	if err := checkOneRun(parts); err != nil {
		return nil, err
	}
	for _, p := range parts[1:] { // before parts[0] becomes that of all
		if err := parts[0].compare(p); err != nil {
			return nil, err
		}
	}
	m := parts[0]
	m.Config.Identity, m.Summary.Round = "", 0
	for _, p := range parts[1:] {
		m.add(p)
	}
	return m, nil
}

// add adds the times, memory and usage of another agent.
func (m *Merged) add(p *Merged) {
	for k := range m.Records {
		r, o := &m.Records[k], p.Records[k]
		r.Times.Add(o.Times)
		r.Seconds, r.EvaluationSeconds = max(r.Seconds, o.Seconds), max(r.EvaluationSeconds, o.EvaluationSeconds)
		r.MsPerIteration, r.PeakRSSMiB = maxNumber(r.MsPerIteration, o.MsPerIteration), maxNumber(r.PeakRSSMiB, o.PeakRSSMiB)
	}
	s, o := &m.Summary, p.Summary
	s.PerAgent[p.Agent] = o.PerAgent[p.Agent]
	for agent := range min(len(s.Waited), len(o.Waited)) {
		s.Waited[agent] += o.Waited[agent]
	}
	s.Times.Add(o.Times)
	s.Seconds = max(s.Seconds, o.Seconds)
	s.MsPerIteration, s.PeakRSSMiB = maxNumber(s.MsPerIteration, o.MsPerIteration), maxNumber(s.PeakRSSMiB, o.PeakRSSMiB)
}

// maxNumber returns the larger of two numbers, or the one that is known.
func maxNumber(a, b Number) Number {
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
		if err := json.NewEncoder(&lines).Encode(r); err != nil { // with the end of the line
			return err
		}
	}
	if err := f.WriteFile(MetricsFile, lines.Bytes()); err != nil {
		return err
	}
	for k, r := range resultFiles {
		if m.files[k] == nil {
			continue
		}
		if err := f.WriteFile(r.name, m.files[k]); err != nil {
			return err
		}
	}
	return f.WriteSummary(m.Summary)
}

// readPart reads the run folder of one agent.
func readPart(f Folder) (*Merged, error) {
	p := &Merged{folder: f}
	state, err := f.State()
	switch {
	case err != nil:
		return nil, err
	case state == Absent:
		return nil, dsbo.Errorf(dsbo.ErrConfig, "%s must be the run folder of an agent; it holds no run", f)
	case state != Finished:
		return nil, dsbo.Errorf(dsbo.ErrConfig, "%s must be a finished run; it is %s", f, state)
	}
	if err := f.Verify(); err != nil {
		return nil, err
	}
	if p.Membership, err = f.ReadMembership(); err != nil {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "%s must be the run folder of an agent that has finished: %w", f, err)
	}
	if p.Config, err = f.ReadConfig(); err != nil {
		return nil, err
	}
	if p.Summary, err = f.ReadSummary(); err != nil {
		return nil, err
	}
	if p.Agent < 0 || p.Agent >= p.Agents || len(p.Summary.PerAgent) != p.Agents {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "%s is of agent %d of %d, with a summary of %d: the folder was changed",
			f, p.Agent, p.Agents, len(p.Summary.PerAgent))
	}
	for k, r := range resultFiles {
		if p.files[k], err = f.ReadFile(r.name); err != nil && !(r.optional && errors.Is(err, fs.ErrNotExist)) {
			return nil, err
		}
	}
	p.Records, err = f.Records()
	return p, err
}

// checkOneRun checks that the parts, in the order of agents, are those of all agents of one run.
func checkOneRun(parts []*Merged) error {
	if len(parts) == 0 {
		return dsbo.Errorf(dsbo.ErrConfig, "the run folders of all agents are required")
	}
	first := parts[0]
	var missing []string
	next := 0 // the agent that comes next
	for k, p := range parts {
		if p.Run != first.Run || p.Hash != first.Hash || p.Agents != first.Agents {
			return dsbo.Errorf(dsbo.ErrConfig, "the agents must be of one run: %s is of run %s with the cluster file %.12s, %s of run %s with %.12s",
				first.folder, first.Run, first.Hash, p.folder, p.Run, p.Hash)
		}
		if k > 0 && p.Agent == parts[k-1].Agent {
			return dsbo.Errorf(dsbo.ErrConfig, "each agent must have one run folder: %s and %s are both of agent %d", parts[k-1].folder, p.folder, p.Agent)
		}
		for ; next < p.Agent; next++ {
			missing = append(missing, fmt.Sprint(next))
		}
		next++
	}
	for ; next < first.Agents; next++ {
		missing = append(missing, fmt.Sprint(next))
	}
	if len(missing) > 0 {
		return dsbo.Errorf(dsbo.ErrConfig, "the run folders of all %d agents are required; missing: agent %s", first.Agents, strings.Join(missing, ", "))
	}
	return nil
}

// compare returns an error that names the first difference, to the last bit, of another agent's part. Times and memory, which each
// agent measures for itself, may differ.
func (m *Merged) compare(other *Merged) error {
	differ := func(what string, difference any) error {
		return fmt.Errorf("agents %d and %d do not agree: %s: %v (%s, %s)", m.Agent, other.Agent, what, difference, m.folder, other.folder)
	}
	if a, b := len(m.Records), len(other.Records); a != b {
		return differ(MetricsFile, fmt.Sprintf("%d records and %d", a, b))
	}
	compareJSON := func(what string, a, b any) error {
		d, err := Diff(a, b)
		if err == nil && len(d) > 0 {
			err = differ(what, d[0])
		}
		return err
	}
	if err := compareJSON(ConfigFile, m.settings(), other.settings()); err != nil {
		return err
	}
	for k, r := range m.Records {
		if err := compareJSON(fmt.Sprintf("%s, iteration %d", MetricsFile, r.Iteration), r.Timeless(), other.Records[k].Timeless()); err != nil {
			return err
		}
	}
	if err := compareJSON(SummaryFile, m.Summary.Timeless(), other.Summary.Timeless()); err != nil {
		return err
	}
	for k, r := range resultFiles {
		if !r.dated && !bytes.Equal(m.files[k], other.files[k]) {
			return differ(r.name, "other numbers")
		}
	}
	return nil
}

// settings returns the configuration without the fields that may differ: the agent, the machine, and the path of a graph file.
func (m *Merged) settings() Config {
	c := m.Config
	c.Build, c.Graph, c.Flags, c.Identity = Build{}, "", nil, ""
	return c
}
