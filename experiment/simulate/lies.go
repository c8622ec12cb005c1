package simulate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dsbo"
	"dsbo/network"
	"dsbo/network/grpc"
)

// lies are what agents do that misuse their streams, as tests have them do.
type lies interface {
	// sender returns what sends a liar's frames to an agent.
	sender(p *process, to int, s grpc.Sender) grpc.Sender
	// fault draws a lie that is told for a time.
	fault(w *world, d draw) fault
	// endless tells one from a moment before the end of ctx on, until there is no quorum without
	// the liar, or the run is over.
	endless(ctx, over context.Context, w *world)
}

// sender returns what sends the agent's frames to another one.
func (p *process) sender(to int, s grpc.Sender) grpc.Sender {
	if slices.Contains(p.Liars, p.agent) {
		return p.lies.sender(p, to, s)
	}
	return s
}

// blames returns an error if an honest agent ends by another one's fault, and names no liar. One
// that hears nobody has nobody to name if the others have finished without it.
func (m *machine) blames(err error) error {
	named := func(liar int) bool { return strings.Contains(err.Error(), fmt.Sprintf("agent %d", liar)) }
	if len(m.Liars) == 0 || slices.Contains(m.Liars, m.agent) || !errors.Is(err, dsbo.ErrPeer) ||
		slices.ContainsFunc(m.Liars, named) || errors.Is(err, network.ErrSilent) && m.honestHaveFinished() {
		return nil
	}
	return fmt.Errorf("agents %v lie, and are not named: %w", m.Liars, err)
}

// honestHaveFinished reports whether an honest agent has finished, and with it all honest members of
// the last epoch that it knows.
func (w *world) honestHaveFinished() bool {
	w.ending.Lock()
	defer w.ending.Unlock()
	working := func(j int) bool { return !w.ended[j] && !slices.Contains(w.Liars, j) }
	for i, m := range w.machines {
		if !w.ended[i] || slices.Contains(w.Liars, i) {
			continue
		}
		log, err := m.log()
		return err == nil && !slices.ContainsFunc(log.Last(w.Agents).Members, working)
	}
	return false
}

// parted reports whether an honest agent has left, as all had finished, and liars alone join it to
// others. These wait for a quorum then if the liars have them go back, and say so.
func (w *world) parted() bool {
	graph, _ := strings.CutPrefix(w.Flags[1], "-graph=")
	topology, err := network.New(graph, w.Agents, network.Options{})
	if err != nil || w.Quorum == 0 {
		return false
	}
	var honest, reached []int
	for i := range w.Agents {
		if !slices.Contains(w.Liars, i) {
			honest = append(honest, i)
		}
	}
	left := slices.IndexFunc(honest, func(i int) bool { return w.ended[i] })
	if left < 0 {
		return false
	}
	reached = append(reached, honest[left])
	for k := 0; k < len(reached); k++ {
		for _, j := range topology.W.Neighbours(reached[k]) {
			if slices.Contains(honest, j) && !slices.Contains(reached, j) {
				reached = append(reached, j)
			}
		}
	}
	return len(reached) < len(honest)
}
