package grpc

// judgeBlank tells neighbours without a state, of which the council is to hear, from those for whom
// this agent goes back to the start. It is called by the chamber, which reads what checkpoints
// there are.
func (c *chamber) judgeBlank() error {
	c.mu.Lock()
	suspected := false
	for _, e := range c.neighbours.edges {
		suspected = suspected || e.conduct.blank.suspected
	}
	c.mu.Unlock()
	if !suspected {
		return nil
	}
	points, err := c.config.Membership.Records.Points()
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.neighbours.edges {
		if !e.conduct.blank.suspected {
			continue
		}
		if e.conduct.blank = (blank{known: len(points) > 0 && !c.finish.allFinished()}); !e.conduct.blank.known {
			c.flow.rollBack(e.id, e.next)
			continue
		}
		c.config.Log.Warn("a neighbour has come back without a state", "neighbour", e.id)
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
	if e.blank.beats++; e.watch.Beats(e.blank.beats) >= e.config.Membership.AbsentAfter {
		e.blank = blank{}
		e.flow.rollBack(e.id, e.next)
	}
}
