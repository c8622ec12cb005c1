package grpc

// announce has the neighbour told how far this agent is in the end of the run.
func (e *edge) announce() {
	if e.pending == 0 {
		e.pending = kindAlive
	}
	e.wake()
}

// wake has the stream, if there is one, look for what to send.
func (e *edge) wake() {
	if e.session != nil {
		e.session.wake()
	}
}

// queue has a frame of the council sent on the stream, if there is one and it has not too many.
func (e *edge) queue(frame []byte) {
	if e.session != nil && len(e.session.councilFrames) < maxQueued {
		e.session.councilFrames = append(e.session.councilFrames, frame)
		e.wake()
	}
}

// wake makes transmit look for something to send.
func (s *session) wake() {
	select {
	case s.wakeUp <- struct{}{}:
	default:
	}
}

// drop ends the session from outside.
func (s *session) drop(reason error) {
	s.dropOnce.Do(func() {
		s.reason = reason
		close(s.dropped)
	})
}

// deliver hands the chamber a letter, unless it has too many.
func (c *chamber) deliver(l letter) {
	select {
	case c.inbox <- l:
	default:
	}
}
