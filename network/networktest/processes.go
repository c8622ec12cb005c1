package networktest

import (
	"context"
	"sync"

	"dsbo/network"
)

// A process is the team of one of several processes, which are goroutines of a test.
type process struct {
	agents    *network.Local // mixes between all agents of the run
	processes *network.Local // between the processes, for gathering
	rank      int
	local     []int
}

// Processes returns the teams of processes that share a run over w, the k-th with the agents
// locals[k]: what is tested of several processes needs no transport. closeAll ends their exchange.
func Processes(w *network.Matrix, locals ...[]int) (teams []network.Team, closeAll func()) {
	all, err := network.New("complete", len(locals), network.Options{})
	if err != nil {
		panic(err) // there is no process
	}
	agents, processes := network.NewLocal(w), network.NewLocal(all.W)
	for k, local := range locals {
		teams = append(teams, &process{agents, processes, k, local})
	}
	return teams, func() { teams[0].Fail(network.ErrClosed) }
}

func (p *process) Local() []int                { return p.local }
func (p *process) Mixer(i int) network.Reducer { return p.agents.Mixer(i) }
func (p *process) Fail(err error)              { p.agents.Fail(err); p.processes.Fail(err) }

// Gather implements [network.Team]: it checks the rows as one process would, and then takes the
// rows of the others by a maximum. An error ends both exchanges.
func (p *process) Gather(ctx context.Context, rows [][]float64) error {
	err := p.agents.Gather(ctx, rows)
	if err == nil {
		err = network.GatherWords(rows, p.local, func(words []uint64) error {
			return p.processes.Mixer(p.rank).Reduce(ctx, network.Reduction{Op: network.Max, Bits: 64, Words: words})
		})
	}
	if err != nil {
		p.Fail(err)
	}
	return err
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
