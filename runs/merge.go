package runs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"dsbo"
	"dsbo/internal/wording"
)

// A Membership is agent.json: the run and the agent to which a run folder belongs. It is written
// when a quorum of the agents has the result, and the others know that.
type Membership struct {
	Run    string `json:"run"`
	Hash   string `json:"hash"` // hash of the cluster file
	Agent  int    `json:"agent"`
	Agents int    `json:"agents"` // number of agents in the cluster file
}

// A Merged is the content of a finished run's folder: of all agents, or of one as a part of it.
type Merged struct {
	Membership     // membership of the first agent
	Members    int // number of agents at the end of the run
	Config     Config
	Summary    Summary
	Records    []Record
	folder     Folder                   // run folder of the first agent
	files      [len(resultFiles)][]byte // the contents of these files; nil: there is none
}

// changesAt is the index of the changes of members in resultFiles.
const changesAt = 0

// resultFiles are the files of the run's results, complete in each agent's folder.
var resultFiles = [...]struct {
	name     string
	optional bool
	dated    bool // it has its date, so that two agents' files differ
}{
	changesAt: {name: ChangesFile, optional: true},
	{name: LambdaFile}, {name: OmegaFile}, {name: SetupFile, optional: true}, {name: LambdaTableFile, optional: true},
	{name: PathFile, optional: true},
	{name: AssessmentFile, optional: true}, {name: WeightsFile, optional: true}, {name: ONNXFile, optional: true},
	{name: ModelFile, optional: true, dated: true},
}

// Merge reads the run folders of all agents of a run, as it was at its end, and puts them together.
// The agents must be of one run, complete and finished, and their numbers must agree to the last
// bit; else the error matches [dsbo.ErrConfig].
//
// Counts, and times spent by all agents together, are sums over agents; other times are the slowest
// agent's, and the memory the largest's.
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
	for _, p := range parts[1:] { // before parts[0] becomes the part of all
		if err := parts[0].compare(p); err != nil {
			return nil, err
		}
	}
	m := parts[0]
	m.Members = len(parts)
	m.Config.Identity, m.Summary.Card = "", m.Summary.Timeless().Card
	for _, p := range parts[1:] {
		if err := m.addRecords(p); err != nil {
			return nil, err
		}
		m.add(p)
	}
	return m, nil
}

// changed reports whether the members of the run have changed.
func (m *Merged) changed() bool { return m.files[changesAt] != nil }

// addRecords adds another agent's records. For records that both have, times are added or
// maximized, and all other numbers must be the same. If members have changed, an agent may have
// records of iterations in which the earlier agents were absent; these are inserted.
func (m *Merged) addRecords(p *Merged) error {
	if a, b := len(m.Records), len(p.Records); a != b && !m.changed() {
		return m.differ(p, MetricsFile, fmt.Sprintf("%s and %d", wording.Count(a, "record"), b))
	}
	for _, o := range p.Records {
		k, found := slices.BinarySearchFunc(m.Records, o, func(a, b Record) int {
			return cmp.Or(cmp.Compare(a.Iteration, b.Iteration), cmp.Compare(a.Epoch, b.Epoch))
		})
		if !found {
			m.Records = slices.Insert(m.Records, k, o)
			continue
		}
		r := &m.Records[k]
		if err := m.compareJSON(p, fmt.Sprintf("%s, iteration %d", MetricsFile, r.Iteration), r.Timeless(),
			o.Timeless()); err != nil {
			return err
		}
		r.Times.Add(o.Times)
		r.Seconds, r.EvaluationSeconds = max(r.Seconds, o.Seconds), max(r.EvaluationSeconds, o.EvaluationSeconds)
		r.MsPerIteration, r.PeakRSSMiB = maxNumber(r.MsPerIteration, o.MsPerIteration),
			maxNumber(r.PeakRSSMiB, o.PeakRSSMiB)
	}
	return nil
}

// add adds the times, memory and usage of another agent's summary.
func (m *Merged) add(p *Merged) {
	s, o := &m.Summary, p.Summary
	s.PerAgent[p.Agent] = o.PerAgent[p.Agent]
	for agent := range min(len(s.Waited), len(o.Waited)) {
		s.Waited[agent] += o.Waited[agent]
	}
	s.Times.Add(o.Times)
	s.Seconds = max(s.Seconds, o.Seconds)
	s.MsPerIteration, s.PeakRSSMiB = maxNumber(s.MsPerIteration, o.MsPerIteration),
		maxNumber(s.PeakRSSMiB, o.PeakRSSMiB)
}

// maxNumber returns the larger of two numbers; if one is unknown, the other.
func maxNumber(a, b Number) Number {
	if !a.Known() || b > a {
		return b
	}
	return a
}

// Write fills an open run folder. The summary comes last, as it marks the folder as complete.
func (m *Merged) Write(f Folder) error {
	if err := f.WriteConfig(m.Config); err != nil {
		return err
	}
	var lines bytes.Buffer
	for _, r := range m.Records {
		if err := json.NewEncoder(&lines).Encode(r); err != nil { // ends with a line feed
			return err
		}
	}
	if err := f.WriteFile(MetricsFile, wording.JSON(lines.Bytes())); err != nil {
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

// readPart reads the run folder of one agent of a cluster, which must be finished and unchanged.
func readPart(f Folder) (*Merged, error) {
	p := &Merged{folder: f}
	state, err := f.State()
	switch {
	case err != nil:
		return nil, err
	case state == Absent:
		return nil, dsbo.ConfigErrorf("%s must be the run folder of an agent; it holds no run", f)
	case state != Finished:
		return nil, dsbo.ConfigErrorf(
			"%s must be a finished run; it is %s (the folder of an agent that left for good is not required)", f, state)
	}
	if err := f.Verify(); err != nil {
		return nil, err
	}
	if p.Membership, err = readFile[Membership](f, MembershipFile); err != nil {
		return nil, dsbo.ConfigErrorf("%s must be the run folder of an agent that has finished: %w", f, err)
	}
	if p.Config, err = f.ReadConfig(); err != nil {
		return nil, err
	}
	if p.Summary, err = f.ReadSummary(); err != nil {
		return nil, err
	}
	// The roster may be larger than the cluster file's, as agents may have joined.
	if roster := len(p.Summary.PerAgent); p.Agent < 0 || p.Agent >= roster || roster < p.Agents {
		return nil, dsbo.ConfigErrorf("%s is of agent %d of %d, with a summary of %d: the folder was changed",
			f, p.Agent, p.Agents, roster)
	}
	for k, r := range resultFiles {
		if p.files[k], err = f.ReadFile(r.name); err != nil && !(r.optional && errors.Is(err, fs.ErrNotExist)) {
			return nil, err
		}
	}
	p.Records, err = f.Records()
	return p, err
}

// members returns the agents at the end of the part's run, ascending.
func (m *Merged) members() []int {
	if m.Summary.Members != nil {
		return m.Summary.Members
	}
	all := make([]int, len(m.Summary.PerAgent))
	for i := range all {
		all[i] = i
	}
	return all
}

// checkOneRun checks that the parts, sorted by agent, are of one run, with one part for each agent
// that was a member at its end.
func checkOneRun(parts []*Merged) error {
	if len(parts) == 0 {
		return dsbo.ConfigErrorf("the run folders of all agents are required")
	}
	first := parts[0]
	for k, p := range parts {
		if p.Run != first.Run || p.Hash != first.Hash || p.Agents != first.Agents {
			return dsbo.ConfigErrorf(
				"the agents must be of one run: %s is of run %s with the cluster file %.12s, %s of run %s with %.12s",
				first.folder, first.Run, first.Hash, p.folder, p.Run, p.Hash)
		}
		if k > 0 && p.Agent == parts[k-1].Agent {
			return dsbo.ConfigErrorf("each agent must have one run folder: %s and %s are both of agent %d",
				parts[k-1].folder, p.folder, p.Agent)
		}
	}
	var missing []string
	members := first.members()
	for _, agent := range members {
		if !slices.ContainsFunc(parts, func(p *Merged) bool { return p.Agent == agent }) {
			missing = append(missing, fmt.Sprint(agent))
		}
	}
	if len(missing) > 0 {
		return dsbo.ConfigErrorf("the run folders of all %d agents are required; missing: agent %s",
			len(members), strings.Join(missing, ", "))
	}
	return nil
}

// compare returns an error that names the first difference between two agents' parts, to the last
// bit, except for records, which addRecords compares. Times and memory, which each agent measures
// itself, may differ, and so may files that contain their date.
func (m *Merged) compare(other *Merged) error {
	if err := m.compareJSON(other, ConfigFile, m.settings(), other.settings()); err != nil {
		return err
	}
	if err := m.compareJSON(other, SummaryFile, m.Summary.Timeless(), other.Summary.Timeless()); err != nil {
		return err
	}
	for k, r := range resultFiles {
		if !r.dated && !bytes.Equal(m.files[k], other.files[k]) {
			return m.differ(other, r.name, "other contents")
		}
	}
	return nil
}

// compareJSON compares two values as a file would have them.
func (m *Merged) compareJSON(other *Merged, file string, a, b any) error {
	d, err := Diff(a, b)
	if err == nil && len(d) > 0 {
		err = m.differ(other, file, d[0])
	}
	return err
}

// differ is the error that another agent's part is another one.
func (m *Merged) differ(other *Merged, file string, difference any) error {
	return fmt.Errorf("agents %d and %d do not agree: %s: %v (%s, %s)", m.Agent, other.Agent, file, difference,
		m.folder, other.folder)
}

// settings returns the configuration without the fields that may differ: the agent, the machine,
// and the path of a graph file.
func (m *Merged) settings() Config {
	c := m.Config
	c.Build, c.Graph, c.Flags, c.Identity = Build{}, "", nil, ""
	return c
}
