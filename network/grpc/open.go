package grpc

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"dsbo/internal/guard"
	"dsbo/network"
	"dsbo/network/grpc/masks"
	"dsbo/network/membership"

	rpc "google.golang.org/grpc"
)

// Open starts an agent's end of the exchange. Neighbours may come and go from then on; the
// first Mix waits for them. Close ends it. On error the listener is closed too.
func Open(c Config) (*Mixer, error) {
	m, err := newListening(c)
	if err != nil {
		if c.Listener != nil {
			err = errors.Join(err, c.Listener.Close())
		}
		return nil, err
	}
	m.links.server = m.links.newServer()
	if m.config.Listener != nil {
		m.links.serve(m.config.Listener)
	}
	if m.config.waitsAtRelay() {
		m.links.serve(m.links.relay().Listen(m.config.Log))
	}
	m.mu.Lock()
	edges := slices.Clone(m.neighbours.edges) // to which who connects already may add its own
	m.mu.Unlock()
	for _, e := range edges {
		if m.config.dials(e.id) {
			m.links.work.Go(func() { m.links.dial(e) })
		}
	}
	m.links.work.Go(m.links.heartbeats)
	if m.chamber != nil {
		m.links.work.Go(func() { m.chamber.run(m.links.dialing) })
	}
	return m, nil
}

// serve accepts connections of a listener until the server stops.
func (l *links) serve(listener net.Listener) {
	l.work.Go(func() {
		// before it began
		if err := l.server.Serve(guard.Wrap(listener, strangerLimits)); err != nil && err != rpc.ErrServerStopped {
			l.m.config.Log.Error("no longer listening", "reason", err)
		}
	})
}

// newListening returns a mixer that is connected to nothing, with a listener if it has an address.
func newListening(c Config) (*Mixer, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	m, err := newMixer(c.withDefaults())
	if err == nil && c.Listener == nil && c.address(c.Agent) != "" {
		if m.config.Listener, err = net.Listen("tcp", c.Addresses[c.Agent]); err != nil {
			err = fmt.Errorf("agent %d: %w", c.Agent, err)
		}
	}
	return m, err
}

// newMixer returns a mixer that is connected to nothing.
func newMixer(c Config) (m *Mixer, err error) {
	if c.Identity != nil {
		if c.Identity, err = c.Identity.InRun(c.Run, c.Keys); err != nil {
			return nil, err
		}
	}
	masking := c.masking()
	if !c.Unmasked {
		if masking.Ledger, err = masks.OpenLedger(c.MaskFile); err != nil {
			return nil, err
		}
	}
	keys, err := masks.New(masking, c.Identity)
	if err != nil {
		return nil, err
	}
	m = &Mixer{
		config:   c,
		watch:    c.newWatch(),
		hasSaved: c.Round > 0, saved: c.Round,
		keys:     keys,
		settings: settingsText(c.Settings, min(2*maxName, maxHello-c.helloLength())),
		ledger:   masking.Ledger,
	}
	m.combining.of, m.binding.by = m, m
	m.budget = c.newBudget()
	m.flow = flow{m: m, signal: make(chan struct{}, 1), round: c.Round,
		window: window{start: c.Round, maxFrames: c.KeepFrames, maxBytes: c.KeepBytes}}
	m.neighbours.m, m.handovers.m = m, m
	m.finish, m.links = newFinish(m), newLinks(m)
	m.finish.former = c.Finished
	m.neighbours.firstEdges()
	if m.chamber, err = newChamber(m); err != nil {
		return nil, err
	}
	epoch := membership.First(c.Matrix.N())
	if m.chamber != nil {
		epoch, m.finish.sealed = m.chamber.seat.Epoch(), m.chamber.seat.Sealed()
	}
	if m.view, err = newView(&c, epoch, m.neighbours.edges); err != nil {
		return nil, err
	}
	if err := m.keys.SetEpoch(epoch); err != nil {
		return nil, err
	}
	m.terms, m.decoded = make([][]float64, len(m.view.edges)+1), make([][]float64, len(m.view.edges)+1)
	return m, nil
}

// heartbeats has a heartbeat every so often until the mixer is closed.
func (l *links) heartbeats() {
	t := time.NewTicker(l.m.config.Heartbeat)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			l.m.heartbeat()
		case <-l.dialing.Done():
			return
		}
	}
}

func (m *Mixer) heartbeat() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.neighbours.edges {
		if err := e.heartbeat(); err != nil {
			m.failLocked(err)
		}
	}
	if m.err == nil {
		if err := m.checkWait(); err != nil {
			m.failLocked(err)
		}
	}
	if err := cmp.Or(m.chamber.checkIsolation(), m.neighbours.checkStrange()); err != nil {
		m.endRun(err, nil) // of this process alone
	}
}

// Close ends this agent's part with [network.ErrClosed], after what Mix, Gather and Fail had to say
// has been sent, for which it takes a second at most. Neighbours that still mix wait for this agent
// to come back; Drain before it avoids that. It may be called twice.
func (m *Mixer) Close() error {
	m.closing.Do(func() {
		m.mu.Lock()
		m.closed = true
		if m.err == nil {
			m.err = network.ErrClosed
		}
		// who leaves early is not one that has finished
		m.finish.drains = m.finish.drains && (m.leaving || m.finish.drained())
		m.flow.notifyWaiter()
		m.neighbours.announce()
		m.mu.Unlock()
		m.links.stopDial()
		late := time.AfterFunc(closeTimeout, func() {
			m.links.stopAll()
			m.links.server.Stop()
		})
		m.links.server.GracefulStop()
		m.links.work.Wait()
		late.Stop()
		m.links.stopAll()
		if err := m.ledger.Close(); err != nil {
			m.config.Log.Warn("the ledger of masks is not closed", "reason", err)
		}
	})
	return nil
}

// strangerLimits are the bounds of connections that have not said a good hello: what a TLS
// handshake and a hello take, with room.
var strangerLimits = guard.Limits{Strangers: 64, Bytes: 64 << 10, Time: handshakeTimeout}
