package experiment

import (
	"context"

	"dsbo"
	"dsbo/experiment/site"
	"dsbo/network"
	"dsbo/runs"
)

// newSetup returns the setup for a load: read from the run folder, if all agents kept it there in
// an earlier session or process; else an empty one, to be filled by exchanges. An agent that loads
// its data before it meets the others, for their fingerprint, gets one that fails all exchanges.
func (r *run) newSetup(ctx context.Context, at beginning) (*setup, error) {
	s := new(setup)
	switch {
	case at.team != nil && at.setupKept:
		return s, s.read(r.folder)
	case at.team == nil && r.layout.ownsFiles():
		s.exchange = unmet
	default:
		s.exchange = network.NewGroup(
			network.GroupConfig{N: r.settings.Agents, Team: at.team, W: r.graph.W, Sent: &s.Sent}).Bound(ctx)
	}
	return s, nil
}

// unmet is what an agent that has not met the others finds with them.
var unmet = noCollective{
	dsbo.Errorf(dsbo.ErrCapability, "a task whose Load finds things together must have a Fingerprint")}

// A noCollective is a [network.Collective] that fails.
type noCollective struct{ err error }

func (c noCollective) Sum(string, []float64, func(int, []float64) error) error { return c.err }

func (c noCollective) Texts(string, func(int) (string, error)) ([]string, error) { return nil, c.err }

// read reads the common results in the run folder.
func (s *setup) read(f runs.Folder) error {
	if exists, err := f.Has(runs.SetupFile); err != nil || !exists {
		return err // the task finds nothing together
	}
	var err error
	s.Setup, err = f.ReadSetup()
	return err
}

// Recorded returns a [network.Collective] that finds what another one does, and keeps it in Found.
func Recorded(c network.Collective) *setup { return &setup{exchange: c} }

// Again returns one that finds the same once more, in the same order, without other agents: what a
// test of a task needs to load the data of one agent alone.
func (s *setup) Again() network.Collective { return &setup{Setup: s.Setup} }

// Sum implements [network.Collective].
func (s *setup) Sum(name string, dst []float64, fill func(i int, part []float64) error) error {
	s.listed = append(s.listed, site.Sum(name, len(dst), site.Once))
	found, err := s.foundBy(len(dst), func() (runs.Found, error) {
		err := s.exchange.Sum(name, dst, fill)
		return runs.Found{Sum: append([]float64{}, dst...)}, err
	})
	copy(dst, found.Sum)
	return err
}

// textsAlone is the length that foundBy takes for a result without a sum.
const textsAlone = -1

// foundBy returns the result of a search and keeps it; if the run is resumed it returns the kept
// result instead. Every process makes the same searches in the same order, so that the i-th search
// has the i-th result. A kept result of another length than the expected sum (or of texts:
// textsAlone) means that the data have changed.
func (s *setup) foundBy(length int, search func() (runs.Found, error)) (runs.Found, error) {
	if s.exchange == nil {
		if s.next < len(s.Found) {
			found := s.Found[s.next]
			if s.next++; len(found.Sum) == length || length == textsAlone && found.Texts != nil {
				return found, nil
			}
		}
		return runs.Found{}, dsbo.ConfigErrorf(
			"the data are not those with which the run began: what its agents found together then, %s, does "+
				"not fit them", runs.SetupFile)
	}
	found, err := search()
	if err == nil {
		s.Found = append(s.Found, found)
	}
	return found, err
}

// Texts implements [network.Collective]. For plans it lists the length of the longest text, with
// the first agent's text as an example.
func (s *setup) Texts(name string, of func(i int) (string, error)) ([]string, error) {
	found, err := s.foundBy(textsAlone, func() (runs.Found, error) {
		texts, err := s.exchange.Texts(name, of)
		return runs.Found{Texts: texts}, err
	})
	sent := site.Quantity{Name: name, Way: network.ByText, Times: site.Once}
	for i, text := range found.Texts {
		if sent.Length = max(sent.Length, float64(len(text))); i == 0 {
			sent.Text = text
		}
	}
	s.listed = append(s.listed, sent)
	return found.Texts, err
}
