// Package peer runs one agent of a run over gRPC: a job of package experiment with an agent of
// package network/session, from the agent's run folder and to it. It is what a process of an agent
// does, however it is started and whatever its wires, its disk and its clock are.
package peer

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"dsbo/experiment"
	"dsbo/experiment/site"
	"dsbo/network"
	"dsbo/network/register"
	"dsbo/network/session"
	"dsbo/runs"
)

// An Agent is an agent with a process of its own.
type Agent struct {
	Folder   runs.Folder     // of the agent alone
	Own      runs.Membership // the run, and which of its agents this is
	Identity string          // identifies both in the folder
	// Sessions has the settings of its sessions, without what the job finds and the folder has.
	// Data that it has come before the job's.
	Sessions session.Config
	// Open opens the agent, with Sessions filled in. nil is [session.Open].
	Open func(session.Config) (*session.Agent, error)
}

// Run runs a job as the agent's until the result is final, and all know that. Output and errors are
// as in [experiment.Job.Run]. The agent is closed when Run returns.
func (a Agent) Run(ctx context.Context, j *experiment.Job, stdout, stderr io.Writer) error {
	var opened *session.Agent
	open := a.Open
	if open == nil {
		open = session.Open
	}
	j.Layout = experiment.OneAgent(a.Own.Agent, a.Identity,
		func(g *network.Graph, folder register.Store, data []byte, longest int) (experiment.Meeting, error) {
			c := a.Sessions
			c.Matrix, c.Wire, c.MaxFloats, c.Store = g.W, j.Settings.ExchangeWire(), longest, folder
			if j.Sent != nil {
				c.Sent = j.Sent.Count
			}
			c.Noisy, c.Data = j.Settings.Privacy != nil, slices.Concat(c.Data, data)
			var err error
			opened, err = open(c)
			return meeting{opened, j.Sent}, err
		})
	err := j.Run(ctx, stdout, stderr)
	if opened != nil {
		err = errors.Join(err, opened.Close())
	}
	if err == nil { // and no later start owes the other agents anything
		err = a.Folder.WriteMembership(a.Own)
	}
	return err
}

// A meeting is a session's agent as a job sees it.
type meeting struct {
	*session.Agent
	sent *site.Tally
}

func (m meeting) Next(ctx context.Context) (experiment.Session, error) {
	s, err := m.Agent.Next(ctx)
	if err != nil {
		return nil, err
	}
	return joined{s, m.sent}, m.sent.Join(s.Number, s.Epoch.Members)
}

// A joined session is one as a job sees it.
type joined struct {
	*session.Session
	sent *site.Tally
}

// Label is called by [network.Label].
func (s joined) Label(what ...network.Carried) { s.sent.Label(what...) }

// Join implements [experiment.Session], and counts what is handed over.
func (s joined) Join(ctx context.Context, keep func(given []byte) error) error {
	s.sent.Label(network.Carried{Name: "checkpoints", Way: network.ByState})
	defer s.sent.Label()
	return s.Session.Join(ctx, keep)
}

// Save implements [network.Saver], and keeps what was counted.
func (s joined) Save(ctx context.Context, write func() error) error {
	return cmp.Or(s.Session.Save(ctx, write), s.sent.SaveCounts())
}

func (s joined) Decided() register.Session { return s.Session.Session }
