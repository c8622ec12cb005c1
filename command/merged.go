package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"dsbo/experiment"
	"dsbo/internal/atomicfile"
	"dsbo/report"
	"dsbo/train"
)

// Files of a run folder that are copied as they are.
const (
	lambdaFile  = "lambda.npy"
	omegaFile   = "omega.npy"
	metricsFile = "metrics.jsonl"
)

// A merged run is that of all agents.
type merged struct {
	parts   []part // by agent
	config  map[string]json.RawMessage
	summary experiment.Summary
	records []train.Record
}

// sum puts together what the agents measured each for themselves.
func (m *merged) sum() {
	m.records = slices.Clone(m.parts[0].records)
	s := m.parts[0].summary
	s.PerAgent, s.Round = slices.Clone(s.PerAgent), 0
	for i, p := range m.parts {
		s.PerAgent[i] = p.summary.PerAgent[i]
		if i == 0 {
			continue
		}
		for k := range m.records {
			r, o := &m.records[k], p.records[k]
			r.OracleSeconds += o.OracleSeconds
			r.MixSeconds += o.MixSeconds
			r.AlgebraSeconds += o.AlgebraSeconds
			r.Seconds, r.EvaluationSeconds = max(r.Seconds, o.Seconds), max(r.EvaluationSeconds, o.EvaluationSeconds)
			r.MsPerIteration, r.PeakRSSMiB = larger(r.MsPerIteration, o.MsPerIteration), larger(r.PeakRSSMiB, o.PeakRSSMiB)
		}
		s.OracleSeconds += p.summary.OracleSeconds
		s.MixSeconds += p.summary.MixSeconds
		s.AlgebraSeconds += p.summary.AlgebraSeconds
		s.Seconds = max(s.Seconds, p.summary.Seconds)
		s.MsPerIteration, s.PeakRSSMiB = larger(s.MsPerIteration, p.summary.MsPerIteration), larger(s.PeakRSSMiB, p.summary.PeakRSSMiB)
	}
	m.summary = s
}

// larger returns the larger of two numbers, or the one that is known.
func larger(a, b train.Number) train.Number {
	if !a.Known() || b > a {
		return b
	}
	return a
}

// finish writes the run folder, which is open, and the table about it.
func (m *merged) finish(stdout io.Writer, out string, page bool) error {
	if err := m.write(out); err != nil {
		return err
	}
	path := ""
	if page {
		run, err := report.Load(out)
		if err != nil {
			return err
		}
		if path, err = report.Write(out, []*report.Run{run}, report.Options{}); err != nil {
			return err
		}
	}
	head := fmt.Sprintf("%s: %d agents, which agree to the last bit; time and memory are of the slowest and the largest.", m.parts[0].Run, m.parts[0].Agents)
	return m.summary.Print(stdout, head, out, path)
}

// write fills the run folder; the summary, which says that it is whole, comes last.
func (m *merged) write(out string) error {
	folder := train.Folder(out)
	if err := folder.WriteConfig(m.config); err != nil {
		return err
	}
	// Of an agent whose folder is replaced.
	if err := os.Remove(filepath.Join(out, membershipFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var lines bytes.Buffer
	for _, r := range m.records {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		lines.Write(append(line, '\n'))
	}
	if err := atomicfile.WriteBytes(filepath.Join(out, metricsFile), lines.Bytes()); err != nil {
		return err
	}
	for _, name := range []string{lambdaFile, omegaFile} {
		data, err := os.ReadFile(filepath.Join(string(m.parts[0].folder), name))
		if err != nil {
			return err
		}
		if err := atomicfile.WriteBytes(filepath.Join(out, name), data); err != nil {
			return err
		}
	}
	return folder.WriteSummary(m.summary)
}
