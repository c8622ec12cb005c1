package grpc

// judgeBlank tells neighbours without a state, of which the council is to hear, from those for whom
// this agent goes back to the start. It is called by the chamber, which reads what checkpoints
// there are.
func (c *chamber) judgeBlank() error {
	m := c.m
	m.mu.Lock()
	suspected := false
	for _, e := range m.neighbours.edges {
		suspected = suspected || e.conduct.blank.suspected
	}
	m.mu.Unlock()
	if !suspected {
		return nil
	}
	points, err := m.config.Membership.Records.Points()
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.neighbours.edges {
		if !e.conduct.blank.suspected {
			continue
		}
		if e.conduct.blank = (blank{known: len(points) > 0 && !m.finish.allFinished()}); !e.conduct.blank.known {
			m.flow.rollBack(e.id, e.next)
			continue
		}
		m.config.Log.Warn("a neighbour has come back without a state", "neighbour", e.id)
	}
	return nil
}

// countBlank counts a heartbeat for which the neighbour is known to have no state. If the council
// does nothing about it for as long as members may be absent, as it has one all the same, this
// agent goes back for it.
func (e *conduct) countBlank() {
	if !e.blank.known {
		return
	}
	if e.blank.beats++; e.m.watch.Beats(e.blank.beats) >= e.m.config.Membership.AbsentAfter {
		e.blank = blank{}
		e.m.flow.rollBack(e.id, e.next)
	}
}
