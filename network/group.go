package network

import (
	"cmp"
	"context"
	"runtime"

	"dsbo"
	"dsbo/internal/linalg"
)

// StageAfterRun is the stage of averages that belong to no iteration of a run, see [Group.Begin].
const StageAfterRun = 1 << 63

// A GroupConfig is the agents and options of a group.
type GroupConfig struct {
	N       int    // number of agents
	Numbers []int  // the agents' numbers in the roster, where these are others than their positions; nil: they are not
	Of      string // ends the names of sums and largest numbers, such as ", all folds"
	// Team connects the agents of this process to the agents of others; nil: all agents are in this
	// one. All processes make the same calls on their groups, in the same order.
	Team Team
	// W is the mixing matrix over whose edges averages travel; nil: a star. Average is the options.
	W       *Matrix
	Average AverageOptions
	Sent    *dsbo.Traffic // counts what all agents send; nil: that is not counted
}

// A Group is the n agents of a problem as one process sees them, by their positions 0..n-1: some
// are in this process, the team reaches the others. It belongs to one goroutine at a time.
//
// It finds what all agents of a run know together outside of its iterations: exact averages, the
// largest of numbers, whether vectors have the same bits, and small records and texts that are no
// data. Nothing of one agent's leaves it but as a part of these. Results are the same bits on all
// agents, and depend neither on the number of processors nor on how the agents are divided among
// processes.
type Group struct {
	config   GroupConfig
	local    []int
	alone    bool        // whether all agents are in this process, and stay
	averages *Averages   // nil before the first average
	ends     []*Averager // the ends of the local agents
	together *Together   // these ends as one
	scales   []float64   // with which the averages begin
}

// NewGroup returns the group of a configuration. Nothing is exchanged, and the graph is not looked
// at, before the group finds something.
func NewGroup(c GroupConfig) *Group {
	g := &Group{config: c, alone: c.Team == nil}
	if g.alone {
		for i := range c.N {
			g.local = append(g.local, i)
		}
	} else {
		g.local = c.Team.Local()
		_, mayGrow := c.Team.(Saver) // others that were lost may come back
		g.alone = len(g.local) == c.N && !mayGrow
	}
	if g.config.Sent == nil {
		g.config.Sent = new(dsbo.Traffic)
	}
	return g
}

// N returns the number of agents.
func (g *Group) N() int { return g.config.N }

// Wire returns the configured wire of averages.
func (g *Group) Wire() Wire { return g.config.Average.Wire }

// CountIn makes sent count what all agents send from here on.
func (g *Group) CountIn(sent *dsbo.Traffic) { g.config.Sent = sent }

// Local returns the positions of the agents in this process, ascending. The slice is the group's.
func (g *Group) Local() []int { return g.local }

// Number returns the number in the roster of the agent at a position.
func (g *Group) Number(position int) int {
	if g.config.Numbers == nil {
		return position
	}
	return g.config.Numbers[position]
}

// Dims returns p and q of the oracles of a group's agents, nil for agents of other processes, or an
// error that matches [dsbo.ErrShape] where one is missing or has other sizes.
func Dims[O dsbo.Oracle](g *Group, oracles []O) (p, q int, err error) {
	if err := CheckOracles(g, oracles); err != nil {
		return 0, 0, err
	}
	first := g.local[0]
	p, q = oracles[first].Dims()
	for _, i := range g.local {
		if a, b := oracles[i].Dims(); a != p || b != q {
			return 0, 0, dsbo.ShapeErrorf(
				"oracles must have the same p and q: that of agent %d has p=%d, q=%d, that of agent %d has %d and %d",
				g.Number(i), a, b, g.Number(first), p, q)
		}
	}
	return p, q, nil
}

// CheckOracles returns an error that matches [dsbo.ErrShape] unless each of a group's agents in
// this process has an oracle, at the agent's position. A process without an agent is an error too,
// since p and q are read from an oracle.
func CheckOracles[O dsbo.Oracle](g *Group, oracles []O) error {
	if g.config.N == 0 {
		return dsbo.ShapeErrorf("a problem must have an oracle for each agent; it has none")
	}
	if len(g.local) == 0 {
		return dsbo.ShapeErrorf("each process must have an agent; none of %d is in this one", g.config.N)
	}
	for _, i := range g.local {
		if i >= len(oracles) || any(oracles[i]) == nil {
			return dsbo.ShapeErrorf("agent %d is in this process and must have an oracle", g.Number(i))
		}
	}
	return nil
}

// forEach calls f for the agents that are here, k of them before agent i, one for each processor at
// a time, and returns the error of the first of them that failed. No call starts once ctx is done.
func (g *Group) forEach(ctx context.Context, f func(k, i int) error) error {
	processors := make([]struct{}, max(1, min(runtime.GOMAXPROCS(0), len(g.local))))
	err := forEach(ctx, processors, make([]error, len(g.local)), func(_ *struct{}, k int) error {
		return f(k, g.local[k])
	})
	return cmp.Or(ctx.Err(), err)
}

// open makes, at its first call, the averages, and the exchange of agents that are all in this
// process.
func (g *Group) open() (err error) {
	if g.averages != nil {
		return nil
	}
	if g.config.W == nil {
		star, err := New("star", g.config.N, Options{})
		if err != nil {
			return err
		}
		g.config.W = star.W
	}
	if g.config.Team == nil {
		g.config.Team = NewLocal(g.config.W)
	}
	if g.averages, err = NewAverages(g.config.Team, g.config.W, g.config.Average); err != nil {
		return err
	}
	g.averages.ofGroup, g.averages.of = true, g.config.Of
	for _, i := range g.local {
		end := g.averages.Agent(i)
		end.Begin(StageAfterRun)
		end.SetScales(g.scales)
		g.ends = append(g.ends, end)
	}
	g.together = g.averages.Together(g.ends)
	return nil
}

// Begin begins a stage of the run, see [Averager.Begin].
func (g *Group) Begin(stage uint64) error {
	if err := g.open(); err != nil {
		return err
	}
	for _, end := range g.ends {
		end.Begin(stage)
	}
	return nil
}

// Scales returns the scales of averages, see [Averager.Scales].
func (g *Group) Scales() []float64 {
	if g.ends == nil {
		return g.scales
	}
	return g.ends[0].Scales()
}

// SetScales sets what Scales returned, in this process or another one.
func (g *Group) SetScales(scales []float64) {
	g.scales = scales
	for _, end := range g.ends {
		end.SetScales(scales)
	}
}

// context returns the context of what agents find together. It does not end where all are here: no
// other process is waited for, and an error would end the exchange for what follows.
func (g *Group) context(ctx context.Context) context.Context {
	if g.alone {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

func (g *Group) countSent(sent func(i int) dsbo.Traffic) {
	for i := range g.config.N {
		g.config.Sent.Add(sent(i))
	}
}

// Gather lets each agent of this process fill in a row, several at the same time, and returns the
// rows of all agents, which every agent sees: small ones, that are no data. They are not counted;
// see [Group.CountRows]. What is gathered must depend on nothing but the run's configuration: an
// agent that may be lost gathers it again when it comes back, and has to send the same.
func (g *Group) Gather(ctx context.Context, length int, fill func(i int, row []float64) error) ([][]float64, error) {
	rows := zeroRows(g.config.N, length)
	err := g.forEach(ctx, func(_, i int) error { return fill(i, rows[i]) })
	switch {
	case err != nil:
	case g.alone:
		err = ctx.Err()
	default:
		err = g.config.Team.Gather(ctx, rows)
	}
	return rows, err
}

// CountRows counts the rows of a Gather that are of data: as sent to each other agent.
func (g *Group) CountRows(length int) {
	g.countSent(func(int) dsbo.Traffic { return GatherCost(g.config.N, length) })
}

// GatherTexts fills in the texts of the agents elsewhere: texts has one for each agent.
func (g *Group) GatherTexts(ctx context.Context, name string, texts []string) error {
	if g.config.N == 1 {
		return nil
	}
	if err := g.open(); err != nil {
		return err
	}
	for _, i := range g.local {
		Label(g.config.Team, Carried{Name: name, Way: ByText, Numbers: len(texts[i]), Text: texts[i], Group: true})
	}
	defer Label(g.config.Team)
	longest, err := GatherTexts(g.context(ctx), g.config.Team, texts)
	if err == nil {
		g.countSent(func(int) dsbo.Traffic { return GatherTextsCost(g.config.N, longest) })
	}
	return err
}

// FineWire returns the wire of vectors that have to be right to seven digits at least, such as a
// gradient: the configured one if it is as good.
func (g *Group) FineWire() Wire { return min(g.config.Average.Wire, Float32) }

// Mean sets dst to the average over all agents of what those that are here fill in, in parallel: a
// named vector on the given wire.
func (g *Group) Mean(ctx context.Context, name string, wire Wire, dst []float64,
	fill func(i int, part []float64) error) error {
	return g.Means(ctx, func(i int, parts [][]float64) error { return fill(i, parts[0]) },
		Vector{Name: name, Wire: wire, Dst: dst})
}

// Means is Mean of several vectors, which travel together. After an error the vectors are
// undefined.
func (g *Group) Means(ctx context.Context, fill func(i int, parts [][]float64) error,
	vectors ...Vector) error {
	if g.config.N == 1 {
		return g.fillAlone(ctx, fill, vectors)
	}
	if err := g.open(); err != nil {
		return err
	}
	err := g.together.AverageOn(g.context(ctx), func(k int, parts [][]float64) error {
		return cmp.Or(ctx.Err(), fill(g.local[k], parts))
	}, vectors...)
	if err == nil {
		g.countSent(func(i int) dsbo.Traffic { return g.averages.traffic(i, g.ends[0].Trip()) })
	}
	return err
}

// fillAlone is Means of one agent: its parts are the averages. fill writes to other memory, so that
// an error leaves the vectors as they are.
func (g *Group) fillAlone(ctx context.Context, fill func(i int, parts [][]float64) error, vectors []Vector) error {
	rows := rowsMemory.Get()
	defer rowsMemory.Add(rows)
	*rows = (*rows)[:0]
	var parts [][]float64
	for _, v := range vectors {
		*rows, parts = append(*rows, v.Dst...), append(parts, v.Dst)
	}
	cutRow(parts, *rows)
	if err := cmp.Or(ctx.Err(), fill(g.local[0], parts)); err != nil {
		return err
	}
	for i, v := range vectors {
		copy(v.Dst, parts[i])
	}
	return nil
}

// MeanNumbers is Mean for a few numbers, which travel in float64.
func (g *Group) MeanNumbers(ctx context.Context, name string, dst []float64,
	fill func(i int, part []float64) error) error {
	return g.Mean(ctx, name, Float64, dst, fill)
}

// MeanAndSpread sets mean to the average of a vector of each agent and returns (1/n) Σ_i ‖v_i −
// mean‖². If all agents are known to have the vector with the same bits, same is true and nothing
// is exchanged.
func (g *Group) MeanAndSpread(ctx context.Context, name string, mean []float64, of func(i int) []float64,
	same bool) (float64, error) {
	if same {
		copy(mean, of(g.local[0]))
		return 0, nil
	}
	err := g.Mean(ctx, name, g.FineWire(), mean, func(i int, part []float64) error { copy(part, of(i)); return nil })
	if err != nil {
		return 0, err
	}
	spread := []float64{0}
	err = g.MeanNumbers(ctx, "distances from the average", spread, func(i int, part []float64) error {
		part[0] = linalg.Dist2(of(i), mean)
		return nil
	})
	return spread[0], err
}
