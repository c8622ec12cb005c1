package experiment

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"math"
	"slices"
	"strings"

	"dsbo"
	"dsbo/network"
	"dsbo/train"
)

// A Link is the way to agents of other processes.
type Link struct {
	// Agent is the one agent of a process that may be lost and come back: its run folder is its own, and it goes on with
	// the run that it finds there. Below 0: processes that start and stop together, and share the folder, to
	// which that of agent 0 writes.
	Agent int
	// Identity stands for the run and the agent of a process that may come back: a folder with another one is not its.
	Identity string
	// Processes is how many start and stop together.
	Processes int
	// Open opens this process's end of the exchange over a graph, of which exchange from is the next.
	// Who makes the link closes it, after the job.
	Open func(ctx context.Context, g *network.Graph, from int) (network.Team, error)
}

// join brings this process together with the others, and finds the run folder.
func (r *runner) join(ctx context.Context) (err error) {
	switch {
	case r.Link == nil:
		return r.sameLayout()
	case r.Link.Agent >= 0:
		return r.comeBack(ctx)
	}
	if r.team, err = r.Link.Open(ctx, r.graph, 0); err != nil {
		return err
	}
	err = r.joinTogether(ctx)
	if err != nil {
		r.team.Fail(err)
	}
	return err
}

// joinTogether agrees on the folder, and with -resume on the newest point that all processes have.
func (r *runner) joinTogether(ctx context.Context) error {
	mine := r.team.Local()
	if len(mine) == 0 {
		return bad("%d agents on %d processes: want as many at most", r.graph.W.N(), r.processes())
	}
	if r.writes = mine[0] == 0; r.writes {
		r.folder, r.mode = r.place()
		if err := r.folder.Check(r.mode); err != nil {
			return err
		}
		if err := r.sameLayout(); err != nil {
			return err
		}
	}
	if err := r.sameSettings(ctx); err != nil {
		return err
	}
	name, err := r.spread(ctx, string(r.folder))
	if err != nil {
		return err
	}
	r.folder = train.Folder(name)
	if !r.Settings.Resume {
		return nil
	}
	points, damaged, err := r.folder.Points(mine)
	if err != nil {
		return err
	}
	for _, d := range damaged {
		r.view.Log("left out: %v", d)
	}
	return r.newest(ctx, points)
}

func (r *runner) processes() int {
	switch {
	case r.Link == nil:
		return 1
	case r.Link.Agent >= 0:
		return r.graph.W.N()
	}
	return r.Link.Processes
}

func (r *runner) transport() string {
	if r.Link != nil && r.Link.Agent >= 0 {
		return "grpc"
	}
	return r.Settings.Transport
}

func (r *runner) identity() string {
	if r.Link == nil {
		return ""
	}
	return r.Link.Identity
}

// sameLayout reports a run in the folder that this process cannot go on with, because its agents were elsewhere or it is
// another one's.
func (r *runner) sameLayout() error {
	if r.mode != train.Resume && (r.Link == nil || r.Link.Agent < 0) {
		return nil
	}
	var c Config
	if err := r.folder.ReadConfig(&c); err != nil {
		return err
	}
	if c.Identity != r.identity() {
		return bad("%s holds another run than this agent's, or that of another agent: want another folder", r.folder)
	}
	if c.Identity == "" && (c.Transport != r.Settings.Transport || c.Processes != r.processes()) {
		return bad("-resume: the run in %s has its agents in %d processes (-transport %s), here there are %d (-transport %s): want the same",
			r.folder, c.Processes, c.Transport, r.processes(), r.Settings.Transport)
	}
	return nil
}

// sameSettings reports that processes were given different ones.
func (r *runner) sameSettings(ctx context.Context) error {
	sum := sha256.Sum256([]byte(r.Task + "\n" + strings.Join(r.flags, "\n")))
	rows := r.rows(len(sum))
	for _, i := range r.team.Local() {
		for k, b := range sum {
			rows[i][k] = float64(b)
		}
	}
	if err := r.team.Gather(ctx, rows); err != nil {
		return err
	}
	for i, row := range rows {
		if !slices.Equal(row, rows[0]) {
			return bad("the process of agent %d was given other flags than that of agent 0: want the same", i)
		}
	}
	return nil
}

// longest is the length that a folder's name may have between processes.
const longest = 1024

// spread gives all processes the text of the one that writes.
func (r *runner) spread(ctx context.Context, text string) (string, error) {
	rows := r.rows(1 + longest)
	if len(text) > longest {
		return "", bad("-out has %d bytes: want at most %d", len(text), longest)
	}
	if r.writes {
		rows[0][0] = float64(len(text))
		for i, b := range []byte(text) {
			rows[0][1+i] = float64(b)
		}
	}
	if err := r.team.Gather(ctx, rows); err != nil {
		return "", err
	}
	out := make([]byte, int(rows[0][0]))
	for i := range out {
		out[i] = byte(rows[0][1+i])
	}
	return string(out), nil
}

func (r *runner) rows(length int) [][]float64 {
	rows := make([][]float64, r.graph.W.N())
	for i := range rows {
		rows[i] = make([]float64, length)
	}
	return rows
}

// newest chooses the newest of the points that every process has; none if there is no such point.
func (r *runner) newest(ctx context.Context, points []train.Point) error {
	const most = 8
	rows := r.rows(most)
	for _, i := range r.team.Local() {
		for k := range rows[i] {
			rows[i][k] = -1
			if k < len(points) {
				rows[i][k] = float64(points[k].Iteration)
			}
		}
	}
	if err := r.team.Gather(ctx, rows); err != nil {
		return err
	}
	for k := range points {
		at := float64(points[k].Iteration)
		if !slices.ContainsFunc(rows, func(row []float64) bool { return !slices.Contains(row, at) }) {
			r.point = &points[k]
			r.view.Log("going on after iteration %d", r.point.Iteration)
			return nil
		}
	}
	r.view.Log("no checkpoint that all processes have: from the start")
	return nil
}

// comeBack opens the exchange of an agent where its newest point stands.
func (r *runner) comeBack(ctx context.Context) error {
	r.folder, r.mode = r.place()
	state, err := r.folder.State()
	if err != nil {
		return err
	}
	if state == "" {
		err = r.folder.Check(r.mode)
	} else {
		err = r.sameLayout()
	}
	if err != nil {
		return err
	}
	from, err := r.findPoint(math.MaxInt)
	if err != nil {
		return err
	}
	if r.opened = r.point != nil || r.done; !r.opened && state != "" {
		r.mode = train.Replace // what came to nothing
	}
	r.team, err = r.Link.Open(ctx, r.graph, from)
	return err
}

// findPoint chooses the newest point that is not after an exchange, and returns the exchange to go on from.
func (r *runner) findPoint(limit int) (int, error) {
	r.point, r.done = nil, false
	state, err := r.folder.State()
	if err != nil {
		return 0, err
	}
	if state == train.Finished {
		var s Summary
		if err := r.folder.ReadSummary(&s); err != nil {
			return 0, err
		}
		if r.done = s.Round <= limit; r.done {
			return s.Round, nil
		}
	}
	points, damaged, err := r.folder.Points([]int{r.Link.Agent})
	if err != nil {
		return 0, err
	}
	for _, d := range damaged {
		r.view.Log("left out: %v", d)
	}
	for k, p := range points {
		if p.Round <= limit {
			r.point = &points[k]
			return p.Round, nil
		}
	}
	return 0, nil
}

// repeat attempts the job, again from an earlier point as long as neighbours that come back need it.
func (r *runner) repeat(ctx context.Context) error {
	m, survives := r.rewinder()
	for {
		var err error
		if !r.done {
			err = r.attempt(ctx)
		}
		if r.waits = err == nil && survives; r.waits {
			r.view.Log("finished; waiting for the other agents")
			err = m.Drain(ctx)
		}
		back := (*network.RollbackError)(nil)
		if !survives || !errors.As(err, &back) {
			return err
		}
		from, e := r.findPoint(back.Round)
		if e != nil {
			return e
		}
		r.view.Log("agent %d needs exchange %d again: going back to exchange %d", back.Neighbour, back.Round, from)
		if err := m.Rewind(from); err != nil {
			return err
		}
	}
}

func (r *runner) rewinder() (network.Rewinder, bool) {
	if r.team == nil || r.Link.Agent < 0 {
		return nil, false
	}
	m, ok := r.team.Mixer(r.Link.Agent).(network.Rewinder)
	return m, ok
}

// round returns the next exchange of an agent that may come back, else 0.
func (r *runner) round() int {
	if m, ok := r.rewinder(); ok {
		return m.Round()
	}
	return 0
}

// returns reports whether an agent that ends with this error may be started again while the others wait for it: it was
// stopped, or could not write its files.
func (r *runner) returns(err error) bool {
	path := (*fs.PathError)(nil)
	return r.Link.Agent >= 0 && (errors.Is(err, train.ErrInterrupted) || errors.Is(err, context.Canceled) || errors.As(err, &path)) &&
		!errors.Is(err, dsbo.ErrConfig)
}

// meet waits until all processes that start together are here.
func (r *runner) meet(ctx context.Context) error {
	if r.team == nil || r.Link.Agent >= 0 {
		return nil
	}
	return r.team.Gather(ctx, r.rows(0))
}
