package networktest

import (
	"context"
	"math"
	"slices"
	"sync"

	"dsbo"
	"dsbo/network"
)

// A process is the team of one of several processes, which are goroutines of a test.
type process struct {
	agents    *network.Local // mixes between all agents of the run
	processes *network.Local // mixes between the processes, with weights 1, for gathering
	rank      int
	local     []int
}

// Processes returns the teams of processes that share a run over w, the k-th with the agents
// locals[k]: what is tested of several processes needs no transport. closeAll ends their exchange.
func Processes(w *network.Matrix, locals ...[]int) (teams []network.Team, closeAll func()) {
	ones := make([][]float64, len(locals))
	for k := range ones {
		ones[k] = slices.Repeat([]float64{1}, len(locals))
	}
	sum, err := network.NewMatrix(ones)
	if err != nil {
		panic(err) // there is no process
	}
	agents, processes := network.NewLocal(w), network.NewLocal(sum)
	for k, local := range locals {
		teams = append(teams, &process{agents, processes, k, local})
	}
	return teams, func() { teams[0].Fail(network.ErrClosed) }
}

func (p *process) Local() []int                { return p.local }
func (p *process) Mixer(i int) network.Reducer { return p.agents.Mixer(i) }
func (p *process) Fail(err error)              { p.agents.Fail(err); p.processes.Fail(err) }

// Gather sums what the processes have: of each row one process has the numbers and the others −0,
// which changes no bit.
func (p *process) Gather(ctx context.Context, rows [][]float64) error {
	err := p.agents.Gather(ctx, rows)
	if err != nil {
		p.Fail(err)
		return err
	}
	length := len(rows[0])
	all := slices.Repeat([]float64{math.Copysign(0, -1)}, len(rows)*length)
	for _, i := range p.local {
		copy(all[i*length:], rows[i])
	}
	if err := p.processes.Mixer(p.rank).Mix(ctx, all, all); err != nil {
		p.Fail(err)
		return err
	}
	for i, row := range rows {
		copy(row, all[i*length:])
	}
	return nil
}

// RunAll calls body for 0..n-1 at the same time and returns its errors.
func RunAll(n int, body func(i int) error) []error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = body(i) })
	}
	wg.Wait()
	return errs
}

// MixZeros mixes vectors of zeros up to the first error.
func MixZeros(ctx context.Context, m dsbo.Mixer, rounds, length int) error {
	v := make([]float64, length)
	for range rounds {
		if err := m.Mix(ctx, v, v); err != nil {
			return err
		}
	}
	return nil
}
