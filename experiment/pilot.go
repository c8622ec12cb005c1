package experiment

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"dsbo/internal/cli"
	"dsbo/runs"
)

// A Pilot is a run of a plan's job in this process alone. What agents send does not depend on what carries it: a run of the same data,
// seed and flags between sites sends the same.
type Pilot struct {
	Traffic    runs.Traffic
	Iterations int
	Elapsed    time.Duration     // for the computing of all sites, in this process
	shares     map[string]amount // what was sent in each phase, as shares of what the plan called usual
}

// Certain reports whether nothing that the run sends depends on what it finds.
func (p *Plan) Certain() bool { return p.All.Bytes.Least == p.All.Bytes.Most }

// RunPilot runs the plan's job in this process, on the data that are here, in a folder that it removes, and puts what was sent in the
// place of ranges. It changes nothing where there are none, and where the run takes longer than within. stderr shows how far it is. A
// plan is tried once.
func (p *Plan) RunPilot(ctx context.Context, within time.Duration, stderr io.Writer) error {
	if within <= 0 || p.Certain() {
		return nil
	}
	folder, err := os.MkdirTemp("", "dsbo-pilot-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	r, settings := p.runner, *p.runner.Settings
	settings.Report, settings.Resume = false, false
	job := *r.Job
	job.Settings = &settings
	bar := cli.NewProgress(stderr, settings.Quiet)
	defer bar.Stop()
	r.Job, r.folder, r.mode, r.view = &job, runs.Folder(folder), runs.Fresh, barOnly{screen: onScreen{bar}}
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	began := time.Now()
	err = r.attempt(limited)
	if r.lock != nil {
		err = errors.Join(err, r.lock.Close())
	}
	switch {
	case err != nil && ctx.Err() == nil && limited.Err() != nil:
		return nil // the ranges stay
	case err != nil:
		return err
	}
	p.usePilot(&Pilot{Traffic: r.summary.Traffic, Iterations: r.result.Iterations, Elapsed: time.Since(began)})
	return nil
}

// usePilot puts what a pilot has sent in the place of ranges. A site's share of a phase stays as planned: its sums all go over one tree.
func (p *Plan) usePilot(pilot *Pilot) {
	pilot.shares = map[string]amount{}
	usual, site, t := p.All.Phases, p.Site.Phases, pilot.Traffic
	p.All, p.Site = Load{}, Load{}
	for _, phase := range Phases {
		sent := map[string]runs.Sent{phaseLoading: t.Setup, phaseIterations: t.Method, phaseEvaluation: t.Evaluation, phaseModels: t.Models}[phase]
		all := Sending{exactRange(float64(sent.Bytes)), exactRange(float64(sent.Messages)), exactRange(float64(sent.Floats))}
		share := amount{messages: all.Messages.shareOf(usual[phase].Messages), floats: all.Floats.shareOf(usual[phase].Floats), bytes: all.Bytes.shareOf(usual[phase].Bytes)}
		pilot.shares[phase] = share
		p.All.addTo(phase, all)
		p.Site.addTo(phase, Sending{exactRange(share.bytes * site[phase].Bytes.Usual), exactRange(share.messages * site[phase].Messages.Usual), exactRange(share.floats * site[phase].Floats.Usual)})
	}
	p.Pilot, p.Memory = pilot, p.memory.withPeak(peakMemory()).siteBytes(p.Agents)
}

// shareOf returns a number as a share of what is usual by a range; 0 where nothing is.
func (r Range) shareOf(s Range) float64 {
	if s.Usual == 0 {
		return 0
	}
	return r.Usual / s.Usual
}

// barOnly shows how far a run is, and no more.
type barOnly struct {
	silent
	screen onScreen
}

// Show shows the bar.
func (b barOnly) Show(p Progress) { b.screen.Show(p) }
