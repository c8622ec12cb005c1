package train

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"sync"

	"dsbo"
	"dsbo/internal/vec"
	"dsbo/network"
)

// stageAfterRun is the stage of averages that belong to no iteration of a run.
const stageAfterRun = 1 << 63

// openAverages makes the averages, and the exchange of agents that are all in this process.
func (g *group) openAverages() (err error) {
	if g.averages != nil {
		return nil
	}
	if g.w == nil {
		star, err := network.New("star", g.n, network.Options{})
		if err != nil {
			return err
		}
		g.w = star.W
	}
	if g.team == nil {
		g.team = network.NewLocal(g.w)
	}
	if g.averages, err = network.NewAverages(g.team, g.w, g.options); err != nil {
		return err
	}
	for _, i := range g.local {
		end := g.averages.Agent(i)
		end.Begin(stageAfterRun)
		g.ends = append(g.ends, end)
	}
	return nil
}

// beginStage begins a stage of the run, see [network.Averager.Begin].
func (g *group) beginStage(stage uint64) error {
	if err := g.openAverages(); err != nil {
		return err
	}
	for _, end := range g.ends {
		end.Begin(stage)
	}
	return nil
}

// fineWire returns the wire of vectors that have to be right to seven digits at least, such as a gradient: the problem's own if it is
// as good.
func (g *group) fineWire() network.Wire { return min(g.options.Wire, network.Float32) }

// part returns the vector of length numbers that belongs to the k-th local agent. It stays the group's.
func (g *group) part(k, length int) []float64 {
	if cap(g.parts[k]) < length {
		g.parts[k] = make([]float64, length)
	}
	return g.parts[k][:length]
}

// average sets dst to the average over all agents of the parts of this process's agents and those elsewhere. lost has what the wire
// rounds off, by local agent, see [network.Averager.AverageOn]; nil: that is not fed back.
func (g *group) average(ctx context.Context, wire network.Wire, dst []float64, lost [][]float64) error {
	if g.n == 1 {
		copy(dst, g.part(0, len(dst)))
		return nil
	}
	if err := g.openAverages(); err != nil {
		return err
	}
	err := g.concurrently(func(k int) error {
		part, own := g.part(k, len(dst)), []float64(nil)
		if lost != nil {
			own = lost[k]
		}
		return g.ends[k].AverageOn(ctx, wire, part, part, own)
	})
	if err != nil {
		return err
	}
	copy(dst, g.part(0, len(dst)))
	g.count(func(i int) dsbo.Traffic { return g.averages.Cost(i, len(dst), wire) })
	return nil
}

// count counts what each agent has sent.
func (g *group) count(sent func(i int) dsbo.Traffic) {
	for i := range g.n {
		g.counter.Add(sent(i))
	}
}

// concurrently calls f for all local agents at the same time: each waits for the others.
func (g *group) concurrently(f func(k int) error) error {
	errs := make([]error, len(g.local))
	var calls sync.WaitGroup
	for k := range g.local {
		calls.Go(func() { errs[k] = f(k) })
	}
	calls.Wait()
	return errors.Join(errs...)
}

// largestWords replaces words by the largest of all agents; those of the local agents are in words already.
func (g *group) largestWords(ctx context.Context, words []uint64) error {
	if g.n == 1 {
		return nil
	}
	if err := g.openAverages(); err != nil {
		return err
	}
	results := make([][]uint64, len(g.local))
	err := g.concurrently(func(k int) error {
		r, ok := g.team.Mixer(g.local[k]).(network.Reducer)
		if !ok {
			return dsbo.Errorf(dsbo.ErrCapability, "this exchange has no largest number of all agents (network.Reducer is missing)")
		}
		results[k] = append(results[k], words...)
		return r.Reduce(ctx, network.Max, 64, results[k])
	})
	if err != nil {
		return err
	}
	copy(words, results[0])
	g.count(func(i int) dsbo.Traffic { return g.averages.MaxCost(i, len(words)) })
	return nil
}

// gatherTexts fills in the texts of the agents elsewhere.
func (g *group) gatherTexts(ctx context.Context, texts []string) error {
	if g.n == 1 {
		return nil
	}
	if err := g.openAverages(); err != nil {
		return err
	}
	all, err := network.GatherBytes(g.averageContext(ctx), g.team, g.n, func(i int) []byte { return []byte(texts[i]) })
	if err != nil {
		return err
	}
	longest := 0
	for i, text := range all {
		texts[i], longest = string(text), max(longest, len(text))
	}
	g.count(func(int) dsbo.Traffic { return network.GatherBytesCost(g.n, longest) })
	return nil
}

// mean sets dst to the average over all agents of what those that are here fill in, in parallel: a vector on the given wire. It
// depends neither on the number of processors nor on where the agents are.
func (g *group) mean(ctx context.Context, wire network.Wire, dst []float64, fill func(i int, part []float64) error) error {
	return g.meanFed(ctx, wire, dst, nil, fill)
}

// meanFed is mean with what the wire rounds off, as in average.
func (g *group) meanFed(ctx context.Context, wire network.Wire, dst []float64, lost [][]float64, fill func(i int, part []float64) error) error {
	err := g.forEach(ctx, func(k, i int) error { return fill(i, g.part(k, len(dst))) })
	if err != nil {
		return err
	}
	return g.average(g.averageContext(ctx), wire, dst, lost)
}

// meanNumbers is mean for a few numbers, which travel in float64.
func (g *group) meanNumbers(ctx context.Context, dst []float64, fill func(i int, part []float64) error) error {
	return g.mean(ctx, network.Float64, dst, fill)
}

// maximum returns the largest of the agents' numbers, none of which is negative; NaN if one is NaN.
func (g *group) maximum(ctx context.Context, value func(i int) (float64, error)) (float64, error) {
	all := make([]float64, len(g.local))
	err := g.forEach(ctx, func(k, i int) (err error) {
		all[k], err = value(i)
		return err
	})
	if err != nil {
		return 0, err
	}
	words := []uint64{0}
	for _, v := range all {
		words[0] = max(words[0], math.Float64bits(math.Abs(v))) // in the order of the numbers
	}
	err = g.largestWords(g.averageContext(ctx), words)
	return math.Float64frombits(words[0]), err
}

// sameBits reports for each of several vectors of the agents whether all agents have it with the same bits.
func (g *group) sameBits(ctx context.Context, vectors ...func(i int) []float64) ([]bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	words := make([]uint64, 2*len(vectors))
	for v, of := range vectors {
		for _, i := range g.local {
			h := digest(of(i))
			words[2*v], words[2*v+1] = max(words[2*v], h), max(words[2*v+1], ^h)
		}
	}
	if err := g.largestWords(g.averageContext(ctx), words); err != nil {
		return nil, err
	}
	same := make([]bool, len(vectors))
	for v := range same {
		same[v] = words[2*v] == ^words[2*v+1] // the largest digest is the least
	}
	return same, nil
}

// digest returns a number that stands for the bits of a vector.
func digest(v []float64) uint64 {
	sum := sha256.New()
	_ = writeFloats(sum, v) // a hash takes all
	return binary.LittleEndian.Uint64(sum.Sum(nil))
}

// vectorMean sets mean to the average of a vector of each agent and returns (1/n) Σ_i ‖v_i − mean‖². same says that all agents
// have the vector with the same bits: nothing is exchanged then.
func (g *group) vectorMean(ctx context.Context, mean []float64, of func(i int) []float64, same bool) (float64, error) {
	if same {
		copy(mean, of(g.local[0]))
		return 0, nil
	}
	err := g.mean(ctx, g.fineWire(), mean, func(i int, part []float64) error { copy(part, of(i)); return nil })
	if err != nil {
		return 0, err
	}
	spread := []float64{0}
	err = g.meanNumbers(ctx, spread, func(i int, part []float64) error { part[0] = vec.Dist2(of(i), mean); return nil })
	return spread[0], err
}
