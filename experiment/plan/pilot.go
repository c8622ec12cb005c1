package plan

import (
	"time"

	"dsbo"
	"dsbo/runs"
	"dsbo/train"
)

// A Pilot is a run of what was planned in this process alone. What agents send does not depend on
// what carries it: a run of the same data, seed and flags between sites sends the same.
type Pilot struct {
	Traffic    runs.PhaseTraffic
	Iterations int
	Elapsed    time.Duration     // for the computing of all sites, in this process
	shares     map[string]amount // what was sent in each phase, as shares of what the plan called usual
}

// Use puts what a pilot has sent in the place of ranges, and what this process took to run it in
// the place of a guess at its memory. A site's share of a phase stays as planned: its sums all go
// over one tree. It is called once at most.
func (p *Plan) Use(pilot Pilot) {
	pilot.shares = map[string]amount{}
	usual, site, t := p.All.Phases, p.Site.Phases, pilot.Traffic
	p.All, p.Site = Load{}, Load{}
	for _, phase := range Phases {
		sent := map[string]dsbo.Traffic{Loading: t.Setup, Iterations: t.Method, Evaluation: t.Evaluation,
			Models: t.Models}[phase]
		all := Sending{Bytes: exactly(sent.Bytes), Messages: exactly(sent.Messages)}
		share := amount{messages: all.Messages.shareOf(usual[phase].Messages),
			bytes: all.Bytes.shareOf(usual[phase].Bytes)}
		pilot.shares[phase] = share
		p.All.add(phase, all)
		p.Site.add(phase, Sending{Bytes: exactly(share.bytes * site[phase].Bytes.Usual),
			Messages: exactly(share.messages * site[phase].Messages.Usual)})
	}
	p.Pilot, p.Memory = &pilot, p.memory.withPeak(bytesOf(train.PeakRSS())).siteBytes(p.Agents)
}
