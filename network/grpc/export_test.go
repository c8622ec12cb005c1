package grpc

import "errors"

// Kill ends the mixer as the end of its process would: nothing more is said to anybody.
func (m *Mixer) Kill() {
	m.mu.Lock()
	m.closed = true
	if m.err == nil {
		m.err = errKilled
	}
	m.notifyWaiter()
	for _, e := range m.edges {
		if e.session != nil {
			e.session.drop(errKilled)
		}
		e.session = nil
	}
	m.mu.Unlock()
	m.stopDial()
	m.stopAll()
	m.server.Stop()
	m.work.Wait()
}

var errKilled = errors.New("killed")
