package grpc

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"dsbo"
)

// TakeOver implements [network.Reformer]. It asks for one piece at a time, and again where
// none comes.
func (m *Mixer) TakeOver(ctx context.Context, giver, epoch int) ([]byte, error) {
	m.mu.Lock()
	if m.neighbours.edge(giver) == nil {
		m.mu.Unlock()
		return nil, dsbo.ConfigErrorf("agent %d takes over from agent %d, which must be a neighbour",
			m.config.Agent, giver)
	}
	t := &takeover{giver: giver, epoch: epoch}
	m.handovers.takeover = t
	m.handovers.askPiece()
	m.mu.Unlock()
	for {
		m.mu.Lock()
		err := cmp.Or(m.err, t.err, ctx.Err())
		if err == nil && len(m.chamber.log) > epoch {
			err = m.epochChange()
		}
		if err != nil || t.complete {
			m.handovers.takeover = nil
			m.mu.Unlock()
			return t.data, err
		}
		m.mu.Unlock()
		select {
		case <-m.flow.signal:
		case <-ctx.Done():
		}
	}
}

// askPiece asks for the next piece, if this agent takes over.
func (h *handovers) askPiece() {
	if t := h.takeover; t != nil && !t.complete {
		t.asked = time.Now()
		h.m.neighbours.edge(t.giver).queue(encode(header{kindAsk, t.epoch, len(t.data)}, nil))
	}
}

// askPieceAgain does if none has come for a while: what was asked, or the piece, may be lost.
func (h *handovers) askPieceAgain() {
	if t := h.takeover; t != nil && time.Since(t.asked) >= h.m.config.Membership.patience() {
		h.askPiece()
	}
}

// handleAsk answers a neighbour that asks for a piece. What it takes over is read once, in a
// goroutine of its own.
func (e *edge) handleAsk(f *frame) error {
	m := e.m
	if m.chamber == nil {
		return fmt.Errorf("there is nothing to take over")
	}
	epoch, offset, h := f.exchange, f.detail, &m.handovers.handover
	if now := [2]int{epoch, offset}; slices.Compare(now[:], e.conduct.asked[:]) <= 0 {
		e.conduct.spend(wasteTwice, "it has asked for the same state again")
	} else {
		e.conduct.asked = now
	}
	if epoch > len(m.chamber.log) || h.reading {
		return nil // it asks again
	}
	if h.epoch != epoch || h.data == nil {
		h.epoch, h.reading = epoch, true
		m.links.work.Go(func() { m.handovers.readHandover(epoch) })
		return nil
	}
	offset = min(offset, len(h.data))
	piece := h.data[offset:min(len(h.data), offset+maxPiece)]
	e.queue(encode(header{kindPiece, offset, len(h.data)}, piece))
	return nil
}

// readHandover reads what others take over from this agent in an epoch.
func (h *handovers) readHandover(epoch int) {
	data, err := h.m.config.Membership.Give(epoch)
	if err != nil {
		h.m.config.Log.Warn("nothing can be handed over", "epoch", epoch, "reason", err)
	}
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	h.handover = handover{epoch: epoch, data: data}
}

// handlePiece takes in a piece, and asks for the next one.
func (e *edge) handlePiece(f *frame) error {
	t := e.m.handovers.takeover
	if t == nil || t.giver != e.id || f.exchange != len(t.data) {
		return nil // it came twice
	}
	if f.detail > maxHandover || f.detail < len(t.data)+len(f.text) || len(f.text) == 0 && f.detail > len(t.data) {
		t.err = dsbo.Errorf(dsbo.ErrPeer, "agent %d hands over pieces that do not fit: %d bytes after %d of %d", e.id,
			len(f.text), len(t.data), f.detail)
		e.m.flow.notifyWaiter()
		return nil
	}
	t.data = append(t.data, bytes.Clone(f.text)...)
	if t.complete = len(t.data) == f.detail; t.complete {
		e.m.flow.notifyWaiter()
	}
	e.m.handovers.askPiece()
	return nil
}
