// Package peer runs one agent of a run over gRPC: a job of package experiment with an end of the
// exchange of package network/grpc, from the agent's run folder and to it. It is what a process of
// an agent does, however it is started and whatever its wires, its disk and its clock are.
package peer

import (
	"context"
	"errors"
	"io"

	"dsbo/experiment"
	"dsbo/network"
	"dsbo/network/grpc"
	"dsbo/runs"
)

// An Agent is one that has a process of its own.
type Agent struct {
	Folder   runs.Folder     // of the agent alone
	Own      runs.Membership // the run, and which of its agents this is
	Identity string          // stands for both in the folder
	// Exchange is its end of the exchange, without what the job finds and what the folder has of
	// the council. A fingerprint that it has stands before the data's; Finished is what
	// runs.Folder.AllFinished says.
	Exchange grpc.Config
	// Open opens the exchange, with Exchange filled in. nil is [grpc.Open].
	Open func(grpc.Config) (*grpc.Mixer, error)
	// Known, if it is set, is called before the folder keeps that all agents have finished.
	Known func()
}

// Run runs a job as the agent's until all agents have finished. Output and errors are as in
// [experiment.Job.Run]. The exchange is closed when Run returns.
func (a Agent) Run(ctx context.Context, j *experiment.Job, stdout, stderr io.Writer) error {
	var mixer *grpc.Mixer
	j.Layout = experiment.OneAgent(a.Own.Agent, a.Identity,
		func(_ context.Context, g *network.Graph, from int, data []byte, seat *experiment.Seat,
			longest int) (network.Team, error) {
			c := a.exchange(seat)
			c.Matrix, c.Round, c.Wire, c.MaxFloats = g.W, from, j.Settings.ExchangeWire(), longest
			c.MaskFile, c.Noisy = a.Folder.Path(runs.MasksFile), j.Settings.Privacy != nil
			c.Fingerprint = append(c.Fingerprint[:len(c.Fingerprint):len(c.Fingerprint)], data...)
			open := a.Open
			if open == nil {
				open = grpc.Open
			}
			m, err := open(c)
			if err != nil {
				return nil, err
			}
			mixer = m
			return m, nil
		})
	err := j.Run(ctx, stdout, stderr)
	if mixer != nil {
		err = errors.Join(err, mixer.Close())
	}
	return err
}

// exchange returns the settings of the exchange with what the folder has of the council and keeps
// of the end.
func (a Agent) exchange(seat *experiment.Seat) grpc.Config {
	c := a.Exchange
	if c.Membership != nil {
		m := *c.Membership
		m.Log, m.Vote, m.Records, m.Give = seat.Log, seat.Vote, seat, seat.Handover
		c.Membership = &m
	}
	// The file is written before other agents leave: without it this agent, started again, would
	// wait for them in vain.
	c.AllFinished = func(told bool) error {
		if a.Known != nil {
			a.Known()
		}
		known := a.Own
		known.Unconfirmed = !told
		return a.Folder.WriteMembership(known)
	}
	return c
}
