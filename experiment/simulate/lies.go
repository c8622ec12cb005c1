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
	"dsbo/network/membership"
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
	if p.isLiar(p.agent) {
		return p.lies.sender(p, to, s)
	}
	return s
}

// isLiar reports whether an agent lies.
func (c Case) isLiar(agent int) bool { return slices.Contains(c.Liars, agent) }

// blames returns an error if an honest agent ends by another one's fault, and names no liar. One
// that hears nobody has nobody to name if others have left, as all had finished.
func (m *machine) blames(err error) error {
	named := func(liar int) bool { return strings.Contains(err.Error(), fmt.Sprintf("agent %d", liar)) }
	if len(m.Liars) == 0 || m.isLiar(m.agent) || !errors.Is(err, dsbo.ErrPeer) ||
		slices.ContainsFunc(m.Liars, named) || errors.Is(err, network.ErrSilent) && m.honestHaveLeft() {
		return nil
	}
	return fmt.Errorf("agents %v lie, and are not named: %w", m.Liars, err)
}

// honestHaveLeft reports whether an honest agent has ended, as one does when all have finished.
func (w *world) honestHaveLeft() bool {
	w.ending.Lock()
	defer w.ending.Unlock()
	for i := range w.ended {
		if !w.isLiar(i) {
			return true
		}
	}
	return false
}

// parted reports whether an honest agent has left, as all had finished, and liars alone join it to
// others. These wait for it then if the liars do not know, or have them go back: for a quorum, or
// again and again for the longest silence there may be, by name.
func (w *world) parted() bool {
	graph, _ := strings.CutPrefix(w.Flags[1], "-graph=")
	all, err := network.New(graph, w.Agents, network.Options{})
	if err != nil {
		return false
	}
	honest := slices.DeleteFunc(membership.Log(nil).Last(w.Agents).Members, w.isLiar)
	_, err = all.W.Members(membership.Epoch{Number: 1, Members: honest})
	return err != nil && w.honestHaveLeft()
}
